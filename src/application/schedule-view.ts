import type { Run } from '../contract/run.ts';
import type * as wire from '../contract/schedule.ts';
import { toInstant } from '../contract/text.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { fullName, stateOf } from '../ledger/schedule.ts';
import { dueWords, instantAfter, ruleOf } from '../schedules/timing.ts';
import { toDefinition } from './schedule-definition.ts';

/** A schedule as it is shown. `lastRun`: the one that began last. */
export function toSchedule(row: Schedule, lastRun: Run | undefined, now: number): wire.Schedule {
  const rule = row.removedAt === null ? ruleOf(row.definition) : null;
  const next = rule === null ? undefined : instantAfter(rule, Math.max(now, row.cursor));
  return {
    id: row.id,
    project: row.project,
    name: row.name,
    origin: row.origin,
    revision: row.revision,
    state: stateOf(row),
    createdAt: toInstant(row.createdAt),
    updatedAt: toInstant(row.updatedAt),
    definition: toDefinition(row.definition),
    ...(rule === null ? {} : { when: dueWords(rule) }),
    ...(row.pausedAt === null ? {} : { paused: pauseOf(row.pausedAt, row.pauseReason) }),
    ...(next === undefined ? {} : { next: toInstant(next) }),
    ...(lastRun?.instant === undefined ? {} : { lastRun: runOf(lastRun, lastRun.instant) }),
  };
}

function pauseOf(since: number, reason: string | null): NonNullable<wire.Schedule['paused']> {
  return { since: toInstant(since), ...(reason === null ? {} : { reason }) };
}

function runOf(run: Run, instant: string): NonNullable<wire.Schedule['lastRun']> {
  return {
    runId: run.id,
    instant,
    state: run.state,
    ...(run.outcome === undefined ? {} : { outcome: run.outcome }),
  };
}

/** One instant of a schedule as it is shown. */
export function toOccurrence(schedule: Schedule, row: Occurrence): wire.Occurrence {
  return {
    id: row.id,
    project: schedule.project,
    schedule: fullName(schedule),
    instant: toInstant(row.instant),
    trigger: row.trigger,
    state: row.state,
    revision: row.revision,
    createdAt: toInstant(row.createdAt),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.runId === null ? {} : { runId: row.runId }),
    ...(row.until === null ? {} : { until: toInstant(row.until) }),
    ...(row.decidedAt === null ? {} : { decidedAt: toInstant(row.decidedAt) }),
  };
}
