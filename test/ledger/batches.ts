import type { ExecutionId } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import type { Notice } from '../../src/ledger/notice.ts';
import type { Session } from '../../src/ledger/session.ts';
import type { State } from './state.ts';
import { listed } from './state.ts';

/** The results owed together to the parent of some of them; undefined while something of it is still to come. */
export function readyBatchOf(state: State, parent: Execution): Notice[] | undefined {
  if (!isSettled(parent.state) || openBelow(state, parent).length > 0) return undefined;
  const pending = pendingOn(state, parent.id);
  if (pending.some((notice) => notice.mode === 'each')) return undefined;
  return pending.filter((notice) => notice.mode === 'batch');
}

/** What is unclosed and counted below it; its check waits for the results themselves. */
export function openBelow(state: State, parent: Execution): Execution[] {
  return listed(state.children, parent.id).filter(
    (row) => !row.closed && row.detachedAt === null && !(row.name === 'check' && parent.check !== null),
  );
}

function pendingOn(state: State, id: ExecutionId): Notice[] {
  return listed(state.noticesOn, id).filter(({ state: is }) => is === 'owed' || is === 'claimed');
}

/** When all of a batch that is owed to the session may be handed over; undefined when none can. */
export function batchDueAt(state: State, session: Session): { at: number; on: ExecutionId } | undefined {
  for (const notice of state.notices.values()) {
    if (notice.mode !== 'batch' || notice.state !== 'owed' || notice.sessionId !== session.id) continue;
    const parent = state.executions.get(notice.countedOn);
    const ready = parent && readyBatchOf(state, parent);
    if (ready) return { at: Math.max(...ready.map((each) => each.notBefore)), on: parent.id };
  }
  return undefined;
}

/** What an execution of a session is a part of there: the message because of which the agent works. */
export function topIn(state: State, id: ExecutionId): ExecutionId {
  const row = state.executions.get(id);
  const above = row?.parentId ? state.executions.get(row.parentId) : undefined;
  const isPart =
    row?.detachedAt === null &&
    above?.runsIn === row.runsIn &&
    ['message', 'continuation', 'late'].includes(above.kind);
  return above && isPart ? topIn(state, above.id) : id;
}
