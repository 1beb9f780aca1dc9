import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { resolveProgram } from '../../processes/command.ts';
import { endGroup } from '../../processes/group.ts';
import { pause } from '../../base/pause.ts';
import { isAlive, type ProcessIdentity } from '../../processes/process-identity.ts';
import {
  launchRecorded,
  makePrivateDirectory,
  readRecord,
  removeRecord,
} from '../../processes/recorded-launch.ts';
import type { ServerPlace } from './environment.ts';
import { type Connected, RpcClient, type RpcHandlers } from './rpc-client.ts';

/** A running app-server to which we are connected. */
export interface AppServer {
  readonly directory: string;
  readonly socketPath: string;
  /** The process that we launched: the leader of the group. The program may be a child of it. */
  readonly leader: ProcessIdentity | undefined;
  readonly client: RpcClient;
}

/** The caller owns the server's `client` and closes it. `AGENT_FAILED`: it lives, but may be of use another time only. */
export type ServerOpened =
  | { readonly ok: true; readonly server: AppServer }
  | { readonly ok: false; readonly code: 'AGENT_UNAVAILABLE' | 'AGENT_FAILED'; readonly message: string };

// Plugins look for updates on the network. Goals make Codex start turns of its own, one after the other, for ever.
const switchedOff = ['--disable', 'plugins', '--disable', 'goals'];
const handshakeMs = 5_000;
const readyWithinMs = 30_000;
const betweenTriesMs = 25;
const longestSocketPath = 100;
const longestLogBytes = 1_000_000;

/**
 * Finds the app-server of a place, or launches one that outlives us. A server whose process lives is never doubled: if
 * it does not answer, the call fails instead. What a dead one left behind is ended first.
 */
export async function openAppServer(
  place: ServerPlace,
  clock: Clock,
  handlers: RpcHandlers,
): Promise<ServerOpened> {
  try {
    await makePrivateDirectory(place.directory);
  } catch (error) {
    return unavailable(
      `${place.directory} cannot be created (${String(error)}); Codex needs a home it can write to`,
    );
  }
  for (let attempt = 0; attempt < 3; attempt++) {
    const found = await findAppServer(place.directory, clock, handlers);
    if (found) return found;
    const launched = await launch(place, clock, handlers);
    if (launched) return launched;
    // Somebody else launched at the same moment; then it is there to be found.
  }
  return {
    ok: false,
    code: 'AGENT_FAILED',
    message: `the Codex app-server in ${place.directory} did not come up; see server.log there`,
  };
}

/** The server that lives in a directory. Undefined when none does, and its remains are gone. Never launches one. */
export async function findAppServer(
  directory: string,
  clock: Clock,
  handlers: RpcHandlers,
): Promise<ServerOpened | undefined> {
  const socketPath = socketPathIn(directory);
  const leader = await readRecord(directory);
  const deadline = clock.monotonic() + readyWithinMs;
  for (;;) {
    const connected = await RpcClient.connect(socketPath, clock, handshakeMs, handlers);
    if (connected.ok)
      return { ok: true, server: { directory, socketPath, leader, client: connected.client } };
    const isLiving = leader !== undefined && isAlive(leader);
    if (!isLiving && connected.reason === 'absent') break;
    if (clock.monotonic() >= deadline) {
      // Without its socket it can never be reached again, so whatever it does, nobody will hear of it.
      if (connected.reason === 'absent') break;
      return silent(directory, connected);
    }
    await pause(clock, betweenTriesMs);
  }
  if (leader) {
    // Its shells may have outlived it; nobody will ever hear of them again.
    await endGroup(leader, { graceMs: 1_000, clock });
    await removeRecord(directory);
  }
  return undefined;
}

async function launch(
  place: ServerPlace,
  clock: Clock,
  handlers: RpcHandlers,
): Promise<ServerOpened | undefined> {
  const { directory } = place;
  const permit = await place.prepareLaunch?.();
  if (permit?.ok === false) return unavailable(permit.message);
  const env = { ...place.env, ...permit?.env };
  const [program = '', ...args] = place.command;
  const resolved = await resolveProgram(program, env, process.cwd());
  if (!resolved.ok) return unavailable(resolved.message);
  const socketPath = socketPathIn(directory);
  keepLogSmall(directory);
  const launched = await launchRecorded({
    directory,
    setUp: 'exec </dev/null >>server.log 2>&1',
    body: 'exec "$@"',
    parameters: [resolved.path, ...args, 'app-server', ...switchedOff, '--listen', `unix://${socketPath}`],
    env,
    clock,
  });
  if (!launched.ok) return undefined;
  const leader = launched.identity;
  const deadline = clock.monotonic() + readyWithinMs;
  while (clock.monotonic() < deadline && isAlive(leader)) {
    const connected = await RpcClient.connect(socketPath, clock, handshakeMs, handlers);
    if (connected.ok)
      return { ok: true, server: { directory, socketPath, leader, client: connected.client } };
    await pause(clock, betweenTriesMs);
  }
  await endGroup(leader, { graceMs: 1_000, clock });
  return unavailable(`${resolved.path} app-server ended before it listened: ${await logTail(directory)}`);
}

function silent(directory: string, { message }: Extract<Connected, { ok: false }>): ServerOpened {
  const text = `the Codex app-server in ${directory} lives but does not answer (${message}); end it, or wait until it does`;
  return { ok: false, code: 'AGENT_FAILED', message: text };
}

function unavailable(text: string): ServerOpened {
  return { ok: false, code: 'AGENT_UNAVAILABLE', message: text };
}

/** Paths of unix sockets are limited to some 107 bytes, so a deep home has its socket in a directory of the system. */
export function socketPathIn(directory: string): string {
  const near = join(directory, 's');
  if (Buffer.byteLength(near) <= longestSocketPath) return near;
  const shared = join(tmpdir(), `stemma-${userInfo().uid}`);
  mkdirSync(shared, { recursive: true, mode: 0o700 });
  // Anybody may create names in the system's directory: only one that is ours alone will do.
  const found = lstatSync(shared);
  if (!found.isDirectory() || found.uid !== userInfo().uid)
    throw new Error(`${shared} belongs to somebody else`);
  chmodSync(shared, 0o700);
  return join(shared, createHash('sha256').update(directory).digest('hex').slice(0, 16));
}

function keepLogSmall(directory: string): void {
  const log = join(directory, 'server.log');
  try {
    if (statSync(log).size > longestLogBytes) renameSync(log, `${log}.old`);
  } catch {
    // There is no log yet.
  }
}

async function logTail(directory: string): Promise<string> {
  const text = await readFile(join(directory, 'server.log'), 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-3).join(' ').slice(-500) || 'it said nothing';
}
