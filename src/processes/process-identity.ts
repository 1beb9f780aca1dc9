import { readProcess, readProcessTable, type ProcessRow } from './process-table.ts';

/**
 * Names one process for ever. A pid alone does not: the kernel gives it away again. `startedAt` is an opaque mark of the
 * start (boot and clock tick on Linux, a second elsewhere) and is only ever compared.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** The identity of the living process with this pid; undefined when there is none. A zombie is not alive. Throws as `readProcess`. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const row = readProcess(pid);
  return row && !row.isZombie ? { pid, startedAt: row.startedAt } : undefined;
}

/**
 * Whether this very process lives: not one that got its pid later, and not a zombie. Blocks for some 50 µs on Linux. Never
 * throws: as long as the machine cannot be looked at it counts as alive, since only proof may end anything.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  try {
    return identityOf(identity.pid)?.startedAt === identity.startedAt;
  } catch {
    return true;
  }
}

/** Every living process below `pid`, whatever its group or session, as the machine lists them at this moment. */
export function descendantsOf(pid: number): ProcessIdentity[] {
  return below(readProcessTable(), new Set([pid])).map(({ pid: found, startedAt }) => ({
    pid: found,
    startedAt,
  }));
}

/** The living rows that have one of `ancestors` above them; the ancestors themselves are not among them. */
export function below(table: readonly ProcessRow[], ancestors: ReadonlySet<number>): ProcessRow[] {
  const childrenOf = new Map<number, ProcessRow[]>();
  for (const row of table) {
    const siblings = childrenOf.get(row.parentPid);
    if (siblings) siblings.push(row);
    else childrenOf.set(row.parentPid, [row]);
  }
  const found: ProcessRow[] = [];
  const seen = new Set(ancestors);
  const pending = [...ancestors];
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    for (const row of childrenOf.get(pid) ?? []) {
      if (seen.has(row.pid)) continue;
      seen.add(row.pid);
      pending.push(row.pid);
      if (!row.isZombie) found.push(row);
    }
  }
  return found;
}
