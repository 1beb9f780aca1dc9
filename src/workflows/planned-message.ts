import type { Budget as WireBudget } from '../contract/budget.ts';
import type { SequenceMessage } from '../contract/sequence.ts';
import type { Budget } from '../ledger/execution.ts';
import type { Retry, TextMessage } from '../ledger/planned-message.ts';
import { defaultTimeoutMs } from '../ledger/registration.ts';

/** One message of a plan, with what was left out filled in. */
export function plannedMessage(message: SequenceMessage): TextMessage {
  return {
    text: message.text,
    timeoutMs: message.timeout ?? defaultTimeoutMs,
    onFailure: message.onFailure ?? 'stop',
    join: message.join ?? 'own',
    check: message.check ?? null,
    background: message.background ?? 'wait',
    ...(message.budget === undefined ? {} : { budget: budgetOf(message.budget) }),
    ...(message.retry === undefined ? {} : { retry: retryOf(message.retry) }),
  };
}

/** A budget of the wire as the ledger keeps it. */
export function budgetOf({ usd, tokens }: WireBudget): Budget {
  return { ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) };
}

/** How long after the end of an attempt the next one goes out if nobody says, in milliseconds. */
const defaultBackoffMs = 60_000;

/** How often something that failed is tried again. */
export function retryOf({ max, backoff = defaultBackoffMs }: NonNullable<SequenceMessage['retry']>): Retry {
  return { max, backoffMs: backoff };
}
