import type { FreshIds, OccurrenceId, ScheduleId } from '../base/ids.ts';
import type { Rule } from '../ledger/decision.ts';
import { Draft, refuse } from '../ledger/decision.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import { newOccurrence } from '../ledger/occurrence.ts';
import { addOccurrence } from '../ledger/occurrence-fate.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { fullName } from '../ledger/schedule.ts';
import { bindDependents } from './dependents.ts';
import { mayBegin } from './overlap.ts';
import { isInstantOf, ruleOf } from './timing.ts';

/**
 * Somebody wants a run now: an occurrence of its own, which takes the place of none, moves no cursor, and works while the
 * schedule is paused. Where a run is at work it does what the policy says, and `skip` refuses with `OVERLAP`. A repetition
 * with the same id answers the same occurrence. What runs after this schedule has its row for this instant too.
 */
export function* trigger(command: {
  readonly now: number;
  readonly scheduleId: ScheduleId;
  readonly id: OccurrenceId;
  readonly fresh: FreshIds;
}): Rule<Occurrence> {
  const draft = new Draft(command.now);
  const { scheduleId, id, now } = command;
  const known = yield* ask('occurrence', id);
  if (known) return draft.done(known);
  const schedule = yield* ask('schedule', scheduleId);
  if (!schedule || schedule.removedAt !== null)
    return refuse('NOT_FOUND', `No schedule ${scheduleId}.`, { id: scheduleId });
  const instant = yield* freeInstant(schedule, now);
  const { revision } = schedule;
  const row = newOccurrence({ id, scheduleId, instant, trigger: 'manual', revision, createdAt: now });
  const verdict = yield* mayBegin(draft, schedule, row);
  if (verdict.may === 'not') {
    const [live] = yield* ask('liveRunsOf', scheduleId);
    const message = `${fullName(schedule)} was not triggered: ${verdict.reason}. Wait for it, or stop it.`;
    return refuse('OVERLAP', message, live ? { runId: live.id } : {});
  }
  const made: Occurrence =
    verdict.may === 'wait' ? { ...row, state: 'waiting', reason: verdict.reason } : row;
  addOccurrence(draft, made);
  draft.wake('occurrence', id);
  yield* bindDependents(draft, command.fresh, schedule, [made]);
  return draft.done(made);
}

/**
 * The first instant from now on that is neither taken nor one of the rule's own. A whole second is none: rules that are
 * written later, and read backwards by a backfill, mean whole seconds.
 */
function* freeInstant(schedule: Schedule, now: number): Asking<number> {
  const rule = ruleOf(schedule.definition);
  let at = now;
  while (
    at % 1_000 === 0 ||
    (rule !== null && isInstantOf(rule, at)) ||
    (yield* ask('occurrenceAt', schedule.id, at))
  )
    at++;
  return at;
}
