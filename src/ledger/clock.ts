import type { Draft } from './decision.ts';
import type { Execution, Waiting } from './execution.ts';
import { isQuestion, isSettled, stopsClock, waitsForAdmission, waitsForLimit } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { defaultTimeoutMs } from './registration.ts';
import { isOverspent } from './spending.ts';

/*
 * The clock of a message starts with the lane. It stands still while the message waits for capacity, a sign-in, its lane, a
 * slot or a workspace, and while something below it waits for a usage limit, a sign-in, a slot, or for a person whom a step asks.
 * The clocks of workflows and of attempts of their steps stand still as those of messages above do.
 */

/** Whether it was cancelled already, has used more than it was given, or its clock runs and has run out. */
export function* mustEnd(row: Execution, now: number): Asking<boolean> {
  return row.cancelRequested !== null || isOverspent(row) || (yield* deadlineOf(row)) <= now;
}

/**
 * When its clock will have run out, as far as is known now: infinitely late without a deadline, and while it or something
 * below it waits for what only a person or a provider can end.
 */
export function* deadlineOf(row: Execution): Asking<number> {
  if (row.deadlineAt === null) return Infinity;
  let latest = row.deadlineAt + (row.waiting ? yield* ownStandingMs(row, row.waiting) : 0);
  if (!hasClock(row) || !waitsBelow(row)) return latest;
  for (const below of yield* ask('waitingIn', row.rootId)) {
    if (below.id === row.id || !below.waiting || !stopsAbove(below, below.waiting)) continue;
    if (waitsForAdmission(below.waiting)) continue;
    if (!includes(yield* clocksAbove(yield* parentOf(below)), row)) continue;
    latest = Math.max(latest, row.deadlineAt + standingMs(below, below.waiting, row));
  }
  for (const notice of yield* ask('limitedNotices', row.rootId)) {
    const limit = (yield* ask('session', notice.sessionId))?.limit;
    if (!limit || !includes(yield* clocksAbove(yield* ask('execution', notice.countedOn)), row)) continue;
    // One that has passed is lifted when the lane is free.
    const standing = limit.until === null ? Infinity : limit.until - Math.max(limit.since, notice.owedAt);
    latest = Math.max(latest, row.deadlineAt + standing);
  }
  const since = yield* slotWaitSince(row);
  return since === undefined ? latest : Math.max(latest, row.deadlineAt + (yield* heldBackMs(row, since)));
}

/** Since when something below it waits for a slot, as far as that is not settled yet; undefined: nothing does. */
function* slotWaitSince(row: Execution): Asking<number | undefined> {
  const settled = row.clockedUntil ?? 0;
  let first = Infinity;
  for (const below of yield* ask('waitingIn', row.rootId)) {
    if (below.id === row.id || !below.waiting || !waitsForAdmission(below.waiting)) continue;
    if (!includes(yield* clocksAbove(yield* parentOf(below)), row)) continue;
    first = Math.min(first, below.waiting.since);
    // What is older does not count: with many that wait, one is enough.
    if (first <= settled) return settled;
  }
  for (const notice of yield* ask('heldBackNotices', row.rootId)) {
    const place = yield* ask('admission', notice.sessionId);
    if (!place || !includes(yield* clocksAbove(yield* ask('execution', notice.countedOn)), row)) continue;
    first = Math.min(first, Math.max(place.since, notice.owedAt));
    if (first <= settled) return settled;
  }
  return first === Infinity ? undefined : first;
}

/**
 * A slot is waited for below it. While a turn of its own tree goes on its clock does too, or nothing would end that turn: for a
 * message any turn of the whole, for a workflow or a step one that is below it.
 */
function* heldBackMs(row: Execution, since: number): Asking<number> {
  const from = Math.max(since, row.clockedUntil ?? 0);
  for (const turn of yield* ask('turnsIn', row.rootId)) {
    if (row.kind === 'message') return Math.max(0, turn.createdAt - from);
    for (const owner of yield* ask('owners', turn.id))
      if (includes(yield* clocksAbove(owner), row)) return Math.max(0, turn.createdAt - from);
  }
  return Infinity;
}

/**
 * A slot that was waited for below it since then is waited for no more, or a turn below it begins: its deadline moves by as long as
 * nothing below it worked. Turns that ended meanwhile have settled what was before.
 */
export function* settleSlotWait(draft: Draft, row: Execution, since: number): Asking<void> {
  const from = Math.max(since, row.clockedUntil ?? 0);
  if (!waitsBelow(row) || from >= draft.now) return;
  const stood = Math.min(draft.now - from, yield* heldBackMs(row, since));
  if (stood > 0) shiftDeadline(draft, row, stood);
  draft.patch(row.id, { clockedUntil: draft.now });
}

/** A turn of these has ended: while it went on the clocks above did too, whoever waited for a slot beside it. */
export function* settleWork(draft: Draft, owners: readonly Execution[]): Asking<void> {
  if (!(yield* ask('firstInLine'))) return;
  const above = new Map<Execution['id'], Execution>();
  for (const owner of owners) for (const row of yield* clocksAbove(owner)) above.set(row.id, row);
  for (const row of above.values()) draft.patch(row.id, { clockedUntil: draft.now });
}

