import type { ExecutionId } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { ask } from './questions.ts';

/** A check that may run now. */
export interface CheckToRun {
  readonly message: Execution;
  readonly check: Execution;
}

/** Everything below the message but its check is closed: the check starts, once. */
export function* startCheck(command: {
  readonly now: number;
  readonly messageId: ExecutionId;
}): Rule<CheckToRun | undefined> {
  const draft = new Draft(command.now);
  const message = yield* ask('execution', command.messageId);
  if (!message || message.check === null || message.open !== 1)
    return draft.done<CheckToRun | undefined>(undefined);
  const [check] = yield* ask('openChildren', message.id, 1);
  if (!check || check.kind !== 'step' || check.cancelRequested)
    return draft.done<CheckToRun | undefined>(undefined);
  if (check.state === 'queued') {
    draft.patch(check.id, { state: 'running', startedAt: command.now });
    draft.event('execution.started', check);
  }
  return draft.done<CheckToRun | undefined>({ message, check });
}

/** The check said no: the message fails with it, whatever its turn said. Before the check itself settles. */
export function* failCheck(command: {
  readonly now: number;
  readonly messageId: ExecutionId;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  const message = yield* ask('execution', command.messageId);
  if (!message || message.closed || message.verdict !== null) return draft.done(false);
  draft.patch(message.id, { verdict: 'CHECK_FAILED' });
  return draft.done(true);
}
