import type { FreshIds, TurnId } from '../base/ids.ts';
import { callBehind } from './admission.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution, Failure, Waiting } from './execution.ts';
import { isSettled } from './execution.ts';
import { giveBackHanded, giveUp, waive } from './hand-over.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import type { Session } from './session.ts';
import { end } from './settle.ts';
import type { Turn } from './turn.ts';

/** Refused sends after which a message fails instead of going back to the queue. */
const refusalLimit = 3;

/** A text that the agent provably never got (R9): refused, or absent from record and queue of a known-idle agent. */
export interface SendFailed {
  readonly now: number;
  readonly turnId: TurnId;
  readonly error: Failure;
  /** No other send can succeed: the program does not exist, or the conversation is gone. */
  readonly isFinal: boolean;
  readonly fresh: FreshIds;
}

/** Puts back only what this send carried: the message to the head of its queue, the notices to be owed again. */
export function* sendFailed(command: SendFailed): Rule<boolean> {
  const draft = new Draft(command.now);
  const turn = yield* ask('turn', command.turnId);
  if (!turn || turn.state !== 'starting' || !rules.sendProof) return draft.done(false);
  const session = yield* ask('session', turn.sessionId);
  if (!session) return draft.done(false);
  for (const owner of yield* ask('owners', turn.id)) {
    if (isSettled(owner.state)) continue;
    if (owner.kind === 'message') yield* returnMessage(draft, session, turn, owner, command);
    else yield* failContinuation(draft, owner, command);
  }
  draft.add({
    do: 'patchTurn',
    id: turn.id,
    set: { state: 'ended', status: 'refused', endedAt: command.now },
  });
  // What the agent began by itself meanwhile now holds the lane.
  draft.add({ do: 'patchSession', id: session.id, set: { laneTurn: session.wakeTurn, wakeTurn: null } });
  draft.tell({
    type: 'turn.ended',
    rootId: null,
    sessionId: session.id,
    data: { turnId: turn.id, status: 'refused' },
  });
  draft.wake('session', session.id);
  yield* callBehind(draft);
  return draft.done(true);
}

function* returnMessage(
  draft: Draft,
  session: Session,
  turn: Turn,
  message: Execution,
  command: SendFailed,
): Asking<void> {
  // Every earlier send of it ended a turn as refused: that is the count.
  const refusals = yield* ask('refusedTurns', message.id, turn.id);
  if (message.cancelRequested) {
    yield* end(draft, message, { state: 'cancelled' }, command.fresh.at('notice', 0));
    return;
  }
  if (command.isFinal || refusals + 1 >= refusalLimit) {
    yield* end(draft, message, { state: 'failed', error: command.error }, command.fresh.at('notice', 0));
    return;
  }
  const position = (yield* ask('headPosition', session.id)) - 1;
  const { text } = turn;
  draft.add({
    do: 'insertInput',
    row: {
      executionId: message.id,
      sessionId: session.id,
      position,
      text,
      wantsSteer: false,
      steerId: null,
    },
  });
  // Its clock begins with its next turn. Where it had begun before, and something of it goes on, that clock is all that would end
  // an agent that hangs over it: it stands still as of any other message that waits for its lane.
  const isAgain = message.open > 0 && message.deadlineAt !== null;
  const waiting: Waiting | null = isAgain ? { for: 'lane', since: draft.now } : null;
  const clock = isAgain ? { waiting } : { startedAt: null, deadlineAt: null };
  draft.patch(message.id, { state: 'queued', ...clock });
  draft.event('execution.requeued', message, { code: command.error.code, message: command.error.message });
}

function* failContinuation(draft: Draft, continuation: Execution, command: SendFailed): Asking<void> {
  for (const notice of yield* ask('noticesOfContinuation', continuation.id)) {
    if (notice.state !== 'handed') continue;
    if (continuation.cancelRequested)
      yield* waive(draft, notice, 'cancelled', continuation.cancelRequested.actor);
    else if (continuation.detachedAt !== null) yield* waive(draft, notice, 'detached', { kind: 'system' });
    else if (command.isFinal) {
      const isGone = command.error.code === 'SESSION_GONE';
      yield* giveUp(
        draft,
        notice,
        isGone ? 'session_gone' : 'undeliverable',
        isGone ? 'SESSION_GONE' : 'NOTICE_UNDELIVERABLE',
      );
    } else yield* giveBackHanded(draft, notice, { spends: true });
  }
  yield* end(draft, continuation, { state: 'failed', error: command.error }, command.fresh.at('notice', 1));
}
