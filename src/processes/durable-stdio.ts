import { open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { resolveProgram } from './command.ts';
import { isAlive } from './process-identity.ts';
import {
  launchRecorded,
  makePrivateDirectory,
  readRecord,
  removeRecord,
  revokeLaunches,
} from './recorded-launch.ts';
import { StdioProcess } from './stdio-process.ts';

/*
 * Programs that speak lines on stdin and stdout, and that outlive us: the input is a FIFO which the program itself holds
 * open for reading and writing (it never sees an end of file), the output a file that it appends to.
 */

/** What to start, and where its record, FIFO and output live. */
export interface StdioLaunch {
  /** Program and arguments; the program is looked up in the PATH of `env`. */
  readonly argv: readonly string[];
  /** The whole environment; see `minimalEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** One program at a time; created with mode 0700. What a dead predecessor left in it is removed; other files stay. */
  readonly directory: string;
  readonly clock: Clock;
}

/** The caller owns `process` and closes or ends it. */
export type StdioLaunched =
  | { readonly ok: true; readonly process: StdioProcess }
  | { readonly ok: false; readonly code: 'AGENT_UNAVAILABLE'; readonly message: string };

/** `dead`: it takes no more lines, but everything it wrote can still be read, and `onExit` follows. */
export type StdioAdopted =
  | { readonly state: 'alive' | 'dead'; readonly process: StdioProcess }
  | { readonly state: 'none' };

const ownFiles = ['in.fifo', 'out.log', 'err.log'];
const ownPrefixes = ['write-', 'launch-', 'revoked-'];

const setUp = `
exec 2>>err.log
mkfifo -m 600 in.fifo || exit 126
exec 0<>in.fifo 1>>out.log
`;

const body = `
cd "$1" || exit 126
shift
unset OLDPWD
exec "$@"
`;

/**
 * Starts a program. From the moment it can do anything at all, `adoptStdio` finds it in `directory`. Refused while the
 * program that an earlier launch recorded there is alive. Never throws for what a launch can meet.
 */
export async function launchStdio(launch: StdioLaunch): Promise<StdioLaunched> {
  const { argv, env, cwd, directory, clock } = launch;
  const program = await resolveProgram(argv[0] ?? '', env, cwd);
  if (!program.ok) return unavailable(program.message);
  try {
    const owner = await clear(directory);
    if (owner !== undefined)
      return unavailable(`process ${owner} still runs for ${directory}; adopt it or end it first`);
    const parameters = [cwd, program.path, ...argv.slice(1)];
    const launched = await launchRecorded({ directory, setUp, body, parameters, env, clock });
    if (!launched.ok) return unavailable(await explain(directory, launched.message));
    const { identity, child } = launched;
    return { ok: true, process: new StdioProcess({ identity, directory, clock, child }) };
  } catch (error) {
    return unavailable(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Takes over the program that an earlier owner launched in `directory`. A launch of that owner which did not get as far
 * as its record is stopped for good. The caller owns `process` and closes or ends it; there must be one owner at a time.
 */
export async function adoptStdio(directory: string, clock: Clock): Promise<StdioAdopted> {
  await revokeLaunches(directory);
  const identity = await readRecord(directory);
  if (!identity) return { state: 'none' };
  const process = new StdioProcess({ identity, directory, clock });
  return { state: isAlive(identity) ? 'alive' : 'dead', process };
}

/** Makes the directory ready for a new program; the pid of the one that still lives in it, if there is one. */
async function clear(directory: string): Promise<number | undefined> {
  await makePrivateDirectory(directory);
  await revokeLaunches(directory);
  const old = await readRecord(directory);
  if (old && isAlive(old)) return old.pid;
  await removeRecord(directory);
  for (const name of await readdir(directory)) {
    const isOurs = ownFiles.includes(name) || ownPrefixes.some((prefix) => name.startsWith(prefix));
    if (isOurs) await rm(join(directory, name), { recursive: true, force: true });
  }
  // Created here because the program's umask is its own affair. Its descendants may still write to the old files.
  for (const name of ['out.log', 'err.log']) await (await open(join(directory, name), 'wx', 0o600)).close();
  return undefined;
}

async function explain(directory: string, message: string): Promise<string> {
  const text = await readFile(join(directory, 'err.log'), 'utf8').catch(() => '');
  return text.trim() === '' ? message : `${message}: ${text.trim().slice(-500)}`;
}

function unavailable(message: string): StdioLaunched {
  return { ok: false, code: 'AGENT_UNAVAILABLE', message };
}
