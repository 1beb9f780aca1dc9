import type { ExecutionId } from '../base/ids.ts';
import type { Draft } from './decision.ts';
import type { Outcome, Waiting } from './execution.ts';
import type { Notification, Transition } from './notification.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Limit, Run, Session } from './session.ts';
import type { Turn } from './turn.ts';

/** Longest reason that is kept with a notification, in UTF-16 units: it is read on a telephone. */
const longestText = 2_000;
const longestName = 200;

/** What is owed to people: the transition, whom it is about, and who hears. What is left out is null. */
export type Owed = Pick<Notification, 'transition' | 'subject' | 'to'> &
  Partial<
    Pick<Notification, 'project' | 'name' | 'code' | 'text' | 'rootId' | 'sessionId' | 'runId' | 'scheduleId'>
  > & {
    /** It comes behind these, also where the clock was set back since: the last one says how things are. */
    readonly behind?: readonly (Notification | undefined)[];
  };

/**
 * Owes people the news of a transition, in the transaction that makes it. `subject` says what it happened to and which time
 * (ids and instants): the same transition of the same subject is owed once, however often it is asked for.
 */
export function* owe(draft: Draft, owed: Owed): Asking<void> {
  const id = `${owed.transition}:${owed.subject}`;
  if (yield* ask('notification', id)) return;
  const isForNobody = owed.to?.length === 0;
  const row: Notification = {
    id,
    transition: owed.transition,
    subject: owed.subject,
    project: owed.project ?? null,
    name: bounded(owed.name, longestName),
    code: owed.code ?? null,
    text: bounded(owed.text, longestText),
    rootId: owed.rootId ?? null,
    sessionId: owed.sessionId ?? null,
    runId: owed.runId ?? null,
    scheduleId: owed.scheduleId ?? null,
    to: owed.to,
    state: isForNobody ? 'addressed' : 'owed',
    at: instantBehind(draft.now, owed.behind),
  };
  if (draft.notify(row) && !isForNobody) draft.wake('notification', id);
}

/** Now, or, where one of these is later by a clock that was set back since, the first instant behind them. */
export function instantBehind(now: number, behind: Owed['behind'] = []): number {
  return Math.max(now, ...behind.map((row) => (row ? row.at + 1 : now)));
}

/** Half a character at the end would come back from the database as another one. */
function bounded(text: string | null | undefined, longest: number): string | null {
  if (text === null || text === undefined || text.length <= longest) return text ?? null;
  return `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

type About = Pick<Owed, 'project' | 'name' | 'rootId' | 'runId' | 'scheduleId' | 'to'>;

/** Who hears of what happens in this tree, and how people call it: its run, if a run sent it. */
export function* aboutTree(rootId: ExecutionId): Asking<About> {
  const root = yield* ask('execution', rootId);
  const run = root && root.runId !== null ? yield* ask('run', root.runId) : undefined;
  if (run) return { ...(yield* aboutRun(run)), rootId };
  return { project: root?.project ?? null, name: root?.name ?? null, rootId, to: null };
}

/** Who hears is said by the schedule as it is now, not as it was when the run began. */
function* aboutRun({ id, project, name, scheduleId }: Run): Asking<Omit<About, 'rootId'>> {
  const schedule = scheduleId === null ? undefined : yield* ask('schedule', scheduleId);
  return { project, name, runId: id, scheduleId, to: schedule?.definition.notify ?? null };
}

/**
 * A run has ended: as failed, or well after its schedule had failed. One of a background agent tells its parent instead, and
 * what was cancelled is no news to whoever did it.
 */
export function* oweVerdict(
  draft: Draft,
  run: Run,
  end: { readonly outcome: Outcome; readonly code: string | null; readonly text: string | null },
): Asking<void> {
  if (run.ownerId !== null || end.outcome === 'cancelled') return;
  const isFailed = end.outcome === 'failed';
  const last = run.scheduleId === null ? undefined : yield* ask('lastVerdictOf', run.scheduleId);
  if (!isFailed && last?.transition !== 'failed') return;
  // A run that goes on after its end may fail again: by another message.
  const subject = run.currentId === null ? run.id : `${run.id}:${run.currentId}`;
  yield* owe(draft, {
    transition: isFailed ? 'failed' : 'recovered',
    subject,
    ...(yield* aboutRun(run)),
    sessionId: run.sessionId,
    rootId: run.currentId,
    behind: [last],
    ...(isFailed ? { code: end.code, text: end.text } : {}),
  });
}

/**
 * An agent asks a person, or waits within its turn for what only a person can give: capacity of which nobody knows when it
 * comes back, a sign-in. Each question of a turn is told once.
 */
export function* oweWaiting(
  draft: Draft,
  session: Session,
  turn: Turn,
  waiting: Waiting,
  rootId: ExecutionId,
): Asking<void> {
  if (waiting.for !== 'input') {
    if (waiting.for !== 'login' && waiting.for !== 'capacity') return;
    if (waiting.for === 'capacity' && waiting.until !== undefined) return;
    if (yield* isToldOfLimit(session, waiting.for)) return;
  }
  const which = waiting.questionId?.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 80) ?? String(waiting.since);
  yield* owe(draft, {
    transition: 'waiting',
    subject: `${turn.id}:${waiting.for}:${which}`,
    ...(yield* aboutTree(rootId)),
    sessionId: session.id,
    code: codeOfWait[waiting.for],
    text: waiting.text ?? null,
  });
}

/**
 * A session waits for what only a person can give: once for all sessions of an agent. What ends by itself at a known instant
 * needs nobody.
 */
export function* oweLimit(
  draft: Draft,
  session: Session,
  limit: Limit,
  rootId: ExecutionId | undefined,
): Asking<void> {
  if (limit.until !== null || (yield* isToldOfLimit(session, limit.for))) return;
  const about = rootId
    ? yield* aboutTree(rootId)
    : { project: session.project, name: session.title, to: null };
  yield* owe(draft, {
    transition: 'waiting',
    subject: `${session.id}:${limit.for}:${limit.since}`,
    ...about,
    sessionId: session.id,
    code: codeOfWait[limit.for],
    text: limit.text,
  });
}

const codeOfWait = { input: 'INPUT', capacity: 'CAPACITY', login: 'SIGNED_OUT' } as const;

/** Whether another session of the agent waits for the same already. */
function* isToldOfLimit(session: Session, what: Limit['for']): Asking<boolean> {
  const others = yield* ask('limited', session.agent);
  return others.some(({ id, limit }) => id !== session.id && limit?.for === what && limit.until === null);
}

/** Something that only `what` and the tree say: late activity, a result that could not be delivered. */
export function* oweOfTree(
  draft: Draft,
  transition: Transition,
  subject: string,
  about: {
    readonly rootId: ExecutionId;
    readonly sessionId: Session['id'] | null;
    /** Of a root that is registered in this decision. */
    readonly project?: string;
  },
  failure: { readonly code?: string; readonly text?: string | null } = {},
): Asking<void> {
  const { sessionId, project } = about;
  const tree = yield* aboutTree(about.rootId);
  yield* owe(draft, {
    transition,
    subject,
    ...tree,
    project: tree.project ?? project ?? null,
    sessionId,
    ...failure,
  });
}
