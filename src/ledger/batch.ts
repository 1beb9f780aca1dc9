import type { ExecutionId } from '../base/ids.ts';
import type { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { isCheckOf, isSettled } from './execution.ts';
import { mismatch, waive } from './hand-over.ts';
import type { Notice } from './notice.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import type { Session } from './session.ts';
import type { Orchestration } from './step-plan.ts';

/*
 * What a controller's agent gives out in one turn comes back at once: when the turn has ended and all of it is closed, one
 * continuation takes all results. Hold edges are no reason to wait: two turns that hold work of each other would wait for ever.
 */

/** Results that are handed over in one continuation. */
export interface Batch {
  readonly parent: Execution;
  readonly notices: readonly Notice[];
  /** Of results that come together: for which time this agent is given some, from 1 on, because of this message. */
  readonly round?: number;
  /** How often it may be; null: as often as it likes. */
  readonly maxRounds?: number | null;
}

/** The program of the session's host, as far as it gives out work; null where nothing says how. */
export function* orchestrationOf(session: Pick<Session, 'hostedBy'>): Asking<Orchestration | null> {
  if (session.hostedBy === null) return null;
  return (yield* ask('runOwnedBy', session.hostedBy))?.todo ?? null;
}

/** The results to hand over together next. Misdirected ones, and those of one round too many, are waived on the way. */
export function* wholeBatch(draft: Draft, session: Session): Asking<Batch | undefined> {
  for (const parent of yield* ask('batchesFor', session.id)) {
    const notices = yield* readyBatch(parent);
    const first = notices?.[0];
    if (!notices || !first) continue;
    if (notices.some((notice) => notice.notBefore > draft.now)) continue;
    const why = mismatch(parent, first);
    if (why) {
      yield* refuse(draft, parent, notices, why);
      continue;
    }
    const batch = yield* inItsRound(draft, session, parent, notices);
    if (batch) return batch;
  }
  return undefined;
}

/** Results that may not go where they are bound are dropped, visibly. */
function* refuse(draft: Draft, parent: Execution, notices: readonly Notice[], why: string): Asking<void> {
  for (const notice of notices) {
    yield* waive(draft, notice, why, { kind: 'system' });
    draft.event('alarm', parent, { what: why, noticeId: notice.id });
  }
}

/** The pending batch of an execution, if all of it is there and nobody it waits for is left. */
export function* readyBatch(parent: Execution): Asking<Notice[] | undefined> {
  if (rules.batchWhole && !isSettled(parent.state)) return undefined;
  // Its check waits for the results themselves.
  const [child] = (yield* ask('countedChildren', parent.id, 2)).filter((row) => !isCheckOf(row, parent));
  if (rules.batchWhole && child) return undefined;
  const pending = yield* ask('pendingOn', parent.id);
  if (rules.batchWhole && pending.some((notice) => notice.mode === 'each')) return undefined;
  return pending.filter((notice) => notice.mode === 'batch' && notice.state === 'owed');
}

/** A message that is given results more often than its orchestrator may be fails: what is there is dropped, and kept. */
function* inItsRound(
  draft: Draft,
  session: Session,
  parent: Execution,
  notices: readonly Notice[],
): Asking<Batch | undefined> {
  const { top, round } = yield* placeOf(parent, session);
  const maxRounds = (yield* orchestrationOf(session))?.maxRounds ?? null;
  if (maxRounds === null || round <= maxRounds) return { parent, notices, round, maxRounds };
  if (top.verdict === null) draft.patch(top.id, { verdict: 'ROUNDS_EXCEEDED' });
  for (const notice of notices) yield* waive(draft, notice, 'rounds_exceeded', { kind: 'system' });
  return undefined;
}

/** The message because of which an execution of a session goes on, and which round a hand-over below it would be. */
function* placeOf(from: Execution, session: Session): Asking<{ top: Execution; round: number }> {
  let round = 1;
  for (let row = from; ; ) {
    if (row.kind === 'continuation') {
      const [handled] = yield* ask('noticesOfContinuation', row.id);
      if (handled?.mode === 'batch') round++;
    }
    const above = yield* aboveIn(session, row);
    if (!above) return { top: row, round };
    row = above;
  }
}

/** What an execution of a session is a part of, in the same session. */
function* aboveIn(session: Session, row: Execution): Asking<Execution | undefined> {
  if (row.parentId === null || row.detachedAt !== null) return undefined;
  const above = yield* ask('execution', row.parentId);
  const isOfTurn = above?.kind === 'message' || above?.kind === 'continuation' || above?.kind === 'late';
  return isOfTurn && above.runsIn === session.id ? above : undefined;
}

/**
 * Who holds what a controller's agent launches in a turn that is not only its parent's: the messages, and not the handling of
 * results below them. A handling that is held open by a result keeps the batch above it back; two of these would wait for each
 * other.
 */
export function* holdersAbove(
  session: Session,
  holders: readonly ExecutionId[],
  parent: Execution,
): Asking<ExecutionId[]> {
  if (session.delivery === 'auto' || holders.every((id) => id === parent.id)) return [...holders];
  const own = yield* placeOf(parent, session);
  const tops = new Set<ExecutionId>();
  for (const id of holders) {
    const holder = yield* ask('execution', id);
    if (holder) tops.add((yield* placeOf(holder, session)).top.id);
  }
  tops.delete(own.top.id);
  return [...tops];
}
