import type { OccurrenceId, RunId, ScheduleId } from '../base/ids.ts';
import type { Rule } from '../ledger/decision.ts';
import { Draft, refuse } from '../ledger/decision.ts';
import { changeOccurrence } from '../ledger/occurrence-fate.ts';
import { ask } from '../ledger/questions.ts';
import { skipOpen } from './change.ts';
import { mostOpen } from './look-after.ts';

/** What a stop found. */
export interface Stopped {
  /** Its runs that are at work: they are to be cancelled. */
  readonly runs: readonly RunId[];
  /** What was being begun: its commands are to be ended. */
  readonly begun: readonly OccurrenceId[];
  /** The instants that were given up. */
  readonly instants: readonly number[];
  /** There is more: ask again. */
  readonly isDone: boolean;
}

/** Gives up what is due, waits or is being begun. The schedule goes on with its next instant. */
export function* stop(command: { readonly now: number; readonly id: ScheduleId }): Rule<Stopped> {
  const draft = new Draft(command.now);
  const schedule = yield* ask('schedule', command.id);
  if (!schedule) return refuse('NOT_FOUND', `No schedule ${command.id}.`, { id: command.id });
  const reason = 'stopped';
  const { instants, isDone } = yield* skipOpen(draft, schedule, reason);
  const begun: OccurrenceId[] = [];
  const given = [...instants];
  for (const inTurn of [false, true])
    for (const row of yield* ask('openOccurrences', schedule.id, inTurn, mostOpen)) {
      if (row.state !== 'claimed') continue;
      changeOccurrence(draft, row, { state: 'skipped', reason, revision: schedule.revision });
      begun.push(row.id);
      given.push(row.instant);
      draft.wake('schedule', schedule.id);
    }
  const runs = (yield* ask('liveRunsOf', schedule.id)).map((run) => run.id);
  return draft.done({ runs, begun, instants: given, isDone });
}
