import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { minimalEnvironment } from '../../processes/command.ts';
import type { AgentProfile, OpenRequest } from '../port.ts';

/** Under this name the agent has our tools. No configuration of the user's is read beside it, so none can clash. */
export const toolsName = 'stemma';

// Claude Code's own variables, and what any program needs to reach the network. Those that a Claude Code sets for what it
// starts itself say who its parent is, and would make this one take itself for a part of that.
const agentsOwn = /^(ANTHROPIC_|CLAUDE_|(https?|no|all)_proxy$|SSL_CERT_|NODE_EXTRA_CA_CERTS$)/i;
const ofAParent =
  /^CLAUDE_(CODE_(ENTRYPOINT|SSE_PORT|SESSION_ID|CHILD_SESSION|REMOTE.*|EXECPATH|AGENT.*)|AGENT_.*|PID)$/;

/** What makes the program quiet, and makes it tell what we need to know. A profile may say otherwise. */
const usual: Readonly<Record<string, string>> = {
  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1',
  // With the search for tools, ours would be hidden from the model until it looks for them.
  ENABLE_TOOL_SEARCH: 'false',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  // What a user's own Claude Code has left to be done later in this directory is not this one's.
  CLAUDE_CODE_DISABLE_CRON: '1',
};

/** With these it would wake by itself long after its turn, which nothing of the turn's end tells: no tree could wait for it. */
const wakingTools = ['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'];
const writingTools = ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'];

/** The whole environment of the program. `home` is its configuration directory. */
export function environmentOf(
  profile: AgentProfile,
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const own = Object.fromEntries(
    Object.entries(ours).filter(
      (e): e is [string, string] => agentsOwn.test(e[0]) && !ofAParent.test(e[0]) && e[1] !== undefined,
    ),
  );
  const home = profile.home === undefined ? {} : { CLAUDE_CONFIG_DIR: resolve(profile.home) };
  // Root may skip the questions only in a place that calls itself a sandbox.
  const isRoot = process.getuid?.() === 0;
  const sandbox = skipsQuestions(profile) && isRoot ? { IS_SANDBOX: '1' } : {};
  return minimalEnvironment({ ...own, ...usual, ...sandbox, ...home, ...profile.env }, ours);
}

/** Where the program keeps its conversations and its sign-in. */
export function configDirectoryOf(env: Readonly<Record<string, string>>): string {
  return resolve(env['CLAUDE_CONFIG_DIR'] ?? resolve(env['HOME'] ?? '/', '.claude'));
}

/**
 * Program and arguments; what they name is written first. `isResumed`: the agent has a record of the conversation. Throws
 * when the session's directory cannot be written.
 */
export function argumentsOf(request: OpenRequest, conversationId: string, isResumed: boolean): string[] {
  const { profile, tools, directory } = request;
  const command = profile.command.length === 0 ? ['claude'] : profile.command;
  return [
    ...command,
    '-p',
    ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
    '--replay-user-messages',
    ...[isResumed ? '--resume' : '--session-id', conversationId],
    ...(profile.model === undefined ? [] : ['--model', profile.model]),
    ...(profile.effort === undefined ? [] : ['--effort', profile.effort]),
    ...permissionArguments(profile),
    ...refusedTools(profile),
    // Only ours: a server of the user's own that does not come up could hold up every turn.
    ...(tools === undefined ? [] : ['--mcp-config', toolsFile(directory, tools)]),
    '--strict-mcp-config',
  ];
}

/**
 * What the profile's two settings come to. Without anybody to ask, Claude refuses by itself and tells the model, also while
 * no server runs. `allow` cannot lift `readOnly`: what a mere yes would let through is refused there.
 */
export function permissionArguments(profile: AgentProfile): string[] {
  if (skipsQuestions(profile)) return ['--dangerously-skip-permissions'];
  const mode = profile.sandbox === 'workspace' ? 'acceptEdits' : 'default';
  return [
    ...['--permission-mode', mode],
    ...['--allowedTools', `mcp__${toolsName}`],
    ...(isConfined(profile) ? ['--settings', sandboxSettings(profile)] : []),
    ...(answersQuestions(profile) ? ['--permission-prompt-tool', 'stdio'] : []),
  ];
}

/** The tools that it does not get, as arguments. */
function refusedTools({ sandbox }: AgentProfile): string[] {
  const refused = [...wakingTools, ...(sandbox === 'readOnly' ? writingTools : [])];
  return ['--disallowedTools', refused.join(',')];
}

/** Whether the program hands its questions to us. */
export function answersQuestions({ onQuestion = 'deny', sandbox }: AgentProfile): boolean {
  return onQuestion === 'ask' || (onQuestion === 'allow' && sandbox !== 'readOnly');
}

/** Whether the program is told to ask nothing at all: nothing is confined then, and nobody wants to be asked. */
export function skipsQuestions({ onQuestion = 'deny', sandbox }: AgentProfile): boolean {
  return sandbox === 'full' && onQuestion !== 'ask';
}

/** Whether commands are to run in the program's own sandbox. */
export function isConfined({ sandbox }: AgentProfile): boolean {
  return sandbox === 'workspace' || sandbox === 'readOnly';
}

/**
 * Where the sandbox cannot be had, commands go through the questions instead, and are refused unless somebody says yes. If
 * everybody's yes is certain, the program must not start without it.
 */
function sandboxSettings({ sandbox, onQuestion = 'deny' }: AgentProfile): string {
  const isWorkspace = sandbox === 'workspace';
  return JSON.stringify({
    sandbox: {
      enabled: true,
      failIfUnavailable: isWorkspace && onQuestion === 'allow',
      autoAllowBashIfSandboxed: isWorkspace,
      allowUnsandboxedCommands: false,
      ...(isWorkspace ? {} : { filesystem: { denyWrite: ['/'] } }),
    },
  });
}

// In a file for us alone: everybody on the machine can read a command line, and this names the session's bearer.
function toolsFile(directory: string, { url, token }: NonNullable<OpenRequest['tools']>): string {
  const file = join(directory, 'claude-tools.json');
  const server = { type: 'http', url, headers: { Authorization: `Bearer ${token}` } };
  writeFileSync(file, JSON.stringify({ mcpServers: { [toolsName]: server } }), { mode: 0o600 });
  return file;
}
