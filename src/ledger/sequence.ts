import type { ExecutionId, FreshIds, RunId, SessionId } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import { addMessage, refusalOfSend } from './enqueue.ts';
import type { Execution, Outcome } from './execution.ts';
import { isSettled, outcomeOf } from './execution.ts';
import { oweVerdict } from './notifying.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import type { PlannedMessage, Run } from './session.ts';
import { newRun } from './session.ts';
import { end } from './settle.ts';

/** A new run of a sequence of messages in a session. */
export interface BeginRun {
  readonly now: number;
  readonly id: RunId;
  readonly project: string;
  readonly name: string;
  readonly sessionId: SessionId;
  readonly plan: readonly PlannedMessage[];
}

/** Writes the run; its first message goes out by `advance`, like every other. */
export function* beginRun(command: BeginRun): Rule<RunId> {
  if (yield* ask('run', command.id)) return new Draft(command.now).done(command.id);
  const session = yield* ask('session', command.sessionId);
  if (!session) return refuse('NOT_FOUND', `No session ${command.sessionId}.`, { id: command.sessionId });
  const draft = new Draft(command.now);
  const { id, project, name, sessionId, plan, now } = command;
  const row = newRun({ id, project, name, sessionId, ownerId: null, plan, createdAt: now });
  draft.add({ do: 'insertRun', row });
  draft.tell({ type: 'run.state', rootId: null, sessionId, data: { runId: id, state: 'running' } });
  draft.wake('run', id);
  return draft.done(id);
}

/** Somebody looks whether a run may go on. */
export interface Advance {
  readonly now: number;
  readonly id: RunId;
  /** How many messages the caller believes were sent: the compare-and-set that makes a repetition harmless (R13). */
  readonly cursor: number;
  readonly fresh: FreshIds;
}

/** `notYet`: the message before is open. `stale`: the caller did not know how far the run was; nothing was done. */
export type Advanced = 'sent' | 'ended' | 'notYet' | 'stale';

/**
 * The only thing that ever sends a scheduled message: when the message before it is closed, decides by its outcome, and
 * sends the next or ends the run. Cursor, message and queue entry are one transaction.
 */
export function* advance(command: Advance): Rule<Advanced> {
  const draft = new Draft(command.now);
  const run = yield* ask('run', command.id);
  if (!run || run.state === 'ended') return draft.done<Advanced>('stale');
  const isStale = run.cursor !== command.cursor;
  if (isStale && rules.advanceOnce) return draft.done<Advanced>('stale');
  // Without the rule, whoever looked before another one advanced believes that the message it saw was the last.
  const currentId = isStale ? null : run.currentId;
  const current = currentId === null ? undefined : yield* ask('execution', currentId);
  if (current && !current.closed) return draft.done<Advanced>('notYet');
  const last = current ? outcomeOf(current) : undefined;
  const stops = yield* whyStop(run, last);
  if (stops) {
    yield* endRun(draft, run, stops, current, command.fresh);
    return draft.done<Advanced>('ended');
  }
  yield* sendNext(draft, run, command.fresh);
  return draft.done<Advanced>('sent');
}

interface Verdict {
  readonly outcome: Outcome;
  readonly code: string | null;
}

/** Why no further message is sent, if so. Cancellation is latched between two messages too. */
function* whyStop(run: Run, last: Verdict | undefined): Asking<Verdict | undefined> {
  if (run.cancelRequested) return { outcome: 'cancelled', code: 'CANCELLED' };
  if (last?.outcome === 'cancelled') return last;
  const before = run.plan[run.cursor - 1];
  if (last?.outcome === 'failed' && before?.onFailure !== 'continue') return last;
  if (run.cursor >= run.plan.length) return last ?? { outcome: 'succeeded', code: null };
  const owner = run.ownerId === null ? undefined : yield* ask('execution', run.ownerId);
  const session = yield* ask('session', run.sessionId);
  const refused = session ? yield* refusalOfSend(session, owner) : undefined;
  if (!refused) return undefined;
  return refused.code === 'CANCELLED' || refused.code === 'SESSION_STOPPED'
    ? { outcome: 'cancelled', code: 'CANCELLED' }
    : { outcome: 'failed', code: refused.code };
}

