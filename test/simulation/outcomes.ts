import type { Execution } from '../../src/ledger/execution.ts';
import type { CommitContext } from './checks-context.ts';
import { describe } from './observer.ts';

/** What was cancelled ends as cancelled, and nothing else does; a result is dropped for a stated and true reason only. */
export function checkOutcomes(context: CommitContext): void {
  const { world, before, after } = context;
  const old = new Map(before.executions.map((row) => [row.id, row]));
  for (const row of after.executions) {
    const was = old.get(row.id);
    if (
      row.cancelRequested !== null &&
      !was?.cancelRequested &&
      world.asked.cancels === 0 &&
      !isStoppedFlow(after, row) &&
      !hasTimedOut(context) &&
      !hasOverspent(context) &&
      !isStoppedChild(context, row) &&
      !isBesideFailure(context, row)
    )
      world.violations.report(
        'BYSTANDER',
        `${describe(row)} is cancelled, and nobody asked for anything to be`,
      );
    if (row.state === 'cancelled' && was?.state !== 'cancelled') checkCancelled(context, row);
    const isStopped = row.error?.message.startsWith('Its turn was stopped') && !isOwnWake(context, row);
    if (isStopped && !was?.error) checkCancelled(context, row);
    const isEnded = row.error?.message === 'the session was stopped' && row.kind === 'message';
    if (isEnded && !was?.error && row.cancelRequested === null)
      world.violations.report('BYSTANDER', `${describe(row)} came after the stop, and was ended by it`);
    if (row.parentId === null && row.closed && !was?.closed) checkRoot(context, row);
  }
  checkDropped(context);
}

/**
 * What an agent takes up by itself, or what a person types, in a turn that is being stopped nobody can keep from it. A result
 * is handed over again.
 */
function isOwnWake({ world, continuations }: CommitContext, row: Execution): boolean {
  if (world.truth.typed.has(row.name)) return true;
  const results = [...(continuations.get(row.id) ?? [])];
  return results.some((label) => world.truth.works.get(label)?.kind === 'task');
}

/** Whether something was ended because something beside it had failed. */
function hasFailedFast({ after }: Pick<CommitContext, 'after'>): boolean {
  return after.executions.some((row) => row.cancelRequested?.actor.kind === 'system');
}

/** What was given out beside something that failed is ended with it, and all that is below it. */
function isBesideFailure({ after }: CommitContext, row: Execution): boolean {
  const rows = new Map(after.executions.map((each) => [each.id, each]));
  for (
    let at: Execution | undefined = row;
    at;
    at = at.parentId === null ? undefined : rows.get(at.parentId)
  ) {
    const { parentId } = at;
    if (at.cancelRequested?.actor.kind !== 'system' || at.mode !== 'batch') continue;
    return after.executions.some(
      (other) => other.parentId === parentId && (other.state === 'failed' || other.state === 'lost'),
    );
  }
  return false;
}

/** Whether it, or something above it, is a sub-agent that whoever started it has stopped. */
function isStoppedChild({ world, after }: CommitContext, row: Execution): boolean {
  for (let at: Execution | undefined = row; at; ) {
    const { parentId, name, cancelRequested }: Execution = at;
    if (cancelRequested?.actor.kind === 'agent' && world.asked.stoppedChildren.has(name)) return true;
    at = after.executions.find(({ id }) => id === parentId);
  }
  return false;
}

/** Whether it is below a workflow that ends everything when one of its steps has failed. */
function isStoppedFlow(after: CommitContext['after'], row: Execution): boolean {
  for (let at: Execution | undefined = row; at; ) {
    const { parentId, cancelRequested }: Execution = at;
    const isFlow = after.graphs.some(({ id, isStopping }) => id === parentId && isStopping);
    if (isFlow && cancelRequested?.actor.kind === 'system') return true;
    at = after.executions.find(({ id }) => id === parentId);
  }
  return false;
}

