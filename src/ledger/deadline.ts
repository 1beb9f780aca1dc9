import type { ExecutionId, NoticeId } from '../base/ids.ts';
import { deadlineOf } from './clock.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import { isSettled } from './execution.ts';
import { ask } from './questions.ts';
import { end, endsByItself } from './settle.ts';
import { isOverspent } from './spending.ts';

/**
 * Whether an execution must be ended now: its deadline has passed, its budget is exceeded, or it was cancelled and whoever
 * was to end it has not.
 * A deadline that moved meanwhile is asked for again at its new instant.
 */
export function* nextDeadline(command: { readonly now: number; readonly id: ExecutionId }): Rule<boolean> {
  const draft = new Draft(command.now);
  const row = yield* ask('execution', command.id);
  if (!row || row.closed) return draft.done(false);
  if (row.cancelRequested || isOverspent(row)) return draft.done(true);
  const at = yield* deadlineOf(row);
  if (at <= command.now) return draft.done(true);
  // What nobody knows the end of owes the look itself, when it ends.
  if (Number.isFinite(at)) draft.wake('deadline', row.id, at);
  return draft.done(false);
}

/** An outside program says that it lives. */
export interface Heartbeat {
  readonly now: number;
  readonly id: ExecutionId;
  /** It must say so again before this instant. */
  readonly until: number;
}

/** Moves its deadline, if it has one, and tells it whether somebody wants it to stop. */
export function* heartbeat(command: Heartbeat): Rule<{ readonly cancelRequested: boolean }> {
  const row = yield* ask('execution', command.id);
  if (!row) return refuse('NOT_FOUND', `No execution ${command.id}.`, { id: command.id });
  const draft = new Draft(command.now);
  // Whose process is ours, that of a check say, needs not beat: we see its end.
  const mustBeat = row.deadlineAt !== null && !(yield* endsByItself(row));
  if (mustBeat && !isSettled(row.state)) draft.patch(row.id, { deadlineAt: command.until });
  return draft.done({ cancelRequested: row.cancelRequested !== null || isSettled(row.state) });
}

/** An outside program whose heartbeats have stopped is lost; one that beat meanwhile is looked at again in time. */
export function* beatOrLose(command: {
  readonly now: number;
  readonly id: ExecutionId;
  readonly noticeId: NoticeId;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  const row = yield* ask('execution', command.id);
  if (!row || isSettled(row.state) || row.deadlineAt === null) return draft.done(false);
  if (yield* endsByItself(row)) return draft.done(false);
  if (row.deadlineAt > command.now) {
    draft.wake('heartbeat', row.id, row.deadlineAt);
    return draft.done(false);
  }
  const error = { code: 'LOST', message: 'Its heartbeats stopped.' };
  yield* end(draft, row, { state: row.cancelRequested ? 'cancelled' : 'lost', error }, command.noticeId);
  return draft.done(true);
}
