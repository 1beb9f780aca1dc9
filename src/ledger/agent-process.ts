import type { FreshIds, SessionId, TurnId } from '../base/ids.ts';
import { resumeClocks } from './clock.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Waiting } from './execution.ts';
import { isSettled } from './execution.ts';
import { oweWaiting } from './notifying.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Session } from './session.ts';
import { end } from './settle.ts';
import { untilItWakes } from './tasks.ts';
import { endTurn, refuseSteer } from './turn-end.ts';
import { turnTransitions } from './turn.ts';

/** A conversation was opened: adopted, resumed or new. */
export interface SessionOpened {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly nativeId: string;
  readonly node: string;
  /** When to look whether its process is of any use, UTC milliseconds. Absent: it is kept. */
  readonly idleAt?: number;
}

/** Writes down who it is and where it lives. A stopped session stays stopped: only a person begins it again. */
export function* sessionOpened(command: SessionOpened): Rule<boolean> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  if (!session) return draft.done(false);
  const { nativeId, node } = command;
  const state = session.state === 'stopped' ? 'stopped' : 'live';
  draft.add({ do: 'patchSession', id: session.id, set: { state, nativeId, node } });
  if (session.state !== state) tellState(draft, session, state);
  if (command.idleAt !== undefined) draft.wake('idle', session.id, command.idleAt);
  return draft.done(true);
}

/**
 * No process of the session lives. What ran in it is not decided yet: that takes the agent's record, which only a new
 * process may be able to read. Written before that one is started, so that it is never taken for the old one.
 */
export function* processGone(command: {
  readonly now: number;
  readonly sessionId: SessionId;
}): Rule<Session | undefined> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  if (!session) return draft.done<Session | undefined>(undefined);
  const epoch = session.epoch + 1;
  draft.add({ do: 'patchSession', id: session.id, set: { epoch } });
  return draft.done<Session | undefined>({ ...session, epoch });
}

/** The process of a session is verified dead: what it ran is lost, what it had queued will never be taken up. */
export interface AgentExited {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly reason: string;
  /** How far its output was read: what it said up to its end is not told again. */
  readonly position?: number;
  /** The agent's record was not read: texts that were with it stay undecided. */
  readonly isRecordUnread?: boolean;
  /** Another process of the session lives already. */
  readonly hasSuccessor?: boolean;
  readonly fresh: FreshIds;
}

/**
 * Ends everything that lived in the process. The text of a turn that had not begun is not decided here: its fate is
 * evidence (`sendFailed`, or `agentStarted` before this).
 */
export function* agentExited(command: AgentExited): Rule<boolean> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  if (!session) return draft.done(false);
  const lost = new Set<TurnId>();
  for (const id of [session.wakeTurn, session.laneTurn]) {
    const turn = id === null ? undefined : yield* ask('turn', id);
    if (turn?.state !== 'running' && turn?.state !== 'waiting') continue;
    lost.add(turn.id);
    yield* loseTurn(draft, session, turn.id, command);
  }
  // Those of a turn that is lost were refused with it.
  for (const steer of yield* ask('openSteers', session.id)) {
    const isUndecided = steer.state === 'written' && command.isRecordUnread;
    if (!lost.has(steer.turnId) && !isUndecided) yield* refuseSteer(draft, session, steer);
  }
  let place = 500;
  for (const task of yield* ask('liveTasks', session.id)) {
    const error = { code: 'LOST', message: command.reason };
    const state = task.cancelRequested ? 'cancelled' : 'lost';
    yield* end(draft, task, { state, error }, command.fresh.at('notice', place++));
  }
  yield* deliverOurselves(draft, session);
  const left = command.hasSuccessor ? 'live' : 'cold';
  const state = session.state === 'stopped' ? 'stopped' : left;
  const position = Math.max(session.position, command.position ?? 0);
  const epoch = session.epoch + 1;
  // A text that has not begun keeps the lane; a turn that was lost does not.
  const laneTurn = session.laneTurn !== null && lost.has(session.laneTurn) ? null : session.laneTurn;
  // What became of it is known now: it goes to the next process, and says nothing about this one.
  if (laneTurn !== null && !command.isRecordUnread)
    draft.add({ do: 'patchTurn', id: laneTurn, set: { epoch } });
  const set = { state, position, epoch, laneTurn, wakeTurn: null } as const;
  draft.add({ do: 'patchSession', id: session.id, set });
  if (session.state !== state) tellState(draft, session, state);
  draft.wake('session', session.id);
  return draft.done(true);
}

