import type { FreshIds, SessionId } from '../base/ids.ts';
import { callBehind } from './admission.ts';
import { settleWork } from './clock.ts';
import type { Ending, Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution, ExecutionUsage, Failure } from './execution.ts';
import { isSettled } from './execution.ts';
import { keyOfCheck, messageOfStep, selfReport } from './gate.ts';
import { giveBackClaim, giveBackHanded, handle, waive } from './hand-over.ts';
import { deferMessage, limitedTimes, limitSession } from './limit.ts';
import { oweLimit } from './notifying.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { newExecution } from './registration.ts';
import { rules } from './rules.ts';
import type { Limit, Session } from './session.ts';
import { end, uncountEarlierFailure } from './settle.ts';
import { alarmUntold, countUsage } from './spending.ts';
import type { TaskSeen } from './tasks.ts';
import { cancelTasks, registerTasks } from './tasks.ts';
import type { Steer, Turn, TurnStatus } from './turn.ts';

/** The agent is idle again, as its driver saw it. */
export interface AgentEnded {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly nativeTurnId: string;
  readonly status: 'succeeded' | 'failed' | 'interrupted' | 'lost';
  readonly answer: string;
  readonly error?: Failure & { readonly kind?: 'capacity' | 'login' | 'agent'; readonly resetsAt?: number };
  readonly usage?: ExecutionUsage;
  /** Background work of the agent that lives as of this event. */
  readonly tasks: readonly TaskSeen[];
  readonly position: number;
  /** Whether the end of a turn proves that a steered text it did not take up never will be. */
  readonly endIsNegativeProof: boolean;
  readonly fresh: FreshIds;
}

/** What the end of a turn came to. A second end, or one of a turn that was not seen to begin, is `ignored`. */
export type Ended = 'ended' | 'ignored';

/** Settles every owner of the turn in one transaction, registers what lives on, and gives the lane up. */
export function* agentEnded(command: AgentEnded): Rule<Ended> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  const turn = session ? yield* endingTurn(session, command.nativeTurnId) : undefined;
  if (!session || !turn) {
    draft.tell({
      type: 'turn.endIgnored',
      rootId: null,
      sessionId: command.sessionId,
      data: { nativeTurnId: command.nativeTurnId },
    });
    return draft.done<Ended>('ignored');
  }
  yield* endTurn(draft, session, turn, command);
  return draft.done<Ended>('ended');
}

/** An end counts only for a turn whose own start was seen (invariant 6). */
function* endingTurn(session: Session, nativeTurnId: string): Asking<Turn | undefined> {
  for (const id of [session.wakeTurn, session.laneTurn]) {
    const turn = id === null ? undefined : yield* ask('turn', id);
    if (!turn || turn.state === 'ended') continue;
    if (!rules.startFence) return turn;
    if (turn.state !== 'starting' && turn.nativeTurnId === nativeTurnId) return turn;
  }
  return undefined;
}