/** It waits for its lane, which a turn of its own tree may hold: then its clock goes on, or nothing would end that turn. */
function* ownStandingMs(row: Execution, waiting: Waiting): Asking<number> {
  const ms = standingMs(row, waiting, row);
  const session = row.runsIn === null || Number.isFinite(ms) ? undefined : yield* ask('session', row.runsIn);
  for (const id of session ? [session.laneTurn, session.wakeTurn] : []) {
    const turn = id === null ? undefined : yield* ask('turn', id);
    const owners = turn ? yield* ask('owners', turn.id) : [];
    if (turn && owners.some((owner) => owner.rootId === row.rootId))
      return Math.max(0, turn.createdAt - waiting.since);
  }
  return ms;
}

/** A turn of something below them begins: messages that wait for that lane, or whose clocks stood still, go on. */
export function* lookAbove(draft: Draft, owner: Execution): Asking<void> {
  for (const above of yield* clocksAbove(yield* parentOf(owner))) {
    if (above.deadlineAt === null) continue;
    const since = (yield* ask('firstInLine')) ? yield* slotWaitSince(above) : undefined;
    if (since !== undefined) yield* settleSlotWait(draft, above, since);
    if (above.waiting || above.deadlineAt <= draft.now) draft.wake('deadline', above.id, above.deadlineAt);
  }
}

/** Whether the clocks above what waits so stand still. What a step asks has a time of its own, if anybody says so. */
function stopsAbove(row: Execution, waiting: Waiting): boolean {
  return waitsForLimit(waiting) || waitsForAdmission(waiting) || isQuestion(row);
}

/** Whether it has a time that may stand still because of what is below: another time is for whoever must beat, or hangs. */
function hasClock({ kind, timeoutMs }: Execution): boolean {
  return (
    kind === 'message' ||
    (timeoutMs !== null && (kind === 'workflow' || kind === 'evaluation' || kind === 'step'))
  );
}

/** Whether it waits for what is below it: a message does when its own turn is over. */
export function waitsBelow({ kind, state }: Pick<Execution, 'kind' | 'state'>): boolean {
  return kind !== 'message' || isSettled(state);
}

/**
 * For how long a clock stands still because of this wait, its own or one below it. Within a turn it is the
 * agent that says so, and an agent may hang: until the instant it gave, else for as long as that may take.
 */
function standingMs(waits: Execution, waiting: Waiting, above: Execution): number {
  if (isQuestion(waits) && waits.id !== above.id) return Infinity;
  if (!stopsClock(waiting)) return 0;
  if (waits.state === 'queued' || !waitsForLimit(waiting)) return Infinity;
  if (waiting.until !== undefined) return Math.max(0, waiting.until - waiting.since);
  return above.timeoutMs ?? defaultTimeoutMs;
}

/** For how long it has stood still by now. */
function stoodMs(now: number, waits: Execution, waiting: Waiting, above: Execution): number {
  return Math.max(0, Math.min(now - waiting.since, standingMs(waits, waiting, above)));
}

function includes(rows: readonly Execution[], row: Execution): boolean {
  return rows.some(({ id }) => id === row.id);
}

/** What has a clock and is not closed, from this execution up to its root, or up to what was detached. */
export function* clocksAbove(from: Execution | undefined): Asking<Execution[]> {
  const rows: Execution[] = [];
  for (let row = from; row; row = row.detachedAt === null ? yield* parentOf(row) : undefined)
    if (hasClock(row) && !row.closed && row.deadlineAt !== null) rows.push(row);
  return rows;
}

/** The execution above, if it counts there. */
export function* parentOf(row: Execution): Asking<Execution | undefined> {
  return row.parentId === null || row.detachedAt !== null ? undefined : yield* ask('execution', row.parentId);
}

/**
 * Moves a deadline by as long as its clock stood still, and owes the look at it. Several things below may have waited side by
 * side, so nothing ever has more left than it had in the beginning.
 */
export function shiftDeadline(draft: Draft, row: Execution, byMs: number): void {
  if (row.deadlineAt === null || row.closed) return;
  const whole = draft.now + (row.timeoutMs ?? defaultTimeoutMs);
  const deadlineAt = Math.max(row.deadlineAt, Math.min(whole, row.deadlineAt + Math.max(0, byMs)));
  draft.patch(row.id, { deadlineAt });
  draft.wake('deadline', row.id, deadlineAt);
}

/** Where the deadline of what waited lies when it goes on, or ends: moved by as long as its clock stood still. */
export function shiftedDeadline(draft: Draft, row: Execution): { deadlineAt?: number } {
  if (row.deadlineAt === null || row.waiting === null || !stopsClock(row.waiting)) return {};
  const deadlineAt = row.deadlineAt + stoodMs(draft.now, row, row.waiting, row);
  draft.wake('deadline', row.id, deadlineAt);
  return { deadlineAt };
}

/** It does not wait any more: its clock, and those above it, go on. What it shows is left to the caller. */
export function* resumeClocks(draft: Draft, row: Execution): Asking<void> {
  const { waiting } = row;
  if (!waiting || isSettled(row.state)) return;
  const shifted = shiftedDeadline(draft, row);
  if (shifted.deadlineAt !== undefined) draft.patch(row.id, shifted);
  if (!stopsAbove(row, waiting)) return;
  for (const above of yield* clocksAbove(yield* parentOf(row)))
    if (waitsForAdmission(waiting)) yield* settleSlotWait(draft, above, waiting.since);
    else if (waitsForLimit(waiting) || waitsBelow(above))
      shiftDeadline(draft, above, stoodMs(draft.now, row, waiting, above));
}