function* sendNext(draft: Draft, run: Run, fresh: FreshIds): Asking<void> {
  const planned = run.plan[run.cursor];
  const session = yield* ask('session', run.sessionId);
  const owner = run.ownerId === null ? undefined : yield* ask('execution', run.ownerId);
  if (!planned || !session) throw new Error(`run ${run.id} has no message ${run.cursor} or no session`);
  const id = fresh.at('execution', 0);
  yield* addMessage(draft, session, {
    id,
    sessionId: run.sessionId,
    text: planned.text,
    timeoutMs: planned.timeoutMs,
    join: planned.join,
    check: planned.check,
    background: planned.background,
    budget: planned.budget ?? null,
    run: { id: run.id, index: run.cursor, attempt: 1 },
    ...(owner ? { parent: owner } : {}),
  });
  draft.add({ do: 'patchRun', id: run.id, set: { cursor: run.cursor + 1, currentId: id } });
  draft.tell({
    type: 'run.advanced',
    rootId: owner?.rootId ?? id,
    sessionId: run.sessionId,
    data: { runId: run.id, index: run.cursor, executionId: id },
  });
}

function* endRun(
  draft: Draft,
  run: Run,
  verdict: Verdict,
  current: Execution | undefined,
  fresh: FreshIds,
): Asking<void> {
  const { outcome, code } = verdict;
  draft.add({
    do: 'patchRun',
    id: run.id,
    set: { state: 'ended', outcome, outcomeCode: code, endedAt: draft.now },
  });
  draft.tell({
    type: 'run.state',
    rootId: null,
    sessionId: run.sessionId,
    data: { runId: run.id, state: 'ended', outcome, code },
  });
  yield* oweVerdict(draft, run, { outcome, code, text: current?.error?.message ?? null });
  if (run.ownerId === null) return;
  const owner = yield* ask('execution', run.ownerId);
  if (!owner || isSettled(owner.state)) return;
  if (owner.open + draft.added(owner.id) > 0) draft.patch(owner.id, { drain: 0 });
  else yield* settleOwner(draft, owner, verdict, current, fresh);
}

/** The program of a background agent has ended and nothing below it is open: it settles with its last message's result. */
function* settleOwner(
  draft: Draft,
  owner: Execution,
  verdict: Verdict,
  current: Execution | undefined,
  fresh: FreshIds,
): Asking<void> {
  const state = owner.cancelRequested ? 'cancelled' : verdict.outcome;
  const error = current?.error ?? {
    code: verdict.code ?? 'AGENT_FAILED',
    message: `The agent's message ended as ${verdict.code}.`,
  };
  yield* end(
    draft,
    owner,
    {
      state,
      result: current?.result ?? null,
      ...(state === 'failed' ? { error } : {}),
    },
    fresh.at('notice', 0),
  );
}

/** A composite whose program had ended and whose deficit has fallen to zero settles now, and closes with it. */
export function* drained(command: {
  readonly now: number;
  readonly id: ExecutionId;
  readonly fresh: FreshIds;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  const run = yield* ask('runOwnedBy', command.id);
  const owner = yield* ask('execution', command.id);
  if (!run || run.state !== 'ended' || !owner || isSettled(owner.state) || owner.open > 0)
    return draft.done(false);
  const current = run.currentId === null ? undefined : yield* ask('execution', run.currentId);
  const verdict: Verdict = { outcome: run.outcome ?? 'failed', code: run.outcomeCode };
  yield* settleOwner(draft, owner, verdict, current, command.fresh);
  return draft.done(true);
}

/** Latches the cancellation of a run; the message that is open is cancelled by its caller, the next is never sent. */
export function* cancelRun(command: { readonly now: number; readonly id: RunId }): Rule<Run> {
  const run = yield* ask('run', command.id);
  if (!run) return refuse('NOT_FOUND', `No run ${command.id}.`, { id: command.id });
  const draft = new Draft(command.now);
  if (run.state === 'ended' || run.cancelRequested) return draft.done(run);
  draft.add({ do: 'patchRun', id: run.id, set: { cancelRequested: true } });
  draft.wake('run', run.id);
  return draft.done(run);
}
