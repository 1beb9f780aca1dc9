import { originOf, originVariable } from './group.ts';
import { below, type ProcessIdentity } from './process-identity.ts';
import { readProcessTable, readStartVariable } from './process-table.ts';

/**
 * The living processes that a program started and left: they carry the mark of its launch, and nothing of what is above them
 * is the program any more, as with `&` in a shell that has ended. They end with the program. Linux only, elsewhere nothing is
 * found. Blocks as `readProcessTable`, and throws as it does.
 */
export function leftBehind(program: ProcessIdentity): ProcessIdentity[] {
  const table = readProcessTable();
  const held = new Set(below(table, new Set([program.pid])).map(({ pid }) => pid));
  const origin = originOf(program);
  return table
    .filter(({ pid, isZombie }) => !isZombie && pid !== program.pid && !held.has(pid))
    .filter(({ pid }) => readStartVariable(pid, originVariable) === origin)
    .map(({ pid, startedAt }) => ({ pid, startedAt }));
}

/** Whether anything was left behind; also when nobody can look, since only proof may end anything. */
export function hasLeftBehind(program: ProcessIdentity): boolean {
  try {
    return leftBehind(program).length > 0;
  } catch {
    return true;
  }
}
