import type { Clock } from '../base/clock.ts';
import { waitUntil } from '../base/pause.ts';
import { below, isAlive, type ProcessIdentity } from './process-identity.ts';
import { type ProcessRow, readProcessTable, readStartVariable } from './process-table.ts';

/** How a group is ended. */
export interface EndOptions {
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly clock: Clock;
  /** Milliseconds in which everything must be gone after the first SIGKILL, else the answer is `unkillable`. Default 5000. */
  readonly killMs?: number;
}

/**
 * The variable that a recorded launch puts into the environment of its program. Whatever still carries it descends from
 * that program, even when its parents are gone and it left the group: an agent's background shells do both.
 */
export const originVariable = 'STEMMA_ORIGIN';

/** The value of `originVariable` below this process. */
export function originOf(identity: ProcessIdentity): string {
  return `${identity.pid}:${identity.startedAt}`;
}

/**
 * Ends a process, its group and everything it started: SIGTERM, after `graceMs` SIGKILL, until all of it is verified
 * dead. `unkillable`: something survived SIGKILL (uninterruptible sleep, another user's process), or the machine cannot be
 * looked at, so that nothing is verified. Never throws, and never signals a process whose identity is not proven; calling it
 * again, or for something long dead, is harmless and still reaps what was left behind.
 */
export function endGroup(identity: ProcessIdentity, options: EndOptions): Promise<'dead' | 'unkillable'> {
  return endGroups([identity], options);
}

/** As `endGroup`, for several at once, with one look at the machine for all of them. */
export async function endGroups(
  identities: readonly ProcessIdentity[],
  options: EndOptions,
): Promise<'dead' | 'unkillable'> {
  try {
    return await endKin(identities, options);
  } catch {
    return 'unkillable';
  }
}

async function endKin(
  identities: readonly ProcessIdentity[],
  { clock, graceMs, killMs = 5000 }: EndOptions,
): Promise<'dead' | 'unkillable'> {
  // Taken before the first signal: afterwards the children of the dead belong to init and cannot be told apart.
  const kin = new Kin(identities);
  kin.signal('SIGTERM');
  await waitUntil(clock, () => kin.isGone(), graceMs);
  const deadline = clock.monotonic() + killMs;
  // What was born between the look and the signal is found by looking again, until a look finds nothing.
  while (kin.look() > 0) {
    if (clock.monotonic() >= deadline) return 'unkillable';
    kin.signal('SIGKILL');
    await waitUntil(clock, () => kin.isGone(), Math.min(500, deadline - clock.monotonic()));
  }
  return 'dead';
}

/** Processes proven to belong to some identities: themselves, their groups, their descendants, and bearers of their mark. */
class Kin {
  readonly #roots: readonly ProcessIdentity[];
  readonly #known = new Map<number, ProcessRow>();

  constructor(roots: readonly ProcessIdentity[]) {
    this.#roots = roots;
    this.look();
  }

  /** Looks at the machine again; how many of the kin live. */
  look(): number {
    const table = readProcessTable();
    const present = new Map(table.map((row) => [row.pid, row]));
    for (const row of this.#known.values()) {
      // A zombie stays: it still holds its pid, and so its group.
      if (present.get(row.pid)?.startedAt !== row.startedAt) this.#known.delete(row.pid);
    }
    for (const root of this.#roots) this.#addRoot(root, table, present.get(root.pid));
    for (const row of below(table, new Set(this.#known.keys()))) this.#known.set(row.pid, row);
    this.#known.delete(process.pid);
    let living = 0;
    for (const pid of this.#known.keys()) if (present.get(pid)?.isZombie === false) living++;
    return living;
  }

  /** Whether none of those known lives. Asks only for them, so what was born since is not seen. */
  isGone(): boolean {
    for (const row of this.#known.values()) if (isAlive(row)) return false;
    return true;
  }

  /** Sends one signal to each: to whole groups where the leader is proven, to the rest one by one. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    const groups = new Set<number>();
    for (const row of this.#known.values()) if (this.#leadsProvenGroup(row)) groups.add(row.pid);
    for (const row of this.#known.values()) {
      if (groups.has(row.pid)) send(-row.pid, name);
      else if (!groups.has(row.groupId) && isAlive(row)) send(row.pid, name);
    }
  }

  #leadsProvenGroup(row: ProcessRow): boolean {
    return (
      row.groupId === row.pid && this.#roots.some((r) => r.pid === row.pid && r.startedAt === row.startedAt)
    );
  }

  #addRoot(root: ProcessIdentity, table: readonly ProcessRow[], row: ProcessRow | undefined): void {
    // A group id is not given away while its leader's pid is taken; once that is gone, only the mark is a proof.
    const isProven = row?.startedAt === root.startedAt;
    if (isProven) this.#known.set(row.pid, row);
    const origin = originOf(root);
    for (const other of table) {
      if (other.isZombie || this.#known.has(other.pid)) continue;
      const isOfGroup = isProven && row.groupId === root.pid && other.groupId === root.pid;
      if (isOfGroup || readStartVariable(other.pid, originVariable) === origin)
        this.#known.set(other.pid, other);
    }
  }
}

function send(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // Gone meanwhile, or not ours to signal: the verification that follows says which.
  }
}
