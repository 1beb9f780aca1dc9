import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { readIfThere } from '../../base/read-if-there.ts';
import type { ProcessIdentity } from '../../processes/process-identity.ts';
import {
  type Launched,
  launchRecorded,
  makePrivateDirectory,
  readRecord,
  revokeLaunches,
} from '../../processes/recorded-launch.ts';

/** A turn that was launched: its own directory holds everything that is known about it. */
export interface TurnRecord {
  /** Counts the turns of a session from 1; never given twice. */
  readonly number: number;
  readonly deliveryId: string;
  readonly directory: string;
  /** The wrapper that leads the turn's process group. */
  readonly identity: ProcessIdentity;
}

/** A turn as it is to be launched. */
export interface TurnPlan {
  readonly number: number;
  readonly deliveryId: string;
  readonly prompt: string;
  /** Absolute path of the program, then its arguments. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

const setUp = 'exec <prompt >>out 2>>err';

// The wrapper stays, leads the group, and leaves the exit code for whoever asks, however long after. A signal that ends
// the group ends the wrapper too: no status then, which is the truth.
const body = `
(cd "$1" && shift && unset OLDPWD && exec "$@")
code=$?
(umask 077; printf '%s\\n' "$code" >status.tmp) && mv status.tmp status
`;

/**
 * Every turn in `root` that was launched, oldest first. What did not get as far as that is stopped for good and removed.
 * Throws when something there cannot be read.
 */
export async function loadTurns(root: string): Promise<TurnRecord[]> {
  const turns: TurnRecord[] = [];
  for (const name of await readdir(root)) {
    const number = Number(/^turn-(\d+)$/.exec(name)?.[1]);
    if (!Number.isSafeInteger(number)) continue;
    const directory = join(root, name);
    await revokeLaunches(directory);
    const identity = await readRecord(directory);
    if (identity)
      turns.push({ number, deliveryId: readIfThere(join(directory, 'delivery')) ?? '', directory, identity });
    else await rm(directory, { recursive: true, force: true });
  }
  return turns.sort((a, b) => a.number - b.number);
}

/** Launches a turn. When it is not `ok`, its program never ran and never will. */
export async function launchTurn(
  root: string,
  plan: TurnPlan,
  clock: Clock,
): Promise<
  | { ok: true; turn: TurnRecord; child: Extract<Launched, { ok: true }>['child'] }
  | { ok: false; message: string }
> {
  const { number, deliveryId, prompt, argv, env, cwd } = plan;
  const directory = join(root, `turn-${String(number).padStart(6, '0')}`);
  try {
    await makePrivateDirectory(directory);
    const contents = { delivery: deliveryId, prompt, out: '', err: '' };
    for (const [name, text] of Object.entries(contents)) {
      await writeFile(join(directory, name), text, { mode: 0o600, flag: 'wx' });
    }
    const launched = await launchRecorded({ directory, setUp, body, parameters: [cwd, ...argv], env, clock });
    if (launched.ok) {
      return {
        ok: true,
        turn: { number, deliveryId, directory, identity: launched.identity },
        child: launched.child,
      };
    }
    await rm(directory, { recursive: true, force: true });
    return launched;
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** The exit code that the wrapper noted, 128 and the signal's number for a signal; undefined while it has noted none. */
export function exitCodeOf(turn: TurnRecord): number | undefined {
  const text = textOf(turn.directory, 'status');
  return text === undefined ? undefined : Number(text);
}

/** Notes, for ever, that the end of this turn was asked for. */
export function markInterrupted(turn: TurnRecord): void {
  writeFileSync(join(turn.directory, 'interrupted'), '', { mode: 0o600 });
}

/** Whether the end of this turn was asked for. */
export function isInterrupted(turn: TurnRecord): boolean {
  return existsSync(join(turn.directory, 'interrupted'));
}

/** Forgets a turn. */
export async function removeTurn(turn: TurnRecord): Promise<void> {
  await rm(turn.directory, { recursive: true, force: true });
}

function textOf(directory: string, name: string): string | undefined {
  try {
    return readFileSync(join(directory, name), 'utf8');
  } catch {
    return undefined;
  }
}
