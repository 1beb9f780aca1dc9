import type { ScheduleId, SessionId } from '../base/ids.ts';
import type { ScheduleDefinition } from './schedule-definition.ts';

/** Who made a schedule: whoever applies a file touches only what came from files. */
export type ScheduleOrigin = 'file' | 'api' | 'agent';

/** A rule that says when a sequence of messages runs. Instants are UTC milliseconds. */
export interface Schedule {
  readonly id: ScheduleId;
  readonly project: string;
  /** Unique in its project while it is not removed. */
  readonly name: string;
  readonly origin: ScheduleOrigin;
  readonly definition: ScheduleDefinition;
  /** Grows by one with each edit. */
  readonly revision: number;
  /** The schedule whose occurrences it runs after, as `project/name`; null: it has instants of its own. */
  readonly dependsOn: string | null;
  readonly pausedAt: number | null;
  readonly pauseReason: string | null;
  /**
   * Every instant of the rule up to here has its row. Of a schedule that depends on another one: instants of that one
   * which are later than this are bound to it.
   */
  readonly cursor: number;
  /** The conversation that it keeps, or null. */
  readonly sessionId: SessionId | null;
  /** A removed schedule stays for its history. */
  readonly removedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a list shows of it. */
export type ScheduleState = 'active' | 'paused' | 'removed';

/** Which of them it is. */
export function stateOf(schedule: Pick<Schedule, 'pausedAt' | 'removedAt'>): ScheduleState {
  if (schedule.removedAt !== null) return 'removed';
  return schedule.pausedAt === null ? 'active' : 'paused';
}

/** How a schedule is named where projects may differ. */
export function fullName(schedule: Pick<Schedule, 'project' | 'name'>): string {
  return `${schedule.project}/${schedule.name}`;
}

/** The full name of a schedule that another one of a project names, with its project or without. */
export function nameIn(project: string, name: string): string {
  return name.includes('/') ? name : `${project}/${name}`;
}

/** A schedule of which no instant has its row yet: the past before `createdAt` is none of its own. */
export function newSchedule(
  given: Pick<Schedule, 'id' | 'project' | 'name' | 'origin' | 'definition' | 'createdAt'>,
): Schedule {
  return {
    ...given,
    revision: 1,
    dependsOn: dependencyOf(given.project, given.definition),
    pausedAt: null,
    pauseReason: null,
    cursor: given.createdAt,
    sessionId: null,
    removedAt: null,
    updatedAt: given.createdAt,
  };
}

/** The full name of what a definition runs after, or null. */
export function dependencyOf(project: string, { when }: Pick<ScheduleDefinition, 'when'>): string | null {
  return 'after' in when ? nameIn(project, when.after.schedule) : null;
}
