import type { ExecutionId } from '../../../src/base/ids.ts';
import type { Execution } from '../../../src/ledger/execution.ts';
import { recount } from '../../../src/ledger/recount.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, firstOf } from '../moment.ts';
import type { State } from '../state.ts';
import { listed } from '../state.ts';

const settledStates = new Set(['succeeded', 'failed', 'cancelled', 'lost']);

function isPending(state: string): boolean {
  return state === 'owed' || state === 'claimed';
}

/** The deficit from its definition, by looking at what could be counted on this execution. */
function deficit(state: State, id: ExecutionId): number {
  let open = 0;
  for (const child of listed(state.children, id)) if (!child.closed && child.detachedAt === null) open++;
  for (const notice of listed(state.noticesOn, id)) if (isPending(notice.state)) open++;
  for (const edge of state.snapshot.holds) {
    if (edge.holderId !== id) continue;
    const held = state.executions.get(edge.executionId);
    if (held && !held.closed && held.detachedAt === null) open++;
    const notice = state.noticeOf.get(edge.executionId);
    if (notice && isPending(notice.state)) open++;
  }
  return open;
}

function checkRecount({ after }: Moment): string | undefined {
  const known = recount(after.snapshot);
  return firstOf(after.executions.values(), (row) => {
    const open = deficit(after, row.id);
    if (open !== row.open) return `${short(row.id)} has deficit ${row.open}, a recount says ${open}`;
    return known.get(row.id) === open
      ? undefined
      : `recount() says ${known.get(row.id)} for ${short(row.id)}`;
  });
}

function checkClosed({ after }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    const isClosed = settledStates.has(row.state) && row.open === 0;
    return isClosed === row.closed
      ? undefined
      : `${short(row.id)}: ${row.state}, ${row.open} open, closed ${row.closed}`;
  });
}

/** What is alive in the tree below, apart from what was detached. */
function aliveBelow(state: State, row: Execution): string | undefined {
  if (listed(state.noticesOn, row.id).some((notice) => isPending(notice.state)))
    return `a notice on ${short(row.id)}`;
  return firstOf(listed(state.children, row.id), (child) => {
    if (child.detachedAt !== null) return undefined;
    return settledStates.has(child.state) ? aliveBelow(state, child) : `${child.kind} ${short(child.id)}`;
  });
}

function checkNothingAlive({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (!row.closed || was?.closed) return undefined;
    const alive = aliveBelow(after, row);
    return alive && `${row.kind} ${short(row.id)} closed while ${alive} was open`;
  });
}

function checkTold({ after, facts }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    const times = facts.closedTold.get(row.id) ?? 0;
    return times === (row.closed ? 1 : 0)
      ? undefined
      : `the closing of ${short(row.id)} was told ${times} times`;
  });
}

/** Deficits and what follows from them (invariants 2 and 3). */
export const countingProperties: readonly Property[] = [
  { name: 'every deficit equals a recount', check: checkRecount },
  { name: 'closed is settled with a deficit of zero', check: checkClosed },
  { name: 'nothing closes while something below it is alive', check: checkNothingAlive },
  { name: 'a closing is told exactly once', check: checkTold },
];
