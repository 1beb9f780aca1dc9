import type { ExecutionId, FreshIds, SessionId, TurnId } from '../base/ids.ts';
import { admit, leaveLine } from './admission.ts';
import type { Batch } from './batch.ts';
import { wholeBatch } from './batch.ts';
import { batchText } from './batch-text.ts';
import { lookAbove, shiftedDeadline } from './clock.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import type { Execution } from './execution.ts';
import { handOver, mismatch, waive } from './hand-over.ts';
import { standingLimit, waitForLimit } from './limit.ts';
import type { TurnLimits } from './line.ts';
import { backOffMs } from './notice.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Input, Session } from './session.ts';
import type { Turn, TurnCause } from './turn.ts';
import { nextMessage, passLocks } from './workspace-lock.ts';

/** Most notices that one continuation takes. */
const batchLimit = 50;

/** The lane of one session is asked for. Ids come from outside, since a rule may be run twice. */
export interface TakeLane {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly node: string;
  /** Absent: as many turns run at once as there are sessions. */
  readonly limits?: TurnLimits | undefined;
  readonly fresh: FreshIds;
}

/**
 * What the lane was taken for, or why it was not. `heldBack`: what is due waits for a turn slot, or for the workspace of its
 * run, and is woken when its turn comes.
 */
export type LaneTaken =
  | { readonly taken: true; readonly turn: Turn }
  | { readonly taken: false; readonly why: 'busy' | 'nothing' | 'stopped' | 'limited' | 'heldBack' };

/**
 * Takes the lane for what is due: notices before messages, the oldest first, all that are owed to one parent together.
 * Lane, turn, continuation and hand-over are one transaction, so nothing exists before its lane, and nothing is uncounted.
 */
export function* takeLane(command: TakeLane): Rule<LaneTaken> {
  const session = yield* ask('session', command.sessionId);
  if (!session) return refuse('NOT_FOUND', `No session ${command.sessionId}.`, { id: command.sessionId });
  const draft = new Draft(command.now);
  const why = yield* whyNot(draft, session);
  if (why) {
    yield* leaveLine(draft, session);
    yield* passLocks(draft, session, undefined);
    return draft.done<LaneTaken>({ taken: false, why });
  }
  const batch = (yield* nextBatch(draft, session)) ?? (yield* wholeBatch(draft, session));
  const next = batch ? undefined : yield* nextMessage(draft, session);
  yield* passLocks(draft, session, next);
  if (!batch && !next?.message) {
    yield* leaveLine(draft, session);
    yield* wakeForNext(draft, session);
    return draft.done<LaneTaken>({ taken: false, why: next ? 'heldBack' : 'nothing' });
  }
  if (!(yield* admit(draft, session, command.limits, next?.message)))
    return draft.done<LaneTaken>({ taken: false, why: 'heldBack' });
  const turnId = command.fresh.at('turn', 0);
  if (next?.message) {
    startMessage(draft, next.message, next.input);
    if (next.message.parentId !== null) yield* lookAbove(draft, next.message);
    const { text } = next.input;
    const turn = beginTurn(draft, session, command, turnId, 'message', text, next.message.id);
    return draft.done<LaneTaken>({ taken: true, turn });
  }
  if (!batch) throw new Error(`session ${session.id} has neither results nor a message`);
  const { notices, parent } = batch;
  const text = yield* batchText(batch);
  const row = yield* handOver(draft, notices, parent, command.fresh.at('execution', 0), session.id);
  yield* lookAbove(draft, row);
  const turn = beginTurn(draft, session, command, turnId, 'notices', text, row.id);
  return draft.done<LaneTaken>({ taken: true, turn });
}

/** Why nothing may take the lane now, whatever is due. A limit that has passed is lifted. */
function* whyNot(draft: Draft, session: Session): Asking<'busy' | 'stopped' | 'limited' | undefined> {
  if (session.state === 'stopped') return 'stopped';
  if (session.laneTurn !== null || session.wakeTurn !== null) return 'busy';
  const limit = yield* standingLimit(draft, session);
  if (!limit) return undefined;
  yield* waitForLimit(draft, session, limit);
  return 'limited';
}

/**
 * Owes the wake-up of what is not due yet. The one that its back-off owed may be gone: wake-ups of one session are merged
 * to the earliest. What waits for longer than any back-off was put off by a clock that was set back since: that begins anew.
 */
