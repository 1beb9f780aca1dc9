import type { OccurrenceId, RunId, ScheduleId } from '../base/ids.ts';

/**
 * `due`: its time has come. `waiting`: for what its reason says. `claimed`: it is being begun. The others are ends, and
 * always say why, but for `ran`, which names its run.
 */
export type OccurrenceState = OpenOccurrenceState | EndedOccurrenceState;
/** Something is still to be decided. */
export type OpenOccurrenceState = 'due' | 'waiting' | 'claimed';
/** Decided. */
export type EndedOccurrenceState = 'ran' | 'skipped' | 'missed' | 'expired' | 'superseded';

/** What made an occurrence: the clock, a person, a range that was asked for, or the occurrence of another schedule. */
export type OccurrenceTrigger = 'time' | 'manual' | 'backfill' | 'after';

/** One instant of a schedule; there is one row for each, whatever becomes of it. Instants are UTC milliseconds. */
export interface Occurrence {
  readonly id: OccurrenceId;
  readonly scheduleId: ScheduleId;
  /** Unique in its schedule. */
  readonly instant: number;
  readonly trigger: OccurrenceTrigger;
  readonly state: OccurrenceState;
  /** A short code, and behind a colon words for a person: `overlap: run_… is still at work`. */
  readonly reason: string | null;
  /** The run that it became. */
  readonly runId: RunId | null;
  /** The revision of the schedule by which it was decided last. */
  readonly revision: number;
  /** It waits for its turn behind the others of its schedule, whatever `overlap` says: backfills, and catching up with all. */
  readonly inTurn: boolean;
  /** The deadline of one that waits for another schedule. */
  readonly until: number | null;
  readonly createdAt: number;
  /** When it came to its end. */
  readonly decidedAt: number | null;
}

const isDecided: Record<OccurrenceState, boolean> = {
  due: false,
  waiting: false,
  claimed: false,
  ran: true,
  skipped: true,
  missed: true,
  expired: true,
  superseded: true,
};

/** Whether something is still to be decided. */
export function isOpen(state: OccurrenceState): state is OpenOccurrenceState {
  return !isDecided[state];
}

const undecided = {
  due: false,
  waiting: true,
  claimed: true,
  ran: false,
  skipped: true,
  missed: true,
  expired: true,
  superseded: true,
} as const;
/** It had no run, so a person may ask for one, and a clock that was set back makes its time come again. */
const again = {
  due: true,
  waiting: true,
  claimed: false,
  ran: false,
  skipped: false,
  missed: false,
  expired: false,
  superseded: false,
} as const;

/** Which state may follow which. `ran` is final: nothing runs twice. */
export const occurrenceTransitions: Record<OccurrenceState, Record<OccurrenceState, boolean>> = {
  due: undecided,
  waiting: undecided,
  claimed: {
    due: false,
    waiting: true,
    claimed: false,
    ran: true,
    skipped: true,
    missed: false,
    // Its deadline passed while it was being begun.
    expired: true,
    superseded: false,
  },
  ran: {
    due: false,
    waiting: false,
    claimed: false,
    ran: false,
    skipped: false,
    missed: false,
    expired: false,
    superseded: false,
  },
  skipped: again,
  missed: again,
  expired: again,
  superseded: again,
};

/** The code at the beginning of a reason. */
export function reasonCode(reason: string | null): string {
  return (reason ?? '').split(':', 1)[0] as string;
}

/** An occurrence that is not decided. */
export function newOccurrence(
  given: Pick<Occurrence, 'id' | 'scheduleId' | 'instant' | 'trigger' | 'revision' | 'createdAt'> &
    Partial<Occurrence>,
): Occurrence {
  return {
    state: 'due',
    reason: null,
    runId: null,
    inTurn: false,
    until: null,
    decidedAt: null,
    ...given,
  };
}
