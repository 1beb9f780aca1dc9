import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';
import { readIfThere } from '../../base/read-if-there.ts';
import { resolveProgram } from '../../processes/command.ts';
import { endGroup } from '../../processes/group.ts';
import { isAlive, type ProcessIdentity } from '../../processes/process-identity.ts';
import {
  launchRecorded,
  makePrivateDirectory,
  readRecord,
  removeRecord,
  revokeLaunches,
} from '../../processes/recorded-launch.ts';
import type { OpenRequest } from '../port.ts';
import { type Place, serverEnvironment } from './environment.ts';
import { sessionInJournal } from './journal.ts';

/** A server process of one conversation, and how it is spoken to. */
export interface OpencodeServer {
  readonly identity: ProcessIdentity;
  readonly url: string;
  readonly password: string;
}

/** `NOT_RUNNING`: nothing lives, and what a dead one left has been ended. */
export type ServerFound =
  | { readonly ok: true; readonly server: OpencodeServer }
  | {
      readonly ok: false;
      readonly code: 'NOT_RUNNING' | 'AGENT_FAILED' | 'AGENT_UNAVAILABLE';
      readonly message: string;
    };

const listenWithinMs = 40_000;
const betweenLooksMs = 20;
const longestLogBytes = 1_000_000;

const names = { log: 'opencode.log', password: 'opencode-password' } as const;

/** What somebody needs to attach opencode's own screen to the conversation of a session: `opencode attach URL -s ID -p PASSWORD`. */
export interface Attachment {
  readonly url: string;
  readonly password: string;
  readonly nativeId: string;
}

/** How to attach to the server that serves the session of this directory; undefined when none listens there. */
export async function readAttachment(directory: string): Promise<Attachment | undefined> {
  const identity = await readRecord(directory);
  if (!identity || !isAlive(identity)) return undefined;
  const place = {
    url: listeningIn(directory),
    password: readIfThere(join(directory, names.password))?.trim(),
  };
  const nativeId = sessionInJournal(directory);
  if (place.url === undefined || place.password === undefined || nativeId === undefined) return undefined;
  return { url: place.url, password: place.password, nativeId };
}

/** Finds the server that an earlier process of ours left in the session's directory. */
export async function adoptServer(directory: string, clock: Clock): Promise<ServerFound> {
  await revokeLaunches(directory);
  const identity = await readRecord(directory);
  if (!identity) return notRunning();
  if (isAlive(identity)) {
    const password = readIfThere(join(directory, names.password))?.trim();
    const url = await listening(directory, identity, clock);
    if (url !== undefined && password !== undefined) return { ok: true, server: { identity, url, password } };
    if (isAlive(identity)) {
      // It never came up, so nothing was ever asked of it.
      const ended = await endGroup(identity, { graceMs: 1000, clock });
      if (ended === 'unkillable')
        return {
          ok: false,
          code: 'AGENT_FAILED',
          message: `process ${identity.pid} of an earlier start cannot be ended`,
        };
    }
  }
  // Its shells may have outlived it; nobody will ever hear of them again.
  await endGroup(identity, { graceMs: 1000, clock });
  await removeRecord(directory);
  return notRunning();
}

/** Launches a server that outlives us. The directory must have no living one. */
export async function launchServer(request: OpenRequest, place: Place, clock: Clock): Promise<ServerFound> {
  const { directory, cwd } = request;
  const [program = '', ...args] = place.command;
  const resolved = await resolveProgram(program, place.env, cwd);
  if (!resolved.ok) return unavailable(resolved.message);
  const permit = await request.prepareLaunch?.();
  if (permit?.ok === false) return unavailable(permit.message);
  await makePrivateDirectory(directory);
  const password = randomBytes(24).toString('base64url');
  writeFileSync(join(directory, names.password), `${password}\n`, { mode: 0o600 });
  keepLog(directory);
  const launched = await launchRecorded({
    directory,
    setUp: `exec </dev/null >>${names.log} 2>&1`,
    body: 'cd "$1" || exit 126\nshift\nunset OLDPWD\nexec "$@"',
    parameters: [cwd, resolved.path, ...args, 'serve', '--hostname', '127.0.0.1', '--port', '0'],
    env: { ...serverEnvironment(request, place, password), ...permit?.env },
    clock,
  });
  if (!launched.ok) return unavailable(launched.message);
  const { identity } = launched;
  const url = await listening(directory, identity, clock, request.signal);
  if (url !== undefined) return { ok: true, server: { identity, url, password } };
  const said = lastWords(directory);
  await endGroup(identity, { graceMs: 1000, clock });
  await removeRecord(directory);
  if (request.signal?.aborted)
    return { ok: false, code: 'AGENT_FAILED', message: 'nobody needs it any more' };
  return unavailable(`${resolved.path} serve did not come up: ${said}`);
}

/** The address that a living server says it listens at. A connection made before it says so would never be answered. */
async function listening(
  directory: string,
  identity: ProcessIdentity,
  clock: Clock,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const deadline = clock.monotonic() + listenWithinMs;
  for (;;) {
    const url = listeningIn(directory);
    if (url !== undefined) return url;
    if (!isAlive(identity) || clock.monotonic() >= deadline || signal?.aborted) return undefined;
    await pause(clock, betweenLooksMs, signal);
  }
}

function listeningIn(directory: string): string | undefined {
  const text = readIfThere(join(directory, names.log)) ?? '';
  return /listening on (http:\/\/\S+)\n/.exec(text)?.[1];
}

/** Each process has a log of its own, since the address is read from it. */
function keepLog(directory: string): void {
  const log = join(directory, names.log);
  try {
    if (statSync(log).size > longestLogBytes) rmSync(log);
    else renameSync(log, `${log}.old`);
  } catch {
    // There is no log yet.
  }
}

function lastWords(directory: string): string {
  try {
    return (
      readFileSync(join(directory, names.log), 'utf8').trim().split('\n').slice(-5).join(' ').slice(-600) ||
      'it said nothing'
    );
  } catch {
    return 'it said nothing';
  }
}

function notRunning(): ServerFound {
  return { ok: false, code: 'NOT_RUNNING', message: 'no opencode server of this session lives' };
}

function unavailable(message: string): ServerFound {
  return { ok: false, code: 'AGENT_UNAVAILABLE', message };
}