/**
 * Ends of background tasks for which the agent would have woken by itself: nobody will now, so they are delivered, marked
 * as a redelivery, since the dead process may have woken for them unseen.
 */
function* deliverOurselves(draft: Draft, session: Session): Asking<void> {
  for (const notice of yield* ask('pendingFor', session.id)) {
    const isLeftToAgent = notice.state === 'owed' && notice.epoch === 0 && notice.notBefore === untilItWakes;
    if (!isLeftToAgent) continue;
    draft.add({ do: 'patchNotice', id: notice.id, set: { notBefore: draft.now, handedAt: draft.now } });
  }
}

function* loseTurn(
  draft: Draft,
  session: Session,
  turnId: NonNullable<Session['laneTurn']>,
  command: AgentExited,
): Asking<void> {
  const turn = yield* ask('turn', turnId);
  if (!turn) return;
  yield* endTurn(draft, session, turn, {
    now: command.now,
    sessionId: session.id,
    nativeTurnId: turn.nativeTurnId ?? '',
    status: 'lost',
    answer: '',
    error: { code: 'LOST', message: command.reason },
    tasks: [],
    position: session.position,
    endIsNegativeProof: !command.isRecordUnread,
    fresh: command.fresh,
  });
}

/** The agent asks, or is limited, or goes on. */
export interface AgentWaits {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly waiting: Waiting | null;
}

/** Shows the state on every unsettled owner of the turn, and stops or restarts the clocks of their messages. */
export function* agentWaits(command: AgentWaits): Rule<boolean> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  const id = session ? (session.wakeTurn ?? session.laneTurn) : null;
  const turn = id === null ? undefined : yield* ask('turn', id);
  const state = turn ? turnTransitions[turn.state][command.waiting ? 'wait' : 'resume'] : undefined;
  if (!turn || !state) return draft.done(false);
  draft.add({ do: 'patchTurn', id: turn.id, set: { state } });
  const owners = (yield* ask('owners', turn.id)).filter((owner) => !isSettled(owner.state));
  const [first] = owners;
  if (first && session && command.waiting)
    yield* oweWaiting(draft, session, turn, command.waiting, first.rootId);
  for (const owner of owners) {
    // What it waited for before, if anything, is over.
    yield* resumeClocks(draft, owner);
    draft.patch(owner.id, { waiting: command.waiting });
    draft.event('execution.waiting', owner, { waiting: command.waiting });
  }
  const until = command.waiting?.for === 'input' ? command.waiting.until : undefined;
  if (until !== undefined) draft.wake('question', session?.id ?? '', until);
  return draft.done(true);
}

/** The question of a session that nobody has answered in time, if there is one; one that has time left is asked for again. */
export function* overdueQuestion(command: {
  readonly now: number;
  readonly sessionId: SessionId;
}): Rule<Waiting | undefined> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  const id = session ? (session.wakeTurn ?? session.laneTurn) : null;
  for (const { state, waiting } of id === null ? [] : yield* ask('owners', id)) {
    if (isSettled(state) || waiting?.for !== 'input' || waiting.until === undefined) continue;
    if (waiting.until <= command.now) return draft.done<Waiting | undefined>(waiting);
    draft.wake('question', command.sessionId, waiting.until);
    break;
  }
  return draft.done<Waiting | undefined>(undefined);
}

/** Looks at a session again later: what it needs could not be had now. */
export function* wakeLater(command: {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly delayMs: number;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  if (!(yield* ask('session', command.sessionId))) return draft.done(false);
  draft.wake('session', command.sessionId, command.now + command.delayMs);
  return draft.done(true);
}

/** How far the driver's stream was processed durably. Positions only grow within one process. */
export function* markPosition(command: {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly position: number;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  if (!session || command.position <= session.position) return draft.done(false);
  draft.add({ do: 'patchSession', id: session.id, set: { position: command.position } });
  return draft.done(true);
}

function tellState(draft: Draft, session: Session, state: Session['state']): void {
  draft.tell({ type: 'session.state', rootId: null, sessionId: session.id, data: { state } });
}
