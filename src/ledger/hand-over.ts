import type { ExecutionId, SessionId } from '../base/ids.ts';
import { clocksAbove, settleSlotWait, shiftDeadline } from './clock.ts';
import type { Draft } from './decision.ts';
import type { Actor, Execution } from './execution.ts';
import { atEveryFall } from './execution.ts';
import type { Notice } from './notice.ts';
import { backOffMs, deliveryAttempts, isPending } from './notice.ts';
import { oweOfTree } from './notifying.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { distinct, newExecution } from './registration.ts';

/** Removes a pending notice from the deficits that count it, or puts it back (`by` = 1). */
export function* count(draft: Draft, notice: Notice, by: 1 | -1): Asking<void> {
  draft.open(notice.countedOn, by);
  for (const holder of yield* ask('holders', notice.executionId)) draft.open(holder, by);
}

/** A result that is handed over with others is pending: whenever a deficit falls there it may be time. */
export function watchBatch(draft: Draft, { mode, countedOn }: Pick<Notice, 'mode' | 'countedOn'>): void {
  if (mode === 'batch') draft.patch(countedOn, { drain: atEveryFall });
}

/** Why this notice may not go where it is bound, if so: a result never lands in somebody else's chat (invariant 7). */
export function mismatch(parent: Execution, notice: Notice): string | undefined {
  if (notice.countedOn === notice.executionId || parent.runsIn === null) return undefined;
  return parent.runsIn === notice.sessionId ? undefined : 'session_mismatch';
}

/**
 * Hands notices of one parent over to a new continuation, in the transaction in which its turn is known: each notice
 * leaves the deficits that counted it, and the continuation, a child of the same parent under the same holders, enters.
 */
export function* handOver(
  draft: Draft,
  notices: readonly Notice[],
  parent: Execution,
  continuationId: ExecutionId,
  sessionId: SessionId,
): Asking<Execution> {
  const holders: ExecutionId[] = [];
  const names: string[] = [];
  for (const notice of notices) {
    holders.push(...(yield* ask('holders', notice.executionId)));
    const of = yield* ask('execution', notice.executionId);
    if (of) names.push(`${of.name} ${of.state}`);
  }
  const row = newExecution(draft.now, parent, 'explicit', {
    id: continuationId,
    kind: 'continuation',
    name: names.join(', ').slice(0, 200),
    runsIn: sessionId,
    cancelledBy: sessionId,
    // What the agent begins in the background while it handles results is the message's own as well.
    background: parent.background,
  });
  draft.register(row, distinct(holders, parent.id));
  for (const notice of notices) {
    if (isPending(notice.state)) yield* count(draft, notice, -1);
    // A claim counted this hand-over already; its number is in the text.
    const epoch = notice.state === 'claimed' ? notice.epoch : notice.epoch + 1;
    draft.notice(notice, 'hand', { continuationId, epoch, handedAt: draft.now });
  }
  return row;
}

/** The turn took the text up and succeeded. */
export function handle(draft: Draft, notice: Notice): void {
  draft.notice(notice, 'handle', { handledAt: draft.now });
}

/** Drops a notice for a stated reason. Pending ones leave the deficits. */
export function* waive(draft: Draft, notice: Notice, reason: string, actor: Actor): Asking<void> {
  if (isPending(notice.state)) {
    yield* count(draft, notice, -1);
    yield* resumeAbove(draft, notice);
  }
  draft.notice(notice, 'waive', { reason, actor });
}

/** It waits for the limit of its session, or for a turn slot, no more: the clocks above it go on. */
function* resumeAbove(draft: Draft, notice: Notice): Asking<void> {
  const limit = (yield* ask('session', notice.sessionId))?.limit;
  const held = limit ?? (yield* ask('admission', notice.sessionId));
  if (!held) return;
  const since = Math.max(held.since, notice.owedAt);
  for (const row of yield* clocksAbove(yield* ask('execution', notice.countedOn)))
    if (limit) shiftDeadline(draft, row, draft.now - since);
    else yield* settleSlotWait(draft, row, since);
}

/** A claim whose text will provably never be taken up: owed again, at once, and no attempt is spent. */
export function giveBackClaim(draft: Draft, notice: Notice): void {
  draft.notice(notice, 'giveBack', { steerId: null });
  draft.wake('session', notice.sessionId);
}

/**
 * A handed notice whose continuation did not succeed: owed again, marked as a redelivery, until the attempts are spent;
 * then the result is kept, people are told, and the root fails with the reason. `spends`: a wait for capacity or a
 * sign-in is no attempt.
 */
export function* giveBackHanded(
  draft: Draft,
  notice: Notice,
  how: { readonly spends: boolean; readonly notBefore?: number },
): Asking<void> {
  const attempt = notice.attempt + (how.spends ? 1 : 0);
  if (attempt >= deliveryAttempts) {
    yield* giveUp(draft, notice, 'undeliverable', 'NOTICE_UNDELIVERABLE');
    return;
  }
  const notBefore = how.notBefore ?? draft.now + (how.spends ? backOffMs(attempt) : 0);
  draft.notice(notice, 'giveBack', {
    attempt,
    notBefore,
    continuationId: null,
    steerId: null,
  });
  yield* count(draft, notice, 1);
  watchBatch(draft, notice);
  if (notBefore < Number.MAX_SAFE_INTEGER) draft.wake('session', notice.sessionId, notBefore);
}

/** Waives a notice that cannot be delivered: its root reports the failure, and people are told. */
export function* giveUp(draft: Draft, notice: Notice, reason: string, code: string): Asking<void> {
  yield* waive(draft, notice, reason, { kind: 'system' });
  const root = yield* ask('execution', notice.rootId);
  if (!root) return;
  // What is below something detached may outlive its root, whose outcome is decided.
  if (root.verdict === null && !root.closed) draft.patch(root.id, { verdict: code });
  draft.event('alarm', root, { what: reason, noticeId: notice.id });
  // What a person gave up is no news to people.
  if (reason === 'undeliverable' || reason === 'session_gone')
    yield* oweOfTree(draft, 'undeliverable', notice.id, notice, { code });
}
