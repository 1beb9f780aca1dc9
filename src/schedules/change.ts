import type { FreshIds, ScheduleId } from '../base/ids.ts';
import type { Refusal, Rule } from '../ledger/decision.ts';
import { Draft, refuse } from '../ledger/decision.ts';
import { changeOccurrence } from '../ledger/occurrence-fate.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { ScheduleDefinition } from '../ledger/schedule-definition.ts';
import type { Schedule, ScheduleOrigin } from '../ledger/schedule.ts';
import { dependencyOf, fullName, newSchedule } from '../ledger/schedule.ts';
import { longestChain, scheduleCalled, topOf } from './chain.ts';
import { mostOpen } from './look-after.ts';
import { writeInstants } from './materialise.ts';
import { instantAfter, ruleOf } from './timing.ts';
import { instantText } from './words.ts';

/*
 * Changes of schedules. Each comes behind the rows of all instants up to now, which are decided by what the schedule said
 * until now. Where rows were missing they are written first, and the answer is `behind`: whoever asked asks again.
 */

/** What a change came to. `same`: it was so already, and nothing was written. */
export type Changed = 'behind' | 'same' | 'changed';

/** Who changes which schedule, and when. */
export interface Change {
  readonly now: number;
  readonly id: ScheduleId;
  readonly fresh: FreshIds;
}

/** A new schedule: no instant of the past is its own. */
export function* create(command: {
  readonly now: number;
  readonly id: ScheduleId;
  readonly project: string;
  readonly name: string;
  readonly origin: ScheduleOrigin;
  readonly definition: ScheduleDefinition;
}): Rule<ScheduleId> {
  const draft = new Draft(command.now);
  if (yield* ask('schedule', command.id)) return draft.done(command.id);
  const { now, ...given } = command;
  const row = newSchedule({ ...given, createdAt: now });
  const known = yield* ask('scheduleNamed', row.project, row.name);
  if (known)
    return refuse('ILLEGAL_STATE', `There is a schedule ${fullName(row)} already.`, { id: known.id });
  const refused = refusalOfPast(row.definition, now) ?? (yield* refusalOfDependency(row));
  if (refused) return refused;
  addSchedule(draft, row);
  return draft.done(row.id);
}

/** Writes a new schedule and owes its first wake-up. */
export function addSchedule(draft: Draft, row: Schedule): void {
  draft.add({ do: 'insertSchedule', row });
  tell(draft, row, 'created');
  oweNext(draft, row);
}

/** From now on it says something else. Rows that wait are decided by what it says then. */
export function* edit(command: Change & { readonly definition: ScheduleDefinition }): Rule<Changed> {
  const draft = new Draft(command.now);
  const schedule = yield* ask('schedule', command.id);
  if (!schedule || schedule.removedAt !== null) return notFound(command.id);
  const { definition, fresh } = command;
  if (isSameDefinition(schedule.definition, definition)) return draft.done<Changed>('same');
  const refused = yield* refusalOfEdit(schedule, definition, command.now);
  if (refused) return refused;
  if (!(yield* areCaughtUp(draft, [schedule], fresh))) return draft.done<Changed>('behind');
  editSchedule(draft, schedule, definition);
  return draft.done<Changed>('changed');
}

/** Why a schedule cannot say this instead, if so. */
export function* refusalOfEdit(
  schedule: Schedule,
  definition: ScheduleDefinition,
  now: number,
): Asking<Refusal | undefined> {
  const isSameRule = JSON.stringify(schedule.definition.when) === JSON.stringify(definition.when);
  if (isSameRule) return undefined;
  const dependsOn = dependencyOf(schedule.project, definition);
  return refusalOfPast(definition, now) ?? (yield* refusalOfDependency({ ...schedule, dependsOn }));
}

/** Writes the edit of a schedule of which every instant up to now has its row. */
export function editSchedule(draft: Draft, schedule: Schedule, definition: ScheduleDefinition): void {
  const set = {
    definition,
    dependsOn: dependencyOf(schedule.project, definition),
    revision: schedule.revision + 1,
    // Also where the clock was set back a little: what comes until then comes by what it says now.
    cursor: draft.now,
    updatedAt: draft.now,
  };
  draft.add({ do: 'patchSchedule', id: schedule.id, set });
  const row = { ...schedule, ...set };
  tell(draft, row, 'edited');
  oweNext(draft, row);
  // What waits may go on by what it says now.
  draft.wake('schedule', schedule.id);
}

/** Whether two definitions say the same. */
export function isSameDefinition(a: ScheduleDefinition, b: ScheduleDefinition): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Its instants are skipped from now on. A run that is at work goes on; what waits is skipped when its turn comes. */
export function* pause(command: Change & { readonly reason: string | null }): Rule<Changed> {
  const draft = new Draft(command.now);
  const schedule = yield* ask('schedule', command.id);
  if (!schedule || schedule.removedAt !== null) return notFound(command.id);
  if (schedule.pausedAt !== null) return draft.done<Changed>('same');
  if (!(yield* areCaughtUp(draft, [schedule], command.fresh))) return draft.done<Changed>('behind');
  const { now, reason } = command;
  setPause(draft, schedule, { pausedAt: now, pauseReason: reason });
  return draft.done<Changed>('changed');
}

/** Its instants count again, from now on: nothing of the pause is caught up. */
export function* resume(command: Change): Rule<Changed> {
  const draft = new Draft(command.now);
  const schedule = yield* ask('schedule', command.id);
  if (!schedule || schedule.removedAt !== null) return notFound(command.id);
  if (schedule.pausedAt === null) return draft.done<Changed>('same');
  if (!(yield* areCaughtUp(draft, [schedule], command.fresh))) return draft.done<Changed>('behind');
  setPause(draft, schedule, { pausedAt: null, pauseReason: null });
  return draft.done<Changed>('changed');
}

