import type { ExecutionId, NoticeId } from '../base/ids.ts';
import { orchestrationOf } from './batch.ts';
import { resumeClocks } from './clock.ts';
import type { Draft, Ending, Rule } from './decision.ts';
import { Draft as NewDraft, refuse } from './decision.ts';
import type { Execution, SettledState } from './execution.ts';
import { isAttempt, isCheckOf, isSettled, waitsForAdmission } from './execution.ts';
import { codeOfRefusal } from './gate.ts';
import { watchBatch } from './hand-over.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { countsForJoin } from './registration.ts';

/** The end of an execution that is not settled by a turn: a step, a check, an outside program, a task. */
export interface Settle {
  readonly now: number;
  readonly id: ExecutionId;
  /** Id of the notice, should one be owed. */
  readonly noticeId: NoticeId;
  readonly ending: Ending;
}

/** Settles it and owes its notice in one transaction. A second end changes nothing and says how it had ended. */
export function* settle(command: Settle): Rule<{ readonly state: SettledState; readonly isNew: boolean }> {
  const row = yield* ask('execution', command.id);
  if (!row) return refuse('NOT_FOUND', `No execution ${command.id}.`, { id: command.id });
  const draft = new NewDraft(command.now);
  if (isSettled(row.state)) {
    draft.event('alarm', row, { what: 'lateEvidence', state: command.ending.state });
    return draft.done({ state: row.state, isNew: false });
  }
  if (yield* endsByItself(row)) {
    return refuse('ILLEGAL_STATE', `${row.id} ends with its turn or its run. Cancel it instead.`, {
      state: row.state,
    });
  }
  yield* end(draft, row, command.ending, command.noticeId);
  return draft.done({ state: command.ending.state, isNew: true });
}

/** What a turn or a run settles is settled by nothing else: its queue entry, its notices and its turn would stay behind. */
export function* endsByItself(row: Execution): Asking<boolean> {
  if (isAttempt(row)) return true;
  if (row.kind === 'agent' || row.kind === 'review') return (yield* ask('runOwnedBy', row.id)) !== undefined;
  if (row.kind === 'workflow' || row.kind === 'evaluation' || row.kind === 'step')
    return (yield* ask('graph', row.id)) !== undefined;
  return row.kind === 'message' || row.kind === 'continuation' || row.kind === 'late';
}

/** Settles within a larger decision. A notice is not delivered before `notBefore`. */
export function* end(
  draft: Draft,
  row: Execution,
  ending: Ending,
  noticeId: NoticeId,
  notBefore: number = draft.now,
): Asking<void> {
  if (isSettled(row.state) || draft.settles(row.id)) return;
  yield* resumeClocks(draft, row);
  // What it was in line for is left to others, at once and not when it is called.
  if (row.waiting && waitsForAdmission(row.waiting) && row.runsIn !== null) draft.wake('session', row.runsIn);
  draft.settle(row, ending);
  yield* countFailure(draft, row, ending.state);
  yield* refuseByCheck(draft, row, ending);
  if (!(yield* owesNotice(row))) return;
  yield* owe(draft, row, ending, noticeId, notBefore);
  yield* failFast(draft, row, ending.state);
}

/** Of what a controller's agent gave out, the first that fails ends the others, where that was asked for. */
function* failFast(draft: Draft, row: Execution, state: SettledState): Asking<void> {
  if (row.mode !== 'batch' || row.parentId === null || row.reportsTo === null) return;
  if (state !== 'failed' && state !== 'lost') return;
  const session = yield* ask('session', row.reportsTo);
  const todo = session && (yield* orchestrationOf(session));
  if (todo?.onChildFailure === 'cancel') draft.wake('controller', row.parentId);
}

/**
 * A check that did not say yes fails its message, whatever its turn said: in this very transaction, since the message may
 * close with it. One that is cancelled alone has not said yes; one that ends with its message says nothing.
 */
function* refuseByCheck(draft: Draft, row: Execution, { state, error }: Ending): Asking<void> {
  if (row.parentId === null || state === 'succeeded' || row.cancelRequested?.actor.kind === 'parent') return;
  const message = yield* ask('execution', row.parentId);
  if (message && isCheckOf(row, message) && message.verdict === null)
    draft.patch(message.id, { verdict: codeOfRefusal(error) });
}

/** A cancel from above or by the parent itself owes nothing; one by an operator, a budget or a deadline does. */
function* owesNotice(row: Execution): Asking<boolean> {
  if (row.mode === 'none' || row.reportsTo === null || row.detachedAt !== null) return false;
  const by = row.cancelRequested?.actor.kind;
  if (by === 'parent' || by === 'agent') return false;
  const countedOn = row.parentId === null ? row : yield* ask('execution', row.parentId);
  return countedOn?.cancelRequested === null;
}

function* owe(draft: Draft, row: Execution, ending: Ending, id: NoticeId, notBefore: number): Asking<void> {
  if (row.reportsTo === null || row.mode === 'none') return;
  const countedOn = row.parentId ?? row.id;
  // Nobody is there to be told, and nothing may wait for a person who may never come back.
  const isStopped = (yield* ask('session', row.reportsTo))?.state === 'stopped';
  draft.add({
    do: 'insertNotice',
    row: {
      id,
      executionId: row.id,
      rootId: row.rootId,
      countedOn,
      sessionId: row.reportsTo,
      mode: row.mode,
      state: isStopped ? 'waived' : 'owed',
      attempt: 0,
      epoch: 0,
      steerId: null,
      continuationId: null,
      reason: isStopped ? 'session_stopped' : null,
      actor: isStopped ? { kind: 'system' } : null,
      notBefore,
      owedAt: draft.now,
      handedAt: null,
      handledAt: null,
    },
  });
  draft.tell({
    type: isStopped ? 'notice.waived' : 'notice.owed',
    rootId: row.rootId,
    sessionId: row.reportsTo,
    data: { noticeId: id, executionId: row.id, state: ending.state },
  });
  if (isStopped) return;
  draft.open(countedOn, 1);
  for (const holder of yield* ask('holders', row.id)) draft.open(holder, 1);
  watchBatch(draft, { mode: row.mode, countedOn });
  draft.wake('session', row.reportsTo);
}

function* countFailure(draft: Draft, row: Execution, state: SettledState): Asking<void> {
  if (state !== 'failed' && state !== 'lost') return;
  if (row.key !== null) {
    const latest = yield* ask('latestKeyed', row.rootId, row.key);
    if (latest && latest.id !== row.id) return;
  }
  yield* addFailure(draft, row, 1);
}

/**
 * Counts a failure, or takes it back, on every message above that asked for all below it to succeed: a root, and those of
 * the background agents in between, up to one that did not ask. What is closed has decided.
 */
export function* addFailure(draft: Draft, row: Execution, by: 1 | -1): Asking<void> {
  if (row.join !== 'all' || !countsForJoin(row.kind)) return;
  let above = row.parentId === null ? undefined : yield* ask('execution', row.parentId);
  while (above?.join === 'all') {
    if (above.kind === 'message' && !above.closed) draft.add({ do: 'failures', id: above.id, by });
    above = above.parentId === null ? undefined : yield* ask('execution', above.parentId);
  }
}

/** `join: 'all'` counts the last attempt of each thing: a new attempt takes back the failure of the one before. */
export function* uncountEarlierFailure(draft: Draft, row: Execution): Asking<void> {
  if (row.key === null) return;
  const earlier = yield* ask('latestKeyed', row.rootId, row.key);
  if (earlier?.state === 'failed' || earlier?.state === 'lost') yield* addFailure(draft, earlier, -1);
}