function* wakeForNext(draft: Draft, session: Session): Asking<void> {
  const later = (yield* ask('pendingFor', session.id)).filter(
    ({ state, mode, notBefore }) =>
      state === 'owed' &&
      notBefore < Number.MAX_SAFE_INTEGER &&
      // Of what comes together only a back-off is waited for: all else wakes the session itself.
      (mode === 'each' || notBefore > draft.now),
  );
  const dueAt = later.map(({ id, notBefore, attempt }) => {
    const latest = draft.now + (attempt === 0 ? 0 : backOffMs(attempt));
    if (notBefore > latest) draft.add({ do: 'patchNotice', id, set: { notBefore: latest } });
    return Math.min(notBefore, latest);
  });
  if (dueAt.length > 0) draft.wake('session', session.id, Math.min(...dueAt));
}

/** The notices to hand over next, of those that go one by one: those of the parent that is owed the oldest. Misdirected ones are waived and alarmed. */
export function* nextBatch(draft: Draft, session: Session): Asking<Batch | undefined> {
  const owed = yield* ask('owed', session.id, draft.now, batchLimit);
  const refused = new Set<ExecutionId>();
  for (const oldest of owed) {
    if (refused.has(oldest.countedOn)) continue;
    const parent = yield* ask('execution', oldest.countedOn);
    if (!parent)
      throw new Error(`notice ${oldest.id} is counted on ${oldest.countedOn}, which does not exist`);
    const notices = owed.filter((notice) => notice.countedOn === oldest.countedOn);
    const why = mismatch(parent, oldest);
    if (!why) return { parent, notices };
    refused.add(oldest.countedOn);
    for (const notice of notices) {
      yield* waive(draft, notice, why, { kind: 'system' });
      draft.event('alarm', parent, { what: why, noticeId: notice.id });
    }
  }
  return undefined;
}

function beginTurn(
  draft: Draft,
  session: Session,
  command: Pick<TakeLane, 'node'>,
  id: TurnId,
  cause: TurnCause,
  text: string,
  ownerId: ExecutionId,
): Turn {
  const turn = newTurn(draft.now, session, command.node, id, cause, text);
  draft.add({ do: 'insertTurn', row: turn });
  draft.add({ do: 'insertOwner', row: { turnId: id, executionId: ownerId, position: 0 } });
  draft.add({ do: 'patchSession', id: session.id, set: { laneTurn: id, lastActivityAt: draft.now } });
  return turn;
}

/** A turn that has not begun. */
export function newTurn(
  now: number,
  session: Session,
  node: string,
  id: TurnId,
  cause: TurnCause,
  text: string,
): Turn {
  return {
    id,
    sessionId: session.id,
    epoch: session.epoch,
    node,
    cause,
    state: 'starting',
    text,
    nativeTurnId: null,
    position: session.position,
    writtenAt: null,
    createdAt: now,
    startedAt: null,
    endedAt: null,
    status: null,
    usage: null,
  };
}

/** The message leaves the queue and its clock starts with the lane. */
export function startMessage(draft: Draft, message: Execution, input: Input): void {
  draft.add({ do: 'deleteInput', id: input.executionId });
  const startedAt = message.startedAt ?? draft.now;
  // It had the lane before, and met a limit: its clock goes on where it stood.
  const isAgain = message.deadlineAt !== null && message.waiting !== null;
  const fresh = message.timeoutMs === null ? null : draft.now + message.timeoutMs;
  const deadlineAt = isAgain ? (shiftedDeadline(draft, message).deadlineAt ?? fresh) : fresh;
  draft.patch(message.id, { state: 'running', startedAt, deadlineAt, waiting: null });
  draft.event('execution.started', message);
  if (deadlineAt !== null) draft.wake('deadline', message.id, deadlineAt);
}

/** The text is about to go to another process than the one that the turn was made for, which never got it. */
export function* moveTurn(command: { now: number; turnId: TurnId }): Rule<boolean> {
  const draft = new Draft(command.now);
  const turn = yield* ask('turn', command.turnId);
  const session = turn ? yield* ask('session', turn.sessionId) : undefined;
  if (!turn || !session || turn.state !== 'starting' || turn.epoch === session.epoch)
    return draft.done(false);
  draft.add({ do: 'patchTurn', id: turn.id, set: { epoch: session.epoch } });
  return draft.done(true);
}

/** The text was handed to the agent's process: from here on evidence decides what became of it. */
export function* markWritten(command: { now: number; turnId: TurnId }): Rule<boolean> {
  const turn = yield* ask('turn', command.turnId);
  const draft = new Draft(command.now);
  if (!turn || turn.state !== 'starting' || turn.writtenAt !== null) return draft.done(false);
  draft.add({ do: 'patchTurn', id: turn.id, set: { writtenAt: command.now } });
  return draft.done(true);
}
