import type { ExecutionId } from '../base/ids.ts';
import { clocksAbove, parentOf, resumeClocks, settleSlotWait } from './clock.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution, Waiting } from './execution.ts';
import type { Admission, TurnLimits } from './line.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import type { Session } from './session.ts';
import { describeHeldBack, Slots } from './slots.ts';

/** How long a slot is kept for whoever was called, in milliseconds. An agent that hangs while it is opened holds nobody back. */
const keptSlotMs = 30_000;
/** Most that are called by one decision. */
const callBatch = 200;

/** A message or results may take the lane now; else the session is in line, and the message shows it. */
export function* admit(
  draft: Draft,
  session: Session,
  limits: TurnLimits | undefined,
  message: Execution | undefined,
): Asking<boolean> {
  const row = yield* ask('admission', session.id);
  if (!rules.turnLimits || (yield* hasSlot(draft.now, session, limits, row))) {
    if (row) yield* leave(draft, session, row, message);
    return true;
  }
  if (!row) yield* join(draft, session);
  else if (row.calledAt !== null)
    draft.add({ do: 'patchAdmission', id: session.id, set: { calledAt: null } });
  if (message && message.waiting?.for !== 'slot') {
    const text = yield* describeHeldBack(limits ?? {}, session);
    yield* show(draft, message, { for: 'slot', since: draft.now, text });
  }
  return false;
}

/** What an execution waits for now; what it waited for before is over. */
export function* show(draft: Draft, message: Execution, waiting: Waiting): Asking<void> {
  yield* resumeClocks(draft, message);
  draft.patch(message.id, { waiting });
  draft.event('execution.waiting', message, { waiting });
}

/** Whether there is a slot for it that nobody who asked before it could take. */
function* hasSlot(
  now: number,
  session: Session,
  limits: TurnLimits | undefined,
  row: Admission | undefined,
): Asking<boolean> {
  if (!limits) return true;
  const slots = new Slots(limits);
  if (!(yield* slots.has(session))) return false;
  const first = yield* ask('firstInLine');
  if (!first || first.sessionId === session.id || !rules.slotLine) return true;
  yield* callable(now, slots, row?.place ?? Infinity);
  return yield* slots.has(session);
}

function* join(draft: Draft, { id, agent, project }: Session): Asking<void> {
  const place = (yield* ask('lastInLine')) + 1;
  const row: Admission = { sessionId: id, agent, project, place, since: draft.now, calledAt: null };
  draft.add({ do: 'insertAdmission', row });
}

/**
 * Whoever could take a slot now, in the order of asking, up to a place: takes the slots of those that are expected to
 * come. The first of an agent in a project stands for all behind it: what does not fit them fits none of those.
 */
function* callable(now: number, slots: Slots, before: number): Asking<Admission[]> {
  const found: Admission[] = [];
  let heads = yield* ask('lineHeads');
  while (heads.length > 0 && (yield* slots.hasAny())) {
    const fitting: Admission[] = [];
    for (const head of heads) if (head.place < before && (yield* slots.has(head))) fitting.push(head);
    const first = fitting.reduce<Admission | undefined>(
      (a, b) => (a && a.place < b.place ? a : b),
      undefined,
    );
    if (!first) break;
    found.push(first);
    if (!isSlow(first, now)) yield* slots.take(first);
    const next = yield* ask('nextInLine', first.agent, first.project, first.place);
    heads = fitting.flatMap((head) => (head !== first ? [head] : next ? [next] : []));
  }
  return found;
}

/** It was called long ago and has not come. */
function isSlow(row: Admission, now: number): boolean {
  return row.calledAt !== null && row.calledAt + keptSlotMs <= now;
}

/**
 * Calls those for whom there is a slot now: it owes their sessions a wake-up. The handler of the wake-up `slot`, and called
 * when a server starts, since the limits may be others then. Answers how many it called.
 */
export function* callNext(command: {
  readonly now: number;
  readonly limits: TurnLimits | undefined;
}): Rule<number> {
  const { now, limits = {} } = command;
  const draft = new Draft(now);
  let called = 0;
  for (const row of yield* callable(now, new Slots(limits), Infinity)) {
    if (isSlow(row, now)) continue;
    // An instant ahead is that of a clock that was set back since: its slot is kept from now on.
    const calledAt = row.calledAt !== null && row.calledAt <= now ? row.calledAt : now;
    // Should it not come, the next is called then.
    draft.wake('slot', line, calledAt + keptSlotMs);
    if (row.calledAt !== null) {
      if (row.calledAt > now) draft.add({ do: 'patchAdmission', id: row.sessionId, set: { calledAt: now } });
      continue;
    }
    if (called === callBatch) {
      draft.wake('slot', line);
      break;
    }
    called++;
    draft.add({ do: 'patchAdmission', id: row.sessionId, set: { calledAt: now } });
    draft.wake('session', row.sessionId);
  }
  return draft.done(called);
}

/** The one target of the wake-up `slot`. */
const line = 'line';

/** A turn has ended, or whoever was in line has left it: the next may be let in. */
export function* callBehind(draft: Draft): Asking<void> {
  if (rules.slotCall && (yield* ask('firstInLine'))) draft.wake('slot', line);
}

/** The session does not ask for its lane any more, if it did. */
export function* leaveLine(draft: Draft, session: Session): Asking<void> {
  const row = yield* ask('admission', session.id);
  if (!row) return;
  yield* leave(draft, session, row, undefined);
  yield* callBehind(draft);
}

/** It leaves the line: what showed it waits for its lane again, and the clocks above go on. `taken` has the lane now. */
function* leave(draft: Draft, session: Session, row: Admission, taken: Execution | undefined): Asking<void> {
  draft.add({ do: 'deleteAdmission', id: session.id });
  const stood = new Map<ExecutionId, number>();
  for (const notice of yield* ask('pendingFor', session.id)) {
    if (notice.state !== 'owed') continue;
    const since = Math.max(row.since, notice.owedAt);
    for (const above of yield* clocksAbove(yield* ask('execution', notice.countedOn)))
      stood.set(above.id, Math.min(stood.get(above.id) ?? since, since));
  }
  for (const input of yield* ask('inputs', session.id)) {
    const message = yield* ask('execution', input.executionId);
    if (message?.waiting?.for !== 'slot') continue;
    const { since } = message.waiting;
    for (const above of yield* clocksAbove(yield* parentOf(message)))
      stood.set(above.id, Math.min(stood.get(above.id) ?? since, since));
    if (message.id === taken?.id) continue;
    // Its own clock, if it has begun, goes on when it has the lane.
    const waiting: Waiting | null = message.deadlineAt === null ? null : { for: 'lane', since };
    draft.patch(message.id, { waiting });
    draft.event('execution.waiting', message, { waiting });
  }
  for (const [id, since] of stood) {
    const above = yield* ask('execution', id);
    if (above) yield* settleSlotWait(draft, above, since);
  }
}
