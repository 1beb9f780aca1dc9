import type { Budget, ExecutionUsage } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Retry } from './planned-message.ts';
import type { PlannedMessage, Run } from './session.ts';
import { addUsage } from './spending.ts';

/** The longest back-off between two attempts of a message, in milliseconds: an hour. */
export const longestRetryMs = 60 * 60_000;

/**
 * Failures that another attempt would not mend: a budget that is spent, and a limit that a person gave up waiting for. What
 * was cancelled is no failure.
 */
const final: ReadonlySet<string | null> = new Set(['BUDGET', 'CAPACITY', 'SIGNED_OUT']);

/** Whether a message that failed with this code is to be sent once more. */
export function mayRetry(
  planned: PlannedMessage | undefined,
  tries: number,
  code: string | null,
): planned is PlannedMessage {
  return tries <= (planned?.retry?.max ?? 0) && !final.has(code);
}

/** Whether a step whose attempt failed with this code is to be tried once more. */
export function mayRetryStep(retry: Retry | null, tries: number, code: string | null): boolean {
  return tries <= (retry?.max ?? 0) && !final.has(code);
}

/** How long the run waits after the attempt with this number has failed: twice as long each time. */
export function retryDelayMs(backoffMs: number, tries: number): number {
  return Math.min(backoffMs * 2 ** Math.min(tries - 1, 40), longestRetryMs);
}

/** What all attempts of all messages of the run have used so far, detached work below them included. */
export function* spentBy(run: Run): Asking<ExecutionUsage | null> {
  // What a step has used is counted at it: a run may have as many messages as there are rows. Without one, all were written by hand.
  const owner = run.ownerId === null ? undefined : yield* ask('execution', run.ownerId);
  if (owner?.budget) return owner.spent;
  let spent: ExecutionUsage | null = null;
  for (const message of yield* ask('messagesOfRun', run.id, Number.MAX_SAFE_INTEGER))
    if (message.spent) spent = addUsage(spent, message.spent);
  return spent;
}

/** What is left of the budget of a run; null: it has none. Nothing is below zero. */
export function* budgetLeft(run: Run): Asking<Budget | null> {
  const { budget } = run;
  if (!budget) return null;
  const spent = yield* spentBy(run);
  const tokens = (spent?.inputTokens ?? 0) + (spent?.outputTokens ?? 0);
  return {
    ...(budget.tokens === undefined ? {} : { tokens: Math.max(0, budget.tokens - tokens) }),
    ...(budget.usd === undefined ? {} : { usd: wholeNanos(Math.max(0, budget.usd - (spent?.usd ?? 0))) }),
  };
}

/** To a billionth of a dollar, as sums are kept: a difference of fractions is no money. */
function wholeNanos(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

/** Whether nothing more can be sent with what is left. */
export function isUsedUp(left: Budget | null): boolean {
  return left !== null && (left.tokens === 0 || left.usd === 0);
}

/** The smaller of two budgets, field by field. */
export function smallerBudget(a: Budget | null, b: Budget | null): Budget | null {
  if (!a || !b) return a ?? b;
  const tokens = Math.min(a.tokens ?? Infinity, b.tokens ?? Infinity);
  const usd = Math.min(a.usd ?? Infinity, b.usd ?? Infinity);
  return { ...(Number.isFinite(tokens) ? { tokens } : {}), ...(Number.isFinite(usd) ? { usd } : {}) };
}
