import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { minimalEnvironment } from '../../processes/command.ts';
import type { AgentProfile, OpenRequest, ScreenCommand } from '../port.ts';

// Claude Code's own variables, and what any program needs to reach the network; none that says who started it.
const agentsOwn =
  /^(ANTHROPIC_|CLAUDE_CONFIG_DIR$|CLAUDE_CODE_(USE|MAX|OAUTH)_|(https?|no|all)_proxy$|SSL_CERT_|NODE_EXTRA_CA_CERTS$)/i;
const usual: Readonly<Record<string, string>> = {
  // With the search for tools, ours would be hidden from the model until it looks for them.
  ENABLE_TOOL_SEARCH: 'false',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  // What another Claude Code has left to be done later in this directory is not this one's.
  CLAUDE_CODE_DISABLE_CRON: '1',
};

/** With these it would wake by itself long after its turn, which nothing of the turn's end tells. */
const wakingTools = ['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'];

/** The whole environment of the program. */
export function environmentOf(
  profile: AgentProfile,
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const own = Object.fromEntries(
    Object.entries(ours).filter((e): e is [string, string] => agentsOwn.test(e[0]) && e[1] !== undefined),
  );
  const home = profile.home === undefined ? {} : { CLAUDE_CONFIG_DIR: resolve(profile.home) };
  // Root may skip the questions only in a place that calls itself a sandbox.
  const sandbox = skipsQuestions(profile) && process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {};
  return minimalEnvironment({ ...own, ...usual, ...sandbox, ...home, ...profile.env }, ours);
}

/** Where the program keeps its conversations, in a directory for each place that it works in. */
export function projectsOf(env: Readonly<Record<string, string>>): string {
  return join(env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? '/', '.claude'), 'projects');
}

/** The id of the conversation of a session: always the same, so that no crash between two steps makes two of it. */
export function conversationIdOf(sessionId: string): string {
  const hex = createHash('sha256').update(`stemma ${sessionId}`).digest('hex');
  const part = (from: number, to: number): string => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`;
}

/** Where the hooks of a session's agent write. */
export function hooksFileIn(directory: string): string {
  return join(directory, 'hooks.jsonl');
}

/** What the agent tells us of by hooks, before it goes on. */
const hookEvents = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'Stop',
  'StopFailure',
];

/**
 * Writes the files that the program is started with, readable by us alone, and answers how it is started. `secrets`: the
 * last of its environment; they are in no file that stays.
 */
export function writeLaunch(
  request: OpenRequest,
  conversationId: string,
  isResumed: boolean,
  secrets: Readonly<Record<string, string>> = {},
): ScreenCommand {
  const { profile, cwd, directory, tools } = request;
  const settingsFile = join(directory, 'claude-settings.json');
  const hooksFile = hooksFileIn(directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  rmSync(hooksFile, { force: true });
  const command = `{ cat; echo; } >> '${hooksFile.replaceAll("'", "'\\''")}'`;
  const hook = [{ hooks: [{ type: 'command', command, timeout: 10 }] }];
  const hooks = Object.fromEntries(hookEvents.map((name) => [name, hook]));
  // Without its own lines on ends a turn would be over only by the hook.
  const settings = { skipDangerousModePermissionPrompt: true, showTurnDuration: true, hooks };
  writeFileSync(settingsFile, JSON.stringify(settings), { mode: 0o600 });
  const program = profile.command.length === 0 ? ['claude'] : profile.command;
  return {
    cwd,
    env: { ...environmentOf(profile), ...secrets },
    command: [
      ...program,
      ...[isResumed ? '--resume' : '--session-id', conversationId],
      ...['--settings', settingsFile],
      ...(profile.model === undefined ? [] : ['--model', profile.model]),
      ...(profile.effort === undefined ? [] : ['--effort', profile.effort]),
      ...permissions(profile),
      ...refusedTools(profile),
      ...(tools ? ['--mcp-config', toolsFile(directory, tools)] : []),
      '--strict-mcp-config',
    ],
  };
}

/** Without anybody to ask, it refuses by itself; at its own screen, a person can be asked. */
function permissions(profile: AgentProfile): string[] {
  if (skipsQuestions(profile)) return ['--dangerously-skip-permissions'];
  const asks = profile.onQuestion === 'ask';
  const mode = !asks ? 'dontAsk' : profile.sandbox === 'workspace' ? 'acceptEdits' : 'default';
  return ['--permission-mode', mode, '--allowedTools', 'mcp__stemma'];
}

function refusedTools({ sandbox }: AgentProfile): string[] {
  const writingTools = sandbox === 'readOnly' ? ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'] : [];
  return ['--disallowedTools', [...wakingTools, ...writingTools].join(',')];
}

function skipsQuestions({ sandbox, onQuestion }: AgentProfile): boolean {
  return sandbox === 'full' || (sandbox === undefined && onQuestion === 'allow');
}

function toolsFile(directory: string, { url, token }: NonNullable<OpenRequest['tools']>): string {
  const file = join(directory, 'claude-tools.json');
  const server = { type: 'http', url, headers: { Authorization: `Bearer ${token}` } };
  writeFileSync(file, JSON.stringify({ mcpServers: { stemma: server } }), { mode: 0o600 });
  return file;
}