/** Ends a turn within a larger decision. */
export function* endTurn(draft: Draft, session: Session, turn: Turn, command: AgentEnded): Asking<void> {
  const owners = yield* ask('owners', turn.id);
  yield* registerTasks(draft, session, owners, command);
  yield* cancelTasks(draft, session, owners);
  for (const steer of yield* ask('openSteers', session.id)) {
    const isProof = steer.state === 'claimed' || command.endIsNegativeProof || !rules.withdraw;
    if (steer.turnId === turn.id && isProof) yield* refuseSteer(draft, session, steer);
  }
  const limit = limitOf(draft, session, turn, owners, command);
  if (limit) yield* oweLimit(draft, session, limit, owners[0]?.rootId);
  const isStoppedByUs = owners.some((owner) => owner.cancelRequested !== null);
  const used = command.usage ? yield* countUsage(draft, turn, owners, command.usage) : undefined;
  if (command.status === 'succeeded') yield* alarmUntold(draft, owners, command.usage);
  let place = 0;
  for (const owner of owners) {
    const isUser = used?.ownerId === owner.id;
    if (isSettled(owner.state)) {
      if (isUser) draft.patch(owner.id, { usage: used.usage });
      continue;
    }
    const usage = isUser ? used.usage : owner.usage;
    if (limit && mayTryAgain(owner) && (yield* deferMessage(draft, session, owner, limit))) {
      if (isUser) draft.patch(owner.id, { usage });
      continue;
    }
    const ending = { ...(yield* reported(draft, owner, endingOf(owner, command, isStoppedByUs))), usage };
    if (owner.kind === 'continuation') yield* resolveHanded(draft, owner, ending, limit !== undefined);
    yield* settleOwner(draft, owner, placed(session, owner, ending), command, place++);
  }
  const status: TurnStatus = command.status;
  draft.add({
    do: 'patchTurn',
    id: turn.id,
    set: { state: 'ended', status, endedAt: draft.now, position: command.position },
  });
  yield* settleWork(draft, owners);
  releaseLane(draft, session, turn, command.position);
  yield* callBehind(draft);
  draft.tell({ type: 'turn.ended', rootId: null, sessionId: session.id, data: { turnId: turn.id, status } });
}

/** A usage limit or an expired sign-in holds the session, whoever owned the turn that met it. */
function limitOf(
  draft: Draft,
  session: Session,
  turn: Turn,
  owners: readonly Execution[],
  { status, error }: AgentEnded,
): Limit | undefined {
  if (status !== 'failed' || (error?.kind !== 'capacity' && error?.kind !== 'login')) return undefined;
  const times = owners.map((owner) => limitedTimes(owner, turn.text));
  const { kind, message, resetsAt } = error;
  const seen = { kind, message, ...(resetsAt === undefined ? {} : { resetsAt }) };
  return limitSession(draft, session, seen, Math.max(1, ...times));
}

/** Whether the limit makes it wait instead of failing: a message that somebody still wants. */
function mayTryAgain(owner: Execution): boolean {
  return owner.kind === 'message' && owner.cancelRequested === null;
}

function releaseLane(draft: Draft, session: Session, turn: Turn, position: number): void {
  const freed =
    session.wakeTurn === turn.id ? { wakeTurn: null } : { laneTurn: session.wakeTurn, wakeTurn: null };
  const read = Math.max(session.position, position);
  const endedTurns = session.endedTurns + 1;
  const set = { ...freed, lastTurn: turn.id, endedTurns, position: read, lastActivityAt: draft.now };
  draft.add({ do: 'patchSession', id: session.id, set });
  draft.wake('session', session.id);
}

function endingOf(owner: Execution, command: AgentEnded, isStoppedByUs: boolean): Ending {
  const { answer, error = null } = command;
  const failure: Failure | null = error ? { code: error.code, message: error.message } : null;
  if (owner.cancelRequested) return { state: 'cancelled', result: answer || null };
  if (command.status === 'succeeded') return { state: 'succeeded', result: answer };
  if (command.status === 'interrupted' && isStoppedByUs) {
    // It joined when the turn was being stopped for the sake of others: nobody wanted this to be cancelled.
    const error = {
      code: 'LOST',
      message: 'Its turn was stopped because something else in it was cancelled.',
    };
    return { state: 'failed', result: answer || null, error };
  }
  if (command.status === 'interrupted') return { state: 'cancelled', result: answer || null };
  return { state: command.status, result: answer || null, error: failure };
}

/** What it answered, with its place among the answers of the conversation. */
function placed(session: Session, { kind }: Execution, ending: Ending): Ending {
  const isAnswer = kind !== 'late' && (ending.result ?? null) !== null;
  return isAnswer ? { ...ending, answerPlace: session.endedTurns + 1 } : ending;
}