function setPause(draft: Draft, schedule: Schedule, set: Pick<Schedule, 'pausedAt' | 'pauseReason'>): void {
  const cursor = draft.now;
  draft.add({ do: 'patchSchedule', id: schedule.id, set: { ...set, cursor, updatedAt: draft.now } });
  const row = { ...schedule, ...set, cursor };
  tell(draft, row, set.pausedAt === null ? 'resumed' : 'paused');
  oweNext(draft, row);
  draft.wake('schedule', schedule.id);
}

/** It has no instants any more; its history stays. What is due or waits is skipped, a run that is at work goes on. */
export function* remove(command: Change): Rule<Changed> {
  const draft = new Draft(command.now);
  const schedule = yield* ask('schedule', command.id);
  if (!schedule || schedule.removedAt !== null) return notFound(command.id);
  const [dependent] = yield* ask('dependents', fullName(schedule));
  if (dependent) return refusalOfRemoval(schedule, dependent);
  if (!(yield* areCaughtUp(draft, [schedule], command.fresh))) return draft.done<Changed>('behind');
  const { isDone } = yield* skipOpen(draft, schedule, 'removed');
  if (!isDone) return draft.done<Changed>('behind');
  removeSchedule(draft, schedule);
  return draft.done<Changed>('changed');
}

/** Why a schedule stays: another one runs after it. */
export function refusalOfRemoval(schedule: Schedule, dependent: Schedule): Refusal {
  const message = `${fullName(dependent)} runs after ${fullName(schedule)}; change or remove it first.`;
  return refuse('ILLEGAL_STATE', message, { dependent: fullName(dependent) });
}

/** Writes that it is removed, when nothing of it is open any more. */
export function removeSchedule(draft: Draft, schedule: Schedule): void {
  const set = { removedAt: draft.now, updatedAt: draft.now };
  draft.add({ do: 'patchSchedule', id: schedule.id, set });
  tell(draft, { ...schedule, ...set }, 'removed');
}

/** Gives up what is due or waits, a bounded number at once. What is being begun is given up by whoever begins it. */
export function* skipOpen(
  draft: Draft,
  schedule: Schedule,
  reason: string,
): Asking<{ readonly instants: readonly number[]; readonly isDone: boolean }> {
  const line = yield* ask('openOccurrences', schedule.id, true, mostOpen);
  const others = yield* ask('openOccurrences', schedule.id, false, mostOpen);
  const instants: number[] = [];
  for (const row of [...others, ...line]) {
    if (row.state === 'claimed') continue;
    changeOccurrence(draft, row, { state: 'skipped', reason, revision: schedule.revision });
    instants.push(row.instant);
  }
  if (instants.length > 0) draft.wake('schedule', schedule.id);
  return { instants, isDone: line.length < mostOpen && others.length < mostOpen };
}

/** Whether every instant of these schedules up to now has its row. Where one was missing it is written, with others. */
export function* areCaughtUp(draft: Draft, schedules: readonly Schedule[], fresh: FreshIds): Asking<boolean> {
  // The instants of one that runs after others are those of the first of them, which several may have in common.
  const tops = new Map<ScheduleId, Schedule>();
  for (const schedule of schedules) {
    const top = yield* topOf(schedule);
    if (top) tops.set(top.id, top);
  }
  let missing = 0;
  for (const top of tops.values()) missing += (yield* writeInstants(draft, top, fresh)).wrote;
  return missing === 0;
}

function* refusalOfDependency({ dependsOn, ...schedule }: Schedule): Asking<Refusal | undefined> {
  const path = [fullName(schedule)];
  for (let next = dependsOn; next !== null; ) {
    if (path.includes(next) || path.length > longestChain) {
      const message = `These run after each other in a circle: ${path.join(', ')}; one of them must have a time of its own.`;
      return refuse('INVALID_INPUT', message, { issues: [{ path: 'after.schedule', message }] });
    }
    path.push(next);
    const upstream: Schedule | undefined = yield* scheduleCalled(next);
    if (!upstream) {
      const message = `There is no schedule ${next} to run after.`;
      return refuse('INVALID_INPUT', message, { issues: [{ path: 'after.schedule', message }] });
    }
    next = upstream.dependsOn;
  }
  return undefined;
}

/** What comes once must lie ahead when it is said. */
export function refusalOfPast(definition: ScheduleDefinition, now: number): Refusal | undefined {
  const rule = 'at' in definition.when ? ruleOf(definition) : null;
  if (rule?.kind !== 'at' || rule.instant > now) return undefined;
  const message = `at: ${instantText(rule.instant)} has passed; give an instant that lies ahead.`;
  return refuse('INVALID_INPUT', message, { issues: [{ path: 'at', message }] });
}

function oweNext(draft: Draft, schedule: Schedule): void {
  const rule = ruleOf(schedule.definition);
  const next = rule === null ? undefined : instantAfter(rule, schedule.cursor);
  if (next !== undefined) draft.wake('schedule', schedule.id, next);
}

function notFound(id: ScheduleId): Refusal {
  return refuse('NOT_FOUND', `No schedule ${id}.`, { id });
}

function tell(draft: Draft, schedule: Schedule, change: string): void {
  const { id, project, name, revision } = schedule;
  draft.tell({
    type: 'schedule.changed',
    rootId: null,
    sessionId: null,
    data: { scheduleId: id, project, name, revision, change },
  });
}
