import type { FreshIds } from '../base/ids.ts';
import type { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { endAgainMs } from './interruption.ts';
import { oweOfTree } from './notifying.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { defaultTimeoutMs, newExecution, refusalBelow } from './registration.ts';
import type { Session } from './session.ts';

/** Activity that carries nothing of ours: below the root of the session's last turn while that is open, else alarmed. */
export function* registerLate(
  draft: Draft,
  session: Session,
  command: { readonly taskId?: string; readonly fresh: FreshIds },
): Asking<Execution> {
  const parent = yield* rootOfLastTurn(session);
  const task = command.taskId === undefined ? undefined : yield* ask('taskNamed', session.id, command.taskId);
  const row = newExecution(draft.now, parent, parent ? 'turn' : 'none', {
    id: command.fresh.at('execution', 1),
    kind: 'late',
    name: 'late activity',
    project: session.project,
    runsIn: session.id,
    cancelledBy: session.id,
    // It wakes for background work that was cancelled: nothing may come of that either.
    cancelRequested: task?.cancelRequested ?? null,
    verdict: task?.cancelRequested ? 'CANCELLED' : null,
    // Below a root that has a deadline that one counts. Elsewhere, below a workflow say, what hangs would hold the lane for ever.
    deadlineAt: parent && parent.deadlineAt !== null ? null : draft.now + defaultTimeoutMs,
  });
  draft.register(row, []);
  if (row.cancelRequested) draft.wake('deadline', row.id, draft.now + endAgainMs);
  else if (row.deadlineAt !== null) draft.wake('deadline', row.id, row.deadlineAt);
  draft.event('alarm', row, { what: 'lateActivity' });
  yield* oweOfTree(draft, 'lateActivity', row.id, {
    rootId: row.rootId,
    sessionId: session.id,
    project: session.project,
  });
  return row;
}

/** The root of the last turn; of several, the first under which something may still begin. */
function* rootOfLastTurn(session: Session): Asking<Execution | null> {
  const owners = session.lastTurn === null ? [] : yield* ask('owners', session.lastTurn);
  for (const { rootId } of owners) {
    const root = yield* ask('execution', rootId);
    if (root && !refusalBelow(root)) return root;
  }
  return null;
}
