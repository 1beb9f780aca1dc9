import type { ExecutionId, FreshIds, SessionId, SteerId, TurnId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import { lookAbove } from './clock.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { handOver, mismatch, waive } from './hand-over.ts';
import { newTurn, startMessage } from './lane.ts';
import { registerLate } from './late.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import type { Session } from './session.ts';
import type { Steer, Turn, TurnCause } from './turn.ts';
import type { TypedText } from './typed.ts';
import { registerTyped } from './typed.ts';
import { steerTransitions } from './turn.ts';

/** The agent began to work, or took a text up, as its driver saw it. */
export interface AgentStarted {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly nativeTurnId: string;
  /** The id of our text that began it or was taken up, if it was ours. */
  readonly deliveryId?: string;
  /** The background task whose end made it wake by itself. */
  readonly taskId?: string;
  /** What a person typed at the agent's own screen that began it or was taken up. */
  readonly typed?: TypedText;
  readonly position: number;
  readonly node: string;
  readonly fresh: FreshIds;
}

/** What an event of the agent came to: `ignored` ones are counted and change nothing. */
export type Observed = 'started' | 'joined' | 'adopted' | 'late' | 'ignored';

/** The agent began a turn. What it carries decides who owns it (invariant 6): our text, a
 * person's, its own task, or nothing that anybody knows of. */
export function* agentStarted(command: AgentStarted): Rule<Observed> {
  const session = yield* ask('session', command.sessionId);
  const draft = new Draft(command.now);
  if (!session) return draft.done<Observed>('ignored');
  const lane = session.laneTurn === null ? undefined : yield* ask('turn', session.laneTurn);
  if (lane && command.deliveryId === lane.id) return draft.done(yield* takeUp(draft, session, lane, command));
  if (yield* isOver(session, command)) return draft.done<Observed>('ignored');
  const running = yield* runningTurn(session);
  if (running) return draft.done<Observed>(yield* during(draft, session, running, command));
  const adopted = yield* adopt(draft, session, command);
  const owner = adopted?.owner ?? (yield* registerLate(draft, session, command));
  yield* lookAbove(draft, owner);
  beginWake(draft, session, command, adopted ? adopted.cause : 'late', owner);
  return draft.done<Observed>(adopted ? 'adopted' : 'late');
}

/** The agent took a text of ours up within a turn. Consumption belongs to the turn in which it happened. */
export function* agentTook(command: AgentStarted & { readonly deliveryId: string }): Rule<Observed> {
  const session = yield* ask('session', command.sessionId);
  const draft = new Draft(command.now);
  if (!session) return draft.done<Observed>('ignored');
  const lane = session.laneTurn === null ? undefined : yield* ask('turn', session.laneTurn);
  if (lane && command.deliveryId === lane.id) return draft.done(yield* takeUp(draft, session, lane, command));
  const running = yield* runningTurn(session);
  if (!running) return yield* agentStarted(command);
  const adopted = yield* adopt(draft, session, command);
  // News of a text whose fate is known may be old: what runs now keeps its name, or its end would go unheard.
  if (!adopted) return draft.done<Observed>('ignored');
  rename(draft, running, command);
  yield* join(draft, running, adopted.owner);
  return draft.done<Observed>('joined');
}

/**
 * The agent was told, within a turn, that a background task has ended, and will not wake for it: who handles that end joins
 * the turn. An end that is known to be handled, or that is on its way to the agent already, changes nothing.
 */
export function* agentToldOfTask(command: AgentStarted & { readonly taskId: string }): Rule<Observed> {
  const session = yield* ask('session', command.sessionId);
  const draft = new Draft(command.now);
  const running = session ? yield* runningTurn(session) : undefined;
  if (!session || running?.nativeTurnId !== command.nativeTurnId) return draft.done<Observed>('ignored');
  const adopted = yield* adopt(draft, session, command);
  if (!adopted) return draft.done<Observed>('ignored');
  yield* join(draft, running, adopted.owner);
  return draft.done<Observed>('joined');
}

/** The agent took up, within a turn, what a person typed at its own screen: a root of its own that joins the turn. */
export function* agentTyped(command: AgentStarted & { readonly typed: TypedText }): Rule<Observed> {
  const session = yield* ask('session', command.sessionId);
  const draft = new Draft(command.now);
  if (!session) return draft.done<Observed>('ignored');
  const running = yield* runningTurn(session);
  if (!running) return yield* agentStarted(command);
  if (yield* isOver(session, command)) return draft.done<Observed>('ignored');
  const adopted = yield* adopt(draft, session, command);
  if (!adopted) return draft.done<Observed>('ignored');
  rename(draft, running, command);
  yield* join(draft, running, adopted.owner);
  return draft.done<Observed>('joined');
}

/** The text of the lane begins its turn, unless it was taken up in what the agent had begun by itself. */
function* takeUp(draft: Draft, session: Session, lane: Turn, command: AgentStarted): Asking<Observed> {
  if (lane.state !== 'starting') return 'ignored';
  const wake = session.wakeTurn === null ? undefined : yield* ask('turn', session.wakeTurn);
  if (wake?.nativeTurnId !== command.nativeTurnId) return start(draft, lane, command);
  for (const owner of yield* ask('owners', lane.id)) yield* join(draft, wake, owner);
  draft.add({ do: 'patchTurn', id: lane.id, set: { state: 'ended', status: 'joined', endedAt: draft.now } });
  draft.add({ do: 'patchSession', id: session.id, set: { laneTurn: wake.id, wakeTurn: null } });
  const data = { turnId: lane.id, status: 'joined' };
  draft.tell({ type: 'turn.ended', rootId: null, sessionId: session.id, data });
  return 'joined';
}

function start(draft: Draft, lane: Turn, command: AgentStarted): Observed {
  const { nativeTurnId, position } = command;
  draft.add({
    do: 'patchTurn',
    id: lane.id,
    set: {
      state: 'running',
      nativeTurnId,
      position,
      startedAt: draft.now,
      writtenAt: lane.writtenAt ?? draft.now,
    },
  });
  tellStarted(draft, lane, lane.cause);
  return 'started';
}

/** News of a turn whose end was heard is old: nothing begins by it, and what runs now keeps its name. */
function* isOver(session: Session, { nativeTurnId, deliveryId }: AgentStarted): Asking<boolean> {
  const steer =
    deliveryId !== undefined && isId('steer', deliveryId) ? yield* ask('steer', deliveryId) : undefined;
  // A text whose fate is open is taken up wherever it was.
  if (steer?.endedAt === null) return false;
  const begun = deliveryId !== undefined && isId('turn', deliveryId) ? deliveryId : steer?.turnId;
  for (const id of [session.lastTurn, begun]) {
    const turn = id ? yield* ask('turn', id) : undefined;
    const isSame = turn?.sessionId === session.id && turn.nativeTurnId === nativeTurnId;
    if (isSame && turn.state === 'ended') return (yield* runningTurn(session))?.nativeTurnId !== nativeTurnId;
  }
  return false;
}

/** What runs now: what the agent began by itself, or the turn of the lane once it was seen to begin. */
function* runningTurn(session: Session): Asking<Turn | undefined> {
  if (session.wakeTurn !== null) return yield* ask('turn', session.wakeTurn);
  if (session.laneTurn === null) return undefined;
  const lane = yield* ask('turn', session.laneTurn);
  return lane && lane.state !== 'starting' ? lane : undefined;
}

/** Another beginning while a turn runs. */
function* during(draft: Draft, session: Session, running: Turn, command: AgentStarted): Asking<Observed> {
  rename(draft, running, command);
  const adopted = yield* adopt(draft, session, command);
  if (!adopted) return 'ignored';
  yield* join(draft, running, adopted.owner);
  return 'joined';
}

/** The agent's own name for what it does now is the newer one. */
function rename(draft: Draft, running: Turn, { nativeTurnId, position }: AgentStarted): void {
  if (nativeTurnId === running.nativeTurnId) return;
  draft.add({ do: 'patchTurn', id: running.id, set: { nativeTurnId, position } });
}

function* join(draft: Draft, turn: Turn, owner: Execution): Asking<void> {
  const owners = yield* ask('owners', turn.id);
  draft.add({ do: 'insertOwner', row: { turnId: turn.id, executionId: owner.id, position: owners.length } });
  yield* lookAbove(draft, owner);
  draft.tell({
    type: 'turn.joined',
    rootId: owner.rootId,
    sessionId: turn.sessionId,
    data: { turnId: turn.id, executionId: owner.id },
  });
}

function beginWake(
  draft: Draft,
  session: Session,
  command: AgentStarted,
  cause: TurnCause,
  owner: Execution,
): void {
  const id = command.fresh.at('turn', 0);
  const turn: Turn = {
    ...newTurn(draft.now, session, command.node, id, cause, ''),
    state: 'running',
    nativeTurnId: command.nativeTurnId,
    position: command.position,
    startedAt: draft.now,
    writtenAt: draft.now,
  };
  draft.add({ do: 'insertTurn', row: turn });
  draft.add({ do: 'insertOwner', row: { turnId: id, executionId: owner.id, position: 0 } });
  const set = session.laneTurn === null ? { laneTurn: id } : { wakeTurn: id };
  draft.add({ do: 'patchSession', id: session.id, set: { ...set, lastActivityAt: draft.now } });
  tellStarted(draft, turn, cause);
}

interface Adopted {
  readonly owner: Execution;
  readonly cause: TurnCause;
}

/** Finds what a text of ours, or a task of the agent's, stands for, and registers who handles it. */
function* adopt(draft: Draft, session: Session, command: AgentStarted): Asking<Adopted | undefined> {
  if (!rules.adoptByText) return undefined;
  const { deliveryId, typed } = command;
  if (typed) {
    const owner = yield* registerTyped(draft, session, typed, command.fresh.at('execution', 2));
    return owner && { owner, cause: 'message' };
  }
  if (deliveryId !== undefined && isId('steer', deliveryId))
    return yield* adoptSteer(draft, session, deliveryId, command);
  if (deliveryId !== undefined && isId('turn', deliveryId))
    return yield* adoptMessage(draft, session, deliveryId);
  if (command.taskId === undefined) return undefined;
  const task = yield* ask('taskNamed', session.id, command.taskId);
  const notice = task ? yield* ask('noticeOf', task.id) : undefined;
  if (!notice || notice.state !== 'owed') return undefined;
  const parent = yield* ask('execution', notice.countedOn);
  if (!parent) return undefined;
  const owner = yield* handOver(draft, [notice], parent, command.fresh.at('execution', 0), session.id);
  return { owner, cause: 'wake' };
}

function* adoptSteer(
  draft: Draft,
  session: Session,
  steerId: SteerId,
  command: AgentStarted,
): Asking<Adopted | undefined> {
  const steer = yield* ask('steer', steerId);
  if (!steer || steer.sessionId !== session.id || !steerTransitions[steer.state].take) return undefined;
  draft.add({ do: 'patchSteer', id: steer.id, set: { state: 'taken', endedAt: draft.now } });
  if (steer.messageId !== null) return yield* adoptQueued(draft, steer.messageId);
  return yield* adoptNotices(draft, session, steer, command.fresh.at('execution', 0));
}

function* adoptNotices(
  draft: Draft,
  session: Session,
  steer: Steer,
  id: ExecutionId,
): Asking<Adopted | undefined> {
  const notices = (yield* ask('noticesOfSteer', steer.id)).filter((notice) => notice.state === 'claimed');
  const first = notices[0];
  const parent = first ? yield* ask('execution', first.countedOn) : undefined;
  if (!first || !parent) return undefined;
  const isLatched = rules.cancelLatch && parent.cancelRequested !== null;
  const why = mismatch(parent, first) ?? (isLatched ? 'cancelled' : undefined);
  if (why) {
    for (const notice of notices) yield* waive(draft, notice, why, { kind: 'system' });
    return undefined;
  }
  return { owner: yield* handOver(draft, notices, parent, id, session.id), cause: 'notices' };
}

/** A message whose send was given up, and which the agent took up after all: it is not sent again. */
function* adoptMessage(draft: Draft, session: Session, turnId: TurnId): Asking<Adopted | undefined> {
  const turn = yield* ask('turn', turnId);
  // What met a limit is queued again under another delivery: this one tells of the past.
  if (turn?.sessionId !== session.id || turn.status === 'failed') return undefined;
  const owners = yield* ask('owners', turnId);
  const message = owners.find((owner) => owner.kind === 'message');
  return message ? yield* adoptQueued(draft, message.id) : undefined;
}

function* adoptQueued(draft: Draft, id: ExecutionId): Asking<Adopted | undefined> {
  const message = yield* ask('execution', id);
  const input = yield* ask('input', id);
  if (!message || !input || message.state !== 'queued') return undefined;
  startMessage(draft, message, input);
  return { owner: message, cause: 'message' };
}

function tellStarted(draft: Draft, turn: Turn, cause: TurnCause): void {
  draft.tell({
    type: 'turn.started',
    rootId: null,
    sessionId: turn.sessionId,
    data: { turnId: turn.id, cause },
  });
}
