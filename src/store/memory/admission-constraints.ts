import type { Admission } from '../../ledger/line.ts';
import type { Workspace } from '../../ledger/workspace.ts';
import { demand } from './demand.ts';
import type { MemoryState } from './state.ts';

/** One session has one place in the line, and no other has it. */
export function checkAdmission(state: MemoryState, row: Admission): void {
  demand(row.place >= 1, 'a place is at least 1', row.sessionId);
  for (const other of state.rows('admission').values()) {
    const clashes = other.sessionId !== row.sessionId && other.place === row.place;
    demand(!clashes, `one session a place, but there is ${other.sessionId}`, row.sessionId);
  }
}

/** A lock has one holder, and a place in its line one run. */
export function checkWorkspace(state: MemoryState, row: Workspace): void {
  const { runId, lock, place, isHeld, how, checkout } = row;
  demand(lock === null || how === 'exclusive', 'only an exclusive one has a lock', runId);
  demand((how === 'worktree') === (checkout !== null), 'a worktree has its checkout', runId);
  demand(place === null || (lock !== null && place >= 1), 'a place is in the line for a lock', runId);
  demand(!isHeld || place !== null, 'who holds a lock has its place', runId);
  for (const other of state.rows('workspace').values()) {
    if (lock === null || other.runId === runId || other.lock !== lock) continue;
    demand(!isHeld || !other.isHeld, `one holder a lock, but there is ${other.runId}`, runId);
    demand(place === null || place !== other.place, `one run a place, but there is ${other.runId}`, runId);
  }
}
