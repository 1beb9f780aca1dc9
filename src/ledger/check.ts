import type { ExecutionId } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { isCheckOf, isSettled } from './execution.ts';
import { ask } from './questions.ts';

/** A check that may run now. */
export interface CheckToRun {
  readonly message: Execution;
  readonly check: Execution;
}

/** Most children of one message that are looked at: all but one of them were detached. */
const childLimit = 100_000;

/** Everything below the message but its check is closed: the check starts, once. */
export function* startCheck(command: {
  readonly now: number;
  readonly messageId: ExecutionId;
}): Rule<CheckToRun | undefined> {
  const draft = new Draft(command.now);
  const message = yield* ask('execution', command.messageId);
  if (!message || message.drain === null || message.open !== 1 || !isSettled(message.state))
    return draft.done<CheckToRun | undefined>(undefined);
  // What was detached may live on; it is not counted, and it is no check.
  const below = yield* ask('openChildren', message.id, childLimit);
  const check = below.find((child) => child.detachedAt === null);
  if (!check || !isCheckOf(check, message) || check.cancelRequested)
    return draft.done<CheckToRun | undefined>(undefined);
  if (check.state === 'queued') {
    draft.patch(check.id, { state: 'running', startedAt: command.now });
    draft.event('execution.started', check);
  }
  return draft.done<CheckToRun | undefined>({ message, check });
}
