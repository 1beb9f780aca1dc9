import { homedir } from 'node:os';
import { join } from 'node:path';
import { minimalEnvironment } from '../../processes/command.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { AgentProfile, OpenRequest } from '../port.ts';

/** What opencode is run with. */
export interface Place {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

// opencode's own variables, those of the providers that it knows, and what any program needs to reach the network.
const agentsOwn =
  /^(OPENCODE_|XDG_(CONFIG|DATA|STATE|CACHE)_HOME$|ANTHROPIC_|OPENAI_|GEMINI_|GOOGLE_|AWS_|AZURE_|OPENROUTER_|GROQ_|MISTRAL_|XAI_|DEEPSEEK_|GITHUB_TOKEN$|(https?|no|all)_proxy$|SSL_CERT_|NODE_EXTRA_CA_CERTS$)/i;
const contentName = 'OPENCODE_CONFIG_CONTENT';

/** Nothing of these may change or fetch anything behind our back. */
const quiet = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_SHARE: '1',
} as const;

/** How opencode is run for a profile. With `home`, everything that it keeps is below that directory. */
export function placeOf(profile: AgentProfile, ours: NodeJS.ProcessEnv = process.env): Place {
  const own = Object.fromEntries(
    Object.entries(ours).filter(
      (e): e is [string, string] =>
        agentsOwn.test(e[0]) && !(profile.home !== undefined && e[0].startsWith('XDG_')),
    ),
  );
  const home = profile.home === undefined ? {} : { HOME: profile.home };
  const env = minimalEnvironment({ ...quiet, ...own, ...home, ...profile.env }, ours);
  return { command: profile.command.length === 0 ? ['opencode'] : profile.command, env };
}

/** Where opencode keeps its sign-ins and conversations. */
export function dataDirectoryOf({ env }: Place): string {
  const data = env['XDG_DATA_HOME'] ?? join(env['HOME'] ?? homedir(), '.local', 'share');
  return join(data, 'opencode');
}

/** The environment of a server of its own for one conversation: its password and settings with it. */
export function serverEnvironment(
  request: OpenRequest,
  place: Place,
  password: string,
): Record<string, string> {
  const { [contentName]: content, ...env } = place.env;
  const given = parseJson(content ?? '{}');
  const theirs = asObject(given);
  const ours = settingsFor(request);
  const settings = {
    ...theirs,
    ...ours,
    ...(ours['mcp'] ? { mcp: { ...asObject(theirs['mcp']), ...asObject(ours['mcp']) } } : {}),
  };
  return { ...env, OPENCODE_SERVER_PASSWORD: password, [contentName]: JSON.stringify(settings) };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Goes on top of the user's own configuration, key by key. */
function settingsFor({ profile, tools }: OpenRequest): Record<string, unknown> {
  return {
    autoupdate: false,
    share: 'disabled',
    ...(profile.model === undefined ? {} : { model: profile.model }),
    ...(profile.sandbox === undefined ? {} : { permission: permissionsOf[profile.sandbox] }),
    ...(tools ? { mcp: { [toolsName]: toolServer(tools) } } : {}),
  };
}

/** The name of our tool server in opencode's configuration. */
export const toolsName = 'stemma';

/** Our tools, as opencode's configuration and its `POST /mcp` take them. */
export function toolServer({ url, token }: NonNullable<OpenRequest['tools']>): Record<string, unknown> {
  return {
    type: 'remote',
    url,
    headers: { Authorization: `Bearer ${token}` },
    oauth: false,
    enabled: true,
  };
}

/**
 * opencode has no sandbox of the system: it only refuses its own tools. A shell that may run can write anywhere, so without
 * writing there is no shell.
 */
const permissionsOf = {
  readOnly: { edit: 'deny', bash: 'deny', external_directory: 'deny' },
  workspace: { edit: 'allow', bash: 'allow', external_directory: 'deny' },
  full: { edit: 'allow', bash: 'allow', webfetch: 'allow', external_directory: 'allow', doom_loop: 'allow' },
} as const;

/** The same as rules of a session, which go before those of the user's own agents. */
export function sessionRules({
  sandbox,
}: AgentProfile): { permission: string; pattern: string; action: string }[] {
  if (sandbox === undefined) return [];
  return Object.entries(permissionsOf[sandbox]).map(([permission, action]) => ({
    permission,
    pattern: '*',
    action,
  }));
}

/** What a profile asks for and nothing enforces. */
export function sandboxWarnings({ sandbox }: AgentProfile): string[] {
  if (sandbox === 'readOnly')
    return [
      'sandbox: readOnly means that opencode refuses its tools for editing and its shell; tools of other servers are not confined.',
    ];
  if (sandbox === 'workspace')
    return [
      'sandbox: workspace is kept by opencode for its own file tools only; a command of its shell can write anywhere.',
    ];
  return [];
}
