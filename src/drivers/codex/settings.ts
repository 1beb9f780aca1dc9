import type { OpenRequest } from '../port.ts';
import type { Call } from './history.ts';
import { configAnswer } from './wire.ts';

const startupSeconds = 20;
/** How long starting or loading a thread may take: as long as its tools may, and some more. Milliseconds. */
export const loadMs = (startupSeconds + 15) * 1000;
const sandboxes = {
  readOnly: 'read-only',
  workspace: 'workspace-write',
  full: 'danger-full-access',
} as const;

/** What a thread is started with, and resumed with when it is not in the server's memory. */
export function threadSettings(request: OpenRequest, toolsName: string): Record<string, unknown> {
  const { profile, cwd, tools } = request;
  return {
    cwd,
    ...(profile.model === undefined ? {} : { model: profile.model }),
    // Nobody to ask: Codex refuses by itself and tells the model, without a question in between.
    approvalPolicy: (profile.onQuestion ?? 'deny') === 'deny' ? 'never' : 'on-request',
    ...(profile.sandbox === undefined ? {} : { sandbox: sandboxes[profile.sandbox] }),
    config: {
      ...(profile.effort === undefined ? {} : { model_reasoning_effort: profile.effort }),
      ...(profile.network === undefined
        ? {}
        : { 'sandbox_workspace_write.network_access': profile.network === 'allowed' }),
      ...(tools === undefined ? {} : { mcp_servers: { [toolsName]: toolServer(tools) } }),
    },
  };
}

function toolServer({ url, token }: NonNullable<OpenRequest['tools']>): Record<string, unknown> {
  return {
    url,
    http_headers: { Authorization: `Bearer ${token}` },
    // Without this, a sandboxed thread refuses to call our tools, or asks for each call.
    default_tools_approval_mode: 'approve',
    // Codex waits one second for tools that are not required, and then lets the turn run without them.
    required: true,
    startup_timeout_sec: startupSeconds,
  };
}

/**
 * A name for our tools that the user's configuration does not have: under a name that it knows, its own bearer would win
 * over ours.
 */
export async function freeToolsName(call: Call, cwd: string): Promise<string> {
  const answer = await call('config/read', { cwd });
  const read = configAnswer.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
  const taken = new Set(Object.keys(read.data?.config.mcp_servers ?? {}));
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'stemma' : `stemma_${number}`;
    if (!taken.has(name)) return name;
  }
}
