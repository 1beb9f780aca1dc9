import type { FreshIds, SessionId } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import { clocksAbove, resumeClocks, shiftDeadline } from './clock.ts';
import type { Actor, Execution, Waiting } from './execution.ts';
import { isSettled, waitsForLimit } from './execution.ts';
import { giveUp } from './hand-over.ts';
import type { Notice } from './notice.ts';
import { backOffMs } from './notice.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Limit, Session } from './session.ts';
import { end } from './settle.ts';

/** Longest wait that we add by ourselves where a provider names instants that do not hold. */
const longestBackOffMs = 15 * 60_000;

/** A turn ended because of a usage limit or an expired sign-in, as the driver was told. Instants are UTC milliseconds. */
export interface LimitSeen {
  readonly kind: 'capacity' | 'login';
  readonly message: string;
  readonly resetsAt?: number;
}

/**
 * Nothing goes to the agent until the limit is over: at the instant that the provider gave, or, without one, when a person
 * says so (no automatic wake). `times`: how often the same text has met a limit; a provider whose instants do not hold is
 * asked ever more seldom.
 */
export function limitSession(draft: Draft, session: Session, seen: LimitSeen, times: number): Limit {
  const soonest = draft.now + (times > 1 ? Math.min(backOffMs(times), longestBackOffMs) : 1);
  const until = seen.resetsAt === undefined ? null : Math.max(seen.resetsAt, soonest);
  const limit: Limit = { for: seen.kind, since: draft.now, until, text: seen.message };
  draft.add({ do: 'patchSession', id: session.id, set: { limit } });
  draft.tell({ type: 'session.limit', rootId: null, sessionId: session.id, data: { limit } });
  return limit;
}

/** What a thing that waits for this limit shows. */
export function waitingFor(limit: Limit): Waiting {
  const until = limit.until === null ? {} : { until: limit.until };
  return { for: limit.for, since: limit.since, text: limit.text, ...until };
}

/**
 * The limit that stands between the session and its agent now, if any. One that has passed is lifted. A sign-in that
 * expired for one session of an agent did for all: each learns it here, once, and not from a failure of its own.
 */
export function* standingLimit(draft: Draft, session: Session): Asking<Limit | null> {
  const { limit } = session;
  if (limit && (limit.until === null || limit.until > draft.now)) return limit;
  if (limit) yield* liftLimit(draft, session, limit);
  const signedOut = (yield* ask('limited', session.agent)).find(
    (other) => other.id !== session.id && other.limit?.for === 'login',
  );
  if (!signedOut?.limit) return null;
  const shared: Limit = { ...signedOut.limit, since: draft.now };
  draft.add({ do: 'patchSession', id: session.id, set: { limit: shared } });
  draft.tell({ type: 'session.limit', rootId: null, sessionId: session.id, data: { limit: shared } });
  return shared;
}

/** Shows on the message that would be next what it waits for, and owes the look when the limit is over. */
export function* waitForLimit(draft: Draft, session: Session, limit: Limit): Asking<void> {
  const input = yield* ask('nextInput', session.id);
  const message = input ? yield* ask('execution', input.executionId) : undefined;
  if (message && message.waiting?.for !== limit.for) {
    yield* resumeClocks(draft, message);
    const waiting = { ...waitingFor(limit), since: draft.now };
    draft.patch(message.id, { waiting });
    draft.event('execution.waiting', message, { waiting });
  }
  if (limit.until !== null) draft.wake('session', session.id, limit.until);
}

/** The limit is over: the clocks above what waited go on, moved by as long as they stood still. */
function* liftLimit(draft: Draft, session: Session, limit: Limit): Asking<void> {
  draft.add({ do: 'patchSession', id: session.id, set: { limit: null } });
  draft.tell({ type: 'session.limit', rootId: null, sessionId: session.id, data: { limit: null } });
  const since = new Map<Execution['id'], number>();
  const stood = (row: Execution, from: number): void => {
    since.set(row.id, Math.min(since.get(row.id) ?? Infinity, from));
  };
  for (const notice of yield* ask('pendingFor', session.id))
    for (const row of yield* clocksAbove(yield* ask('execution', notice.countedOn)))
      stood(row, Math.max(limit.since, notice.owedAt));
  for (const input of yield* ask('inputs', session.id)) {
    const message = yield* ask('execution', input.executionId);
    if (!message?.waiting || !waitsForLimit(message.waiting)) continue;
    const { since: from } = message.waiting;
    for (const row of yield* clocksAbove(message)) if (row.id !== message.id) stood(row, from);
    // Its own clock goes on when it has the lane again.
    const waiting: Waiting | null = message.deadlineAt === null ? null : { for: 'lane', since: from };
    draft.patch(message.id, { waiting });
    draft.event('execution.waiting', message, { waiting });
  }
  for (const [id, from] of since) {
    const row = yield* ask('execution', id);
    if (row) shiftDeadline(draft, row, draft.now - from);
  }
}

