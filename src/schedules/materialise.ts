import type { FreshIds, ScheduleId } from '../base/ids.ts';
import type { Rule } from '../ledger/decision.ts';
import { Draft } from '../ledger/decision.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import { newOccurrence, reasonCode } from '../ledger/occurrence.ts';
import { addOccurrence, changeOccurrence } from '../ledger/occurrence-fate.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { bindDependents } from './dependents.ts';
import type { InstantFate } from './late.ts';
import { fateOf, lateCodes, lateMs } from './late.ts';
import { lookAfter } from './look-after.ts';
import { oweMissed } from './news.ts';
import { instantAfter, instantsIn, lastInstantIn, ruleOf } from './timing.ts';
import { instantText } from './words.ts';

/** How many instants get their rows in one transaction; more of them follow at once. */
export const batchSize = 1_000;

/** Whether every instant up to now has its row. */
export type Materialised = 'upToDate' | 'behind';

/**
 * Gives every instant of a schedule up to now its row and its decision, and looks after what waits behind others. Whoever
 * calls it twice finds nothing left to do.
 */
export function* materialise(command: {
  readonly now: number;
  readonly id: ScheduleId;
  readonly fresh: FreshIds;
}): Rule<Materialised> {
  const draft = new Draft(command.now);
  const schedule = yield* ask('schedule', command.id);
  if (!schedule || schedule.removedAt !== null) return draft.done<Materialised>('upToDate');
  const { isUpToDate } = yield* writeInstants(draft, schedule, command.fresh);
  yield* lookAfter(draft, schedule);
  return draft.done<Materialised>(isUpToDate ? 'upToDate' : 'behind');
}

/**
 * Writes the rows of at most `batchSize` instants that have come since the cursor, moves it, and owes the next wake-up.
 * Answers how many instants it looked at. A change of a schedule comes behind this: what was, was by what it said then.
 */
export function* writeInstants(
  draft: Draft,
  before: Schedule,
  fresh: FreshIds,
): Asking<{ readonly wrote: number; readonly isUpToDate: boolean }> {
  const rule = ruleOf(before.definition);
  const now = draft.now;
  if (rule === null) {
    // The instants of the other one come again, and are bound again.
    if (clockWasSetBack(before, now)) rewound(draft, before);
    return { wrote: 0, isUpToDate: true };
  }
  const schedule = clockWasSetBack(before, now) ? rewound(draft, before) : before;
  const found = instantsIn(rule, schedule.cursor, now, batchSize + 1);
  const instants = found.slice(0, batchSize);
  const isUpToDate = found.length === instants.length;
  if (instants.length > 0) {
    const newest = lastInstantIn(rule, schedule.cursor, now) ?? now;
    yield* new Batch(draft, schedule, fresh, newest).write(instants);
  }
  const cursor = isUpToDate ? Math.max(schedule.cursor, now) : (instants.at(-1) as number);
  if (instants.length > 0) draft.add({ do: 'patchSchedule', id: schedule.id, set: { cursor } });
  const next = isUpToDate ? instantAfter(rule, cursor) : 0;
  if (next !== undefined) draft.wake('schedule', schedule.id, next);
  return { wrote: instants.length, isUpToDate };
}

function clockWasSetBack(schedule: Schedule, now: number): boolean {
  return schedule.cursor > now + lateMs;
}

/** The instants that lie ahead again come again; each keeps the row that it has. */
function rewound(draft: Draft, schedule: Schedule): Schedule {
  const cursor = draft.now;
  draft.add({ do: 'patchSchedule', id: schedule.id, set: { cursor } });
  draft.tell({
    type: 'alarm',
    rootId: null,
    sessionId: null,
    data: {
      what: 'clock',
      scheduleId: schedule.id,
      message: `The clock was set back from ${instantText(schedule.cursor)} or later; instants that had come lie ahead again.`,
    },
  });
  return { ...schedule, cursor };
}

/** The rows of one transaction. */
class Batch {
  readonly #draft: Draft;
  readonly #schedule: Schedule;
  readonly #fresh: FreshIds;
  readonly #newest: number;
  #hasLine = false;

  constructor(draft: Draft, schedule: Schedule, fresh: FreshIds, newest: number) {
    this.#draft = draft;
    this.#schedule = schedule;
    this.#fresh = fresh;
    this.#newest = newest;
  }

  *write(instants: readonly number[]): Asking<void> {
    const line = yield* ask('openOccurrences', this.#schedule.id, true, 1);
    this.#hasLine = line[0]?.trigger === 'time';
    const rows: Occurrence[] = [];
    for (const instant of instants) {
      const row = yield* this.#one(instant);
      if (row) rows.push(row);
    }
    // The first of a line is found when these are committed.
    if (rows.some((row) => row.inTurn)) this.#draft.wake('schedule', this.#schedule.id);
    yield* oweMissed(this.#draft, this.#schedule, rows);
    yield* bindDependents(this.#draft, this.#fresh, this.#schedule, rows);
  }

  /** The row that was written, or nothing where there is one that stays as it is. */
  *#one(instant: number): Asking<Occurrence | undefined> {
    const schedule = this.#schedule;
    const { pausedAt, pauseReason, definition } = schedule;
    const fate = fateOf(instant, {
      now: this.#draft.now,
      isPaused: pausedAt !== null,
      pauseReason,
      catchUp: definition.catchUp,
      newest: this.#newest,
      hasLine: this.#hasLine,
    });
    this.#hasLine ||= fate.inTurn;
    const known = yield* ask('occurrenceAt', schedule.id, instant);
    const row = known ? this.#again(known, fate) : this.#first(instant, fate);
    if (row?.state === 'due') this.#draft.wake('occurrence', row.id);
    return row;
  }

  #first(instant: number, fate: InstantFate): Occurrence {
    const { id, revision } = this.#schedule;
    const row = newOccurrence({
      id: this.#fresh.at('occurrence', `${id} ${instant}`),
      scheduleId: id,
      instant,
      trigger: 'time',
      revision,
      createdAt: this.#draft.now,
      ...fate,
    });
    addOccurrence(this.#draft, row);
    return row;
  }

  /** Its instant comes once more. Only what did not run because it was late has its chance again. */
  #again(known: Occurrence, fate: InstantFate): Occurrence | undefined {
    const wasLate = known.trigger === 'time' && lateCodes.has(reasonCode(known.reason));
    if (!wasLate || (fate.state !== 'due' && fate.state !== 'waiting')) return undefined;
    return changeOccurrence(this.#draft, known, { ...fate, revision: this.#schedule.revision });
  }
}
