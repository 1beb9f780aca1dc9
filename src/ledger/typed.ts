import type { ExecutionId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import type { Draft } from './decision.ts';
import { firstLine } from './enqueue.ts';
import type { CancelRequest, Execution } from './execution.ts';
import { endAgainMs } from './interruption.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { defaultTimeoutMs, newExecution } from './registration.ts';
import type { Session } from './session.ts';

/** A text that a person typed at the agent's own screen, by the agent's name for it. */
export interface TypedText {
  readonly id: string;
  readonly text: string;
}

/**
 * Registers the message that a typed text is: a root of its own, which never waited in a queue, since the agent has taken
 * it up already. Undefined when it is known, or is a text of ours that the driver does not recognise any more.
 */
export function* registerTyped(
  draft: Draft,
  session: Session,
  typed: TypedText,
  id: ExecutionId,
): Asking<Execution | undefined> {
  if (isId('turn', typed.id) || isId('steer', typed.id)) return undefined;
  // After a restart, what happened in the running turn is told again.
  for (const turnId of [session.wakeTurn, session.laneTurn, session.lastTurn]) {
    const owners = turnId === null ? [] : yield* ask('owners', turnId);
    if (owners.some((owner) => owner.kind === 'message' && owner.nativeId === typed.id)) return undefined;
  }
  // Nobody knows whether it was typed before the stop, which is to end everything in the session: it ends with it.
  const cancelRequested: CancelRequest | null =
    session.state === 'stopped'
      ? { actor: { kind: 'system' }, at: draft.now, reason: 'the session was stopped' }
      : null;
  const deadlineAt = draft.now + (cancelRequested ? endAgainMs : defaultTimeoutMs);
  const row = newExecution(draft.now, null, 'none', {
    id,
    kind: 'message',
    name: firstLine(typed.text),
    project: session.project,
    runsIn: session.id,
    cancelledBy: session.id,
    timeoutMs: defaultTimeoutMs,
    deadlineAt: cancelRequested ? null : deadlineAt,
    cancelRequested,
    verdict: cancelRequested ? 'CANCELLED' : null,
    nativeId: typed.id,
  });
  draft.register(row, []);
  draft.event('execution.started', row);
  draft.wake('deadline', row.id, deadlineAt);
  return row;
}
