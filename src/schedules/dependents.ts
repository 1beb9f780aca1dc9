import type { FreshIds } from '../base/ids.ts';
import type { Draft } from '../ledger/decision.ts';
import type { Run } from '../ledger/session.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import { isOpen, newOccurrence, reasonCode } from '../ledger/occurrence.ts';
import { addOccurrence, changeOccurrence } from '../ledger/occurrence-fate.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { ScheduleDefinition } from '../ledger/schedule-definition.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { fullName } from '../ledger/schedule.ts';
import { scheduleCalled } from './chain.ts';
import { lateMs } from './late.ts';
import { oweMissed } from './news.ts';
import { deadlineOf } from './timing.ts';
import { instantText } from './words.ts';

/**
 * Gives each schedule that runs after this one its row for the same instants, and those behind it theirs. They wait, or
 * say at once why they will not run. Circles are refused where a definition is accepted.
 */
export function* bindDependents(
  draft: Draft,
  fresh: FreshIds,
  schedule: Schedule,
  rows: readonly Occurrence[],
): Asking<void> {
  if (rows.length === 0) return;
  for (const dependent of yield* ask('dependents', fullName(schedule))) {
    const bound: Occurrence[] = [];
    const since = boundSince(draft, dependent, rows);
    for (const row of rows) {
      // What came before it depended on this one is none of its own.
      if (row.instant <= since) continue;
      const known = yield* ask('occurrenceAt', dependent.id, row.instant);
      const fate = fateOfDependent(draft.now, dependent, schedule, row);
      const made = known
        ? again(draft, known, dependent, fate)
        : first(draft, fresh, dependent, row.instant, fate);
      if (!made) continue;
      if (made.state === 'waiting' && made.until !== null) draft.wake('occurrence', made.id, made.until);
      bound.push(made);
    }
    yield* oweMissed(draft, dependent, bound);
    yield* bindDependents(draft, fresh, dependent, bound);
  }
}

/** From when on it is bound; where the clock was set back behind that, from what comes now on. */
function boundSince(draft: Draft, dependent: Schedule, rows: readonly Occurrence[]): number {
  if (dependent.cursor <= draft.now + lateMs) return dependent.cursor;
  const cursor = Math.min(...rows.map((row) => row.instant)) - 1;
  draft.add({ do: 'patchSchedule', id: dependent.id, set: { cursor } });
  return cursor;
}

type Fate = Pick<Occurrence, 'state' | 'reason' | 'until'>;

function fateOfDependent(now: number, dependent: Schedule, upstream: Schedule, row: Occurrence): Fate {
  const until = deadlineOf(dependent.definition, row.instant);
  if (dependent.pausedAt !== null) return { state: 'skipped', reason: pausedReason(dependent), until };
  if (!isOpen(row.state) && row.state !== 'ran')
    return { state: 'skipped', reason: dependencyReason(upstream, `was ${row.state}`), until };
  if (until !== null && until <= now) return { state: 'expired', reason: deadlineReason(until), until };
  return { state: 'waiting', reason: dependencyReason(upstream, 'has not ended'), until };
}

function first(draft: Draft, fresh: FreshIds, dependent: Schedule, instant: number, fate: Fate): Occurrence {
  const row = newOccurrence({
    id: fresh.at('occurrence', `${dependent.id} ${instant}`),
    scheduleId: dependent.id,
    instant,
    trigger: 'after',
    revision: dependent.revision,
    createdAt: draft.now,
    ...fate,
  });
  addOccurrence(draft, row);
  return row;
}

/** Its instant comes once more, since the clock was set back: only what was skipped because of the other one waits again. */
function again(draft: Draft, known: Occurrence, dependent: Schedule, fate: Fate): Occurrence | undefined {
  const isUndone = known.trigger === 'after' && reasonCode(known.reason) === 'dependency';
  if (isOpen(known.state) || !isUndone || fate.state !== 'waiting') return undefined;
  return changeOccurrence(draft, known, { ...fate, revision: dependent.revision });
}

/** What the occurrence of the other schedule says to one that depends on it. */
export type DependencyState =
  | { readonly is: 'met' }
  | { readonly is: 'open'; readonly reason: string }
  | { readonly is: 'unmet'; readonly reason: string };

/** Whether what an occurrence runs after has ended as its definition asks. */
export function* dependencyOf(
  definition: ScheduleDefinition,
  dependsOn: string,
  instant: number,
): Asking<DependencyState> {
  if (!('after' in definition.when)) return { is: 'met' };
  const upstream = yield* scheduleCalled(dependsOn);
  if (!upstream) return { is: 'unmet', reason: `dependency: there is no schedule ${dependsOn} any more` };
  const row = yield* ask('occurrenceAt', upstream.id, instant);
  if (!row)
    return { is: 'unmet', reason: `dependency: ${dependsOn} has no occurrence ${instantText(instant)}` };
  if (isOpen(row.state)) return { is: 'open', reason: dependencyReason(upstream, 'has not ended') };
  if (row.runId === null) return { is: 'unmet', reason: dependencyReason(upstream, `was ${row.state}`) };
  const run = yield* ask('run', row.runId);
  if (!run || run.state !== 'ended')
    return { is: 'open', reason: dependencyReason(upstream, 'has not ended') };
  const { status } = definition.when.after;
  return isAsAsked(run, status)
    ? { is: 'met' }
    : { is: 'unmet', reason: dependencyReason(upstream, run.outcome ?? 'has not succeeded') };
}

function isAsAsked(run: Run, status: 'succeeded' | 'failed' | 'any'): boolean {
  // A cancelled run has failed in the eyes of whoever waits for a failure.
  return status === 'any' || (run.outcome === 'succeeded') === (status === 'succeeded');
}

/** Wakes those of its dependents that wait for what has ended. */
export function* wakeDependents(draft: Draft, schedule: Schedule): Asking<void> {
  for (const dependent of yield* ask('dependents', fullName(schedule))) {
    for (const inTurn of [false, true]) {
      for (const row of yield* ask('openOccurrences', dependent.id, inTurn, mostWoken)) {
        if (row.state !== 'waiting' || reasonCode(row.reason) !== 'dependency') continue;
        const state = yield* dependencyOf(dependent.definition, fullName(schedule), row.instant);
        if (state.is !== 'open') draft.wake('occurrence', row.id);
      }
    }
  }
}

/** How many waiting occurrences of one schedule are looked at; those behind them are when these have ended. */
const mostWoken = 1_000;

/** Why something was skipped while its schedule was paused. */
export function pausedReason({ pauseReason }: Pick<Schedule, 'pauseReason'>): string {
  return pauseReason === null ? 'paused' : `paused: ${pauseReason}`;
}

/** Why something that waited was given up. */
export function deadlineReason(until: number): string {
  return `deadline: ${instantText(until)} has passed`;
}

function dependencyReason(upstream: Schedule, what: string): string {
  return `dependency: ${fullName(upstream)} ${what}`;
}