/** The first line of a text that is sent again after a limit: which message, and for which time. */
const againHeader = /^\[stemma (exe_\w+) again #(\d+)\]/;
/** The first line of a result: which one, and for which time. Of several that come together the first counts. */
const noticeHeader = /^\[stemma ntc_\w+ #(\d+)\]/m;

/** How often the text of this owner of a turn has met a limit, this time counted; of a result, how often it was handed over. */
export function limitedTimes(owner: Execution, text: string): number {
  if (owner.kind === 'continuation') return Number(noticeHeader.exec(text)?.[1] ?? 1);
  const header = againHeader.exec(text);
  return header?.[1] === owner.id ? Number(header[2]) + 1 : 1;
}

/** The text of a message that goes to its agent again, marked: the agent may have begun with it. */
export function textAgain(message: Execution, text: string): string {
  const times = limitedTimes(message, text);
  const original = times === 1 ? text : text.slice(text.indexOf('\n\n') + 2);
  const line = `[stemma ${message.id} again #${times}] A limit stopped this message. If you had begun, go on where you stopped.`;
  return `${line}\n\n${original}`;
}

/** A message whose turn met a limit goes back to the head of its queue; its clock stands still until it has the lane. */
export function* deferMessage(
  draft: Draft,
  session: Session,
  message: Execution,
  limit: Limit,
): Asking<boolean> {
  const text = yield* ask('sentText', message.id);
  if (text === undefined) return false;
  const position = (yield* ask('headPosition', session.id)) - 1;
  const row = { executionId: message.id, sessionId: session.id, position, text: textAgain(message, text) };
  draft.add({ do: 'insertInput', row: { ...row, wantsSteer: false, steerId: null } });
  yield* resumeClocks(draft, message);
  const waiting = waitingFor(limit);
  draft.patch(message.id, { state: 'queued', waiting });
  draft.event('execution.waiting', message, { waiting });
  return true;
}

/** What a person decides for a session that waits for a usage limit or a sign-in. */
export interface LimitDecision {
  readonly now: number;
  readonly sessionId: SessionId;
  /** `resume`: try now. `giveUp`: the messages that wait fail, the results are waived, and their roots say so. */
  readonly action: 'resume' | 'giveUp';
  readonly actor: Actor;
  readonly fresh: FreshIds;
}

/**
 * Lifts the limit: for a sign-in, of every session of that agent. Answers how many sessions waited; refused when none
 * did.
 */
export function* decideLimit(command: LimitDecision): Rule<number> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  if (!session) return refuse('NOT_FOUND', `No session ${command.sessionId}.`, { id: command.sessionId });
  const { limit } = session;
  if (!limit) {
    const message = `Session ${session.id} waits for no capacity and no sign-in.`;
    return refuse('ILLEGAL_STATE', message, { state: session.state });
  }
  if (command.action === 'giveUp') {
    yield* giveUpWaiting(draft, session, limit, command.fresh);
    yield* liftLimit(draft, session, limit);
    draft.wake('session', session.id);
    return draft.done(1);
  }
  const others = limit.for === 'login' ? yield* ask('limited', session.agent) : [];
  const lifted = [session, ...others.filter((other) => other.id !== session.id)];
  let count = 0;
  for (const one of lifted) {
    if (one.limit?.for !== limit.for) continue;
    yield* liftLimit(draft, one, one.limit);
    draft.wake('session', one.id);
    count++;
  }
  return draft.done(count);
}

function* giveUpWaiting(draft: Draft, session: Session, limit: Limit, fresh: FreshIds): Asking<void> {
  const code = limit.for === 'capacity' ? 'CAPACITY' : 'SIGNED_OUT';
  let place = 0;
  for (const input of yield* ask('inputs', session.id)) {
    const message = yield* ask('execution', input.executionId);
    if (!message || isSettled(message.state) || input.steerId !== null) continue;
    if (!message.waiting || !waitsForLimit(message.waiting)) continue;
    draft.add({ do: 'deleteInput', id: message.id });
    const ending = { state: 'failed', error: { code, message: limit.text } } as const;
    yield* end(draft, message, ending, fresh.at('notice', place++));
  }
  const isOwed = (notice: Notice): boolean => notice.state === 'owed';
  for (const notice of (yield* ask('pendingFor', session.id)).filter(isOwed))
    yield* giveUp(draft, notice, limit.for, 'NOTICE_UNDELIVERABLE');
}