/** In the program of a step, an answer may say of itself that it failed: it did then. A handling of results says so of its message. */
function* reported(draft: Draft, owner: Execution, ending: Ending): Asking<Ending> {
  const failure = ending.state === 'succeeded' ? selfReport(ending.result ?? '') : undefined;
  const message = failure && (yield* messageOfStep(owner));
  if (!failure || !message) return ending;
  if (message.id === owner.id) return { ...ending, state: 'failed', error: failure };
  if (message.verdict === null) draft.patch(message.id, { verdict: failure.code });
  return ending;
}

/** A message with a check stays open by one child until the check has run. */
function* settleOwner(
  draft: Draft,
  owner: Execution,
  ending: Ending,
  command: AgentEnded,
  place: number,
): Asking<void> {
  if (owner.check !== null && ending.state === 'succeeded') {
    const row = newExecution(draft.now, owner, 'explicit', {
      id: command.fresh.at('execution', 1000 + place),
      kind: 'step',
      name: 'check',
      key: keyOfCheck(owner),
      attempt: owner.attempt,
      state: 'queued',
      cancelledBy: owner.runsIn,
    });
    yield* uncountEarlierFailure(draft, row);
    draft.register(row, []);
    // What is looked at at every fall is looked at then, too.
    draft.patch(owner.id, { drain: Math.max(owner.drain ?? 0, 1) });
    if (owner.open + draft.added(owner.id) === 1) draft.wake('drained', owner.id);
  }
  yield* end(draft, owner, ending, command.fresh.at('notice', place));
}

/** `handled` only if the turn succeeded; else owed again, or waived when it was cancelled or interrupted. */
function* resolveHanded(draft: Draft, owner: Execution, ending: Ending, isLimited: boolean): Asking<void> {
  for (const notice of yield* ask('noticesOfContinuation', owner.id)) {
    if (notice.state !== 'handed') continue;
    if (ending.state === 'succeeded' || !rules.handedBack) handle(draft, notice);
    else if (owner.cancelRequested) yield* waive(draft, notice, 'cancelled', owner.cancelRequested.actor);
    else if (ending.state === 'cancelled') yield* waive(draft, notice, 'interrupted', { kind: 'person' });
    // Nobody waits for it any more, and what it was counted on may be closed.
    else if (owner.detachedAt !== null) yield* waive(draft, notice, 'detached', { kind: 'system' });
    // A usage limit or an expired sign-in is no failed delivery: the limit of the session says when there is another.
    else yield* giveBackHanded(draft, notice, { spends: !isLimited });
  }
}

/** The text of a steer will provably never be taken up: its notices are owed again, its message is next in the queue. */
export function* refuseSteer(
  draft: Draft,
  session: Session,
  steer: Steer,
  state: 'refused' | 'withdrawn' = 'refused',
): Asking<void> {
  draft.add({ do: 'patchSteer', id: steer.id, set: { state, endedAt: draft.now } });
  for (const notice of yield* ask('noticesOfSteer', steer.id)) {
    if (notice.state !== 'claimed') continue;
    const parent = yield* ask('execution', notice.countedOn);
    const cancelled = rules.cancelWaives ? parent?.cancelRequested : undefined;
    if (cancelled) yield* waive(draft, notice, 'cancelled', cancelled.actor);
    else giveBackClaim(draft, notice);
  }
  // A message that was cancelled meanwhile has left the queue.
  if (steer.messageId === null || !(yield* ask('input', steer.messageId))) return;
  const message = yield* ask('execution', steer.messageId);
  if (message?.cancelRequested) {
    draft.add({ do: 'deleteInput', id: message.id });
    draft.settle(message, { state: 'cancelled' });
    return;
  }
  const position = (yield* ask('headPosition', session.id)) - 1;
  draft.add({ do: 'patchInput', id: steer.messageId, set: { steerId: null, wantsSteer: false, position } });
  draft.wake('session', session.id);
}
