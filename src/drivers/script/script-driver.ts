import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { minimalEnvironment, type Resolved, resolveProgram } from '../../processes/command.ts';
import { makePrivateDirectory } from '../../processes/recorded-launch.ts';
import type { AgentProfile, Capabilities, Driver, Opened, OpenRequest, Probe } from '../port.ts';
import { ScriptConversation } from './script-conversation.ts';
import { loadTurns } from './turn-record.ts';

/** What the driver needs from outside. */
export interface ScriptDriverOptions {
  readonly clock: Clock;
  /** Milliseconds between SIGTERM and SIGKILL when a turn is ended. Default 5000. */
  readonly graceMs?: number;
  /** A program that has printed more than this is ended. Bytes, default 256 MiB. */
  readonly mostOutputBytes?: number;
}

const capabilities: Capabilities = {
  steer: 'none',
  negativeProof: 'none',
  turnEnd: 'process',
  backgroundTasks: false,
  wakesByItself: false,
  promptCancelsBackground: false,
  resume: 'always',
  locatesCalls: 'byOrder',
  limits: false,
  usage: 'none',
};

/**
 * The driver of any program that reads a prompt on stdin and answers on stdout. Each turn is one process; its exit code
 * is the outcome. The process outlives the server, and its end is heard after a restart.
 */
export function scriptDriver({ clock, graceMs = 5000, mostOutputBytes }: ScriptDriverOptions): Driver {
  const options = { clock, graceMs, ...(mostOutputBytes === undefined ? {} : { mostOutputBytes }) };
  return {
    kind: 'script',
    capabilities,
    honours: ['secrets'],
    probe,
    open: (request) => openConversation(request, options),
  };
}

// A program that is asked for its version might do its work instead: finding it is all that can be tried.
async function probe(profile: AgentProfile): Promise<Probe> {
  const found = await resolveProgram(
    profile.command[0] ?? '',
    minimalEnvironment(profile.env),
    process.cwd(),
  );
  return found.ok ? { found: true, warnings: [] } : { found: false, warnings: [found.message] };
}

async function openConversation(
  request: OpenRequest,
  options: ScriptDriverOptions & { readonly graceMs: number },
): Promise<Opened> {
  const root = join(request.directory, 'turns');
  try {
    await makePrivateDirectory(root);
    const turns = await loadTurns(root);
    const conversation = new ScriptConversation({ ...options, request, root, turns });
    if (conversation.hasUnreported()) return { ok: true, how: 'adopted', conversation: conversation.begin() };
    const program = await resolveFor(request);
    if (!program.ok) return { ok: false, code: 'AGENT_UNAVAILABLE', message: program.message };
    const isKnown = request.nativeId !== undefined || turns.length > 0;
    return { ok: true, how: isKnown ? 'resumed' : 'started', conversation: conversation.begin() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      code: 'AGENT_UNAVAILABLE',
      message: `the directory ${root} cannot be used: ${reason}`,
    };
  }
}

function resolveFor({ profile, cwd }: OpenRequest): Promise<Resolved> {
  return resolveProgram(profile.command[0] ?? '', minimalEnvironment(profile.env), cwd);
}