/** Whether a deadline has ended something, which it may do only when it has passed. */
function hasTimedOut({ before, after, world }: Pick<CommitContext, 'before' | 'after' | 'world'>): boolean {
  const now = world.clock.now();
  const old = new Map(before.executions.map((row) => [row.id, row]));
  return after.executions.some((row) => {
    if (row.cancelRequested?.actor.kind !== 'deadline') return false;
    // What ends with it may move its deadline in the same commit.
    const was = old.get(row.id);
    return Boolean(was?.cancelRequested) || (was?.deadlineAt ?? Infinity) <= now;
  });
}

/** Whether some tree has used more than it was given. */
function hasOverspent({ after }: Pick<CommitContext, 'after'>): boolean {
  return after.executions.some(isOverspent);
}

/** Only what was asked to stop, or whose turn a person interrupted, is cancelled. */
function checkCancelled({ world }: CommitContext, row: Execution): void {
  if (row.cancelRequested !== null || row.kind === 'task') return;
  if (row.runsIn !== null && world.asked.interrupted.has(row.runsIn)) return;
  // A conversation that is a program ends as its last message does.
  if (row.kind === 'agent' || row.kind === 'review' || (row.kind === 'step' && row.runsIn !== null)) return;
  world.violations.report('BYSTANDER', `${describe(row)} is cancelled, and nobody asked for it`);
}

function checkRoot({ world }: CommitContext, row: Execution): void {
  // Another reason may have come first; a person's word goes before all of them.
  if (isOverspent(row) && (row.outcome === 'succeeded' || row.outcomeCode === null))
    world.violations.report('OVERSPENT', `${row.name} has used too much, and its outcome is ${row.outcome}`);
  if (row.outcomeCode === 'BUDGET' && !isOverspent(row))
    world.violations.report('BYSTANDER', `${row.name} is said to have used too much, and has not`);
  if (row.cancelRequested === null) return;
  const { outcome, outcomeCode } = row;
  const { kind } = row.cancelRequested.actor;
  const isRight =
    outcome === 'cancelled' || ((kind === 'deadline' || kind === 'budget') && outcome === 'failed');
  if (!isRight && row.cancelRequested.actor.kind !== 'parent')
    world.violations.report(
      'UNCANCELLED',
      `${row.name} was cancelled, and its outcome is ${outcome} ${outcomeCode}`,
    );
}

function isOverspent({ budget, spent }: Execution): boolean {
  const tokens = (spent?.inputTokens ?? 0) + (spent?.outputTokens ?? 0);
  return tokens > (budget?.tokens ?? Infinity) || (spent?.usd ?? 0) > (budget?.usd ?? Infinity);
}

function checkDropped({ world, before, after }: CommitContext): void {
  const old = new Map(before.notices.map((notice) => [notice.id, notice]));
  for (const notice of after.notices) {
    if (notice.state !== 'waived' || old.get(notice.id)?.state === 'waived') continue;
    const name = after.executions.find((row) => row.id === notice.executionId)?.name ?? '';
    const reason = notice.reason ?? '';
    const isTrue: Record<string, boolean> = {
      dropped: true,
      detached: true,
      cancelled:
        hasFailedFast({ after }) ||
        world.asked.cancels > 0 ||
        world.asked.stoppedChildren.size > 0 ||
        hasTimedOut({ before, after, world }) ||
        hasOverspent({ after }),
      interrupted: world.asked.interrupted.has(notice.sessionId) || world.asked.cancels > 0,
      // An agent that may be told of results once only has started work again.
      rounds_exceeded: world.isGiving || world.isWorking,
      session_stopped: world.asked.stopped.has(notice.sessionId),
      undeliverable: notice.attempt >= 2 || world.facts.isConversationGone,
      session_gone: world.facts.isConversationGone,
      capacity: world.asked.givenUp > 0,
      login: world.asked.givenUp > 0,
    };
    if (!isTrue[reason]) world.violations.report('LOST', `the result of ${name} was dropped: ${reason}`);
  }
}
