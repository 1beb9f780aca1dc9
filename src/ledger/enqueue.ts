import type { ExecutionId, RunId, SessionId } from '../base/ids.ts';
import type { Decision, Refusal, Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import type { Budget, Execution, Failure } from './execution.ts';
import { isSettled } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { defaultTimeoutMs, newExecution, refusalBelow } from './registration.ts';
import type { Session } from './session.ts';

/** A message on its way into a session's queue. */
export interface NewMessage {
  readonly id: ExecutionId;
  readonly sessionId: SessionId;
  readonly text: string;
  readonly name?: string;
  readonly timeoutMs?: number;
  readonly join?: 'own' | 'all';
  readonly check?: string | null;
  readonly background?: 'wait' | 'cancel' | 'detach';
  readonly budget?: Budget | null;
  readonly run?: { readonly id: RunId; readonly index: number; readonly attempt: number };
  /** Put into the running turn where the driver can prove it. */
  readonly wantsSteer?: boolean;
  /** The execution whose program sends it; without one the message is a root. */
  readonly parent?: Execution;
}

/** A person's message: a root of its own. It revives a stopped session. */
export interface Enqueue {
  readonly now: number;
  readonly message: NewMessage;
  readonly whenBusy: 'queue' | 'steer' | 'reject';
}

/** What became of the message at once; later it may be told otherwise, since a steer needs proof. */
export interface Enqueued {
  readonly disposition: 'started' | 'queued' | 'steering';
}

/** Accepts a person's message durably; it runs when the lane is free, or joins the running turn if it may be steered. */
export function* enqueue(command: Enqueue): Rule<Enqueued> {
  const { message, whenBusy, now } = command;
  const session = yield* ask('session', message.sessionId);
  if (!session) return refuse('NOT_FOUND', `No session ${message.sessionId}.`, { id: message.sessionId });
  const head = yield* ask('nextInput', session.id);
  const isFree = session.laneTurn === null && session.wakeTurn === null && session.limit === null;
  const isBusy = !isFree || head !== undefined;
  if (isBusy && whenBusy === 'reject') {
    return refuse('SESSION_BUSY', `Session ${session.id} is busy; queue the message, or wait.`, {
      sessionId: session.id,
    });
  }
  const draft = new Draft(now);
  if (session.state === 'stopped') {
    draft.add({ do: 'patchSession', id: session.id, set: { state: 'cold' } });
  }
  yield* addMessage(draft, session, { ...message, wantsSteer: isBusy && whenBusy === 'steer' });
  const steers = isBusy && whenBusy === 'steer' && session.laneTurn !== null;
  const decision: Decision<Enqueued> = draft.done({
    disposition: steers ? 'steering' : isBusy ? 'queued' : 'started',
  });
  return decision;
}

/** A message to a background agent, from whoever launched it: a child of the agent, which it keeps open. */
export function* enqueueBelow(command: {
  readonly now: number;
  readonly message: NewMessage;
  readonly parentId: ExecutionId;
}): Rule<Enqueued> {
  const { message, now } = command;
  const parent = yield* ask('execution', command.parentId);
  const session = yield* ask('session', message.sessionId);
  if (!session || !parent)
    return refuse('NOT_FOUND', `No execution ${command.parentId}.`, { id: command.parentId });
  const refused = (yield* refusalOfSend(session, parent)) ?? refusalOfSettled(parent);
  if (refused) return refused;
  const draft = new Draft(now);
  const isBusy = session.laneTurn !== null || session.wakeTurn !== null;
  yield* addMessage(draft, session, { ...message, parent, wantsSteer: isBusy });
  return draft.done<Enqueued>({ disposition: isBusy ? 'steering' : 'started' });
}

function refusalOfSettled(parent: Execution): Refusal | undefined {
  if (!isSettled(parent.state)) return undefined;
  return refuse('ILLEGAL_STATE', `${parent.id} has ended as ${parent.state}; launch it again instead.`, {
    state: parent.state,
  });
}

/** Registers the message and queues its text, within a larger decision. */
export function* addMessage(draft: Draft, session: Session, message: NewMessage): Asking<Execution> {
  const row = messageRow(draft.now, session, message);
  draft.register(row, []);
  const position = (yield* ask('tailPosition', session.id)) + 1;
  draft.add({
    do: 'insertInput',
    row: {
      executionId: row.id,
      sessionId: session.id,
      position,
      text: message.text,
      wantsSteer: message.wantsSteer ?? false,
      steerId: null,
    },
  });
  draft.add({ do: 'patchSession', id: session.id, set: { lastActivityAt: draft.now } });
  draft.wake('session', session.id);
  return row;
}

/** Registers a message that cannot be sent, and settles it as failed in the same decision: its program decides what follows. */
export function* addUnsent(
  draft: Draft,
  session: Session,
  message: NewMessage,
  error: Failure,
): Asking<void> {
  const row = messageRow(draft.now, session, message);
  draft.register(row, []);
  draft.settle(row, { state: 'failed', error });
}

function messageRow(now: number, session: Session, message: NewMessage): Execution {
  return newExecution(now, message.parent ?? null, message.parent ? 'explicit' : 'none', {
    id: message.id,
    kind: 'message',
    name: message.name ?? firstLine(message.text),
    state: 'queued',
    project: session.project,
    runsIn: session.id,
    cancelledBy: session.id,
    runId: message.run?.id ?? null,
    runIndex: message.run?.index ?? null,
    attempt: message.run?.attempt ?? 1,
    join: message.join ?? message.parent?.join ?? 'own',
    check: message.check ?? null,
    background: message.background ?? 'wait',
    timeoutMs: message.timeoutMs ?? defaultTimeoutMs,
    budget: message.budget ?? null,
    wakeOnClose: message.run ? `run:${message.run.id}` : null,
  });
}

/** Why a message may not go to this session now, if so: a stopped session takes none but a person's. */
export function* refusalOfSend(session: Session, parent: Execution | undefined): Asking<Refusal | undefined> {
  if (session.state === 'stopped') {
    return refuse(
      'SESSION_STOPPED',
      `Session ${session.id} was stopped; a person's message starts it again.`,
      {
        sessionId: session.id,
      },
    );
  }
  return parent ? refusalBelow(parent) : undefined;
}

/** The name of a message: its first line, cut to 80 characters. */
export function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line || '(empty message)';
}
