import type { OccurrenceId, RunId } from '../base/ids.ts';
import type { Rule } from '../ledger/decision.ts';
import { Draft } from '../ledger/decision.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import { isOpen } from '../ledger/occurrence.ts';
import type { OccurrenceFate } from '../ledger/occurrence-fate.ts';
import { changeOccurrence } from '../ledger/occurrence-fate.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { deadlineReason, dependencyOf, pausedReason } from './dependents.ts';
import { oweMissed } from './news.ts';
import { mayBegin } from './overlap.ts';

/** What is to be done about an occurrence that was looked at. */
export type Claimed =
  /** Nothing now: it has come to its end, or it waits. `cancel`: runs that are to end for it. */
  | { readonly next: 'nothing'; readonly cancel: readonly RunId[] }
  /** It is being begun. */
  | { readonly next: 'begin'; readonly occurrence: Occurrence; readonly schedule: Schedule };

const nothing: Claimed = { next: 'nothing', cancel: [] };

/**
 * Decides about an occurrence whose time has come, by what its schedule says now: it is skipped, it expires, it waits, or
 * it is claimed, and then whoever asked begins it. One that is claimed already is begun by whoever asks.
 */
export function* claim(command: { readonly now: number; readonly id: OccurrenceId }): Rule<Claimed> {
  const draft = new Draft(command.now);
  const occurrence = yield* ask('occurrence', command.id);
  if (!occurrence || !isOpen(occurrence.state)) return draft.done<Claimed>(nothing);
  const schedule = yield* ask('schedule', occurrence.scheduleId);
  if (!schedule) throw new Error(`occurrence ${occurrence.id} has no schedule`);
  if (occurrence.state === 'claimed') return draft.done<Claimed>({ next: 'begin', occurrence, schedule });
  const verdict = yield* look(draft, schedule, occurrence);
  if (verdict.is === 'go') {
    const claimed = yield* decide(draft, schedule, occurrence, { state: 'claimed' });
    return draft.done<Claimed>({ next: 'begin', occurrence: claimed, schedule });
  }
  const { until, trigger } = yield* decide(draft, schedule, occurrence, verdict.fate);
  // Whatever called it before its deadline took the place of the wake-up that was owed for that.
  if (verdict.fate.state === 'waiting' && trigger === 'after' && until !== null)
    draft.wake('occurrence', occurrence.id, until);
  return draft.done<Claimed>({ next: 'nothing', cancel: verdict.cancel });
}

/** Writes what was decided, unless it is so already, and wakes what depends on it when it has ended without a run. */
export function* decide(
  draft: Draft,
  schedule: Schedule,
  row: Occurrence,
  fate: OccurrenceFate,
): Asking<Occurrence> {
  if (row.state === fate.state && row.reason === (fate.reason ?? null)) return row;
  const changed = changeOccurrence(draft, row, { ...fate, revision: schedule.revision });
  // What follows sees the state before this decision: whatever ends here is looked at again when it is committed.
  if (!isOpen(fate.state)) draft.wake('schedule', schedule.id);
  yield* oweMissed(draft, schedule, [changed]);
  return changed;
}

/** What the look at an occurrence says. */
export type Verdict =
  | { readonly is: 'go' }
  | { readonly is: 'not'; readonly fate: OccurrenceFate; readonly cancel: readonly RunId[] };

const go: Verdict = { is: 'go' };

/** Whether it may begin now, in the order in which reasons count. */
export function* look(draft: Draft, schedule: Schedule, row: Occurrence): Asking<Verdict> {
  const why = whyNot(draft.now, schedule, row) ?? (yield* whyNotYet(schedule, row));
  if (why) return { is: 'not', fate: why, cancel: [] };
  const overlap = yield* mayBegin(draft, schedule, row);
  if (overlap.may === 'go') return go;
  const fate =
    overlap.may === 'wait'
      ? { state: 'waiting' as const, reason: overlap.reason }
      : { state: overlap.state, reason: overlap.reason };
  return { is: 'not', fate, cancel: overlap.may === 'wait' ? overlap.cancel : [] };
}

/** Why it will never begin, by what its schedule says now. */
export function whyNot(now: number, schedule: Schedule, row: Occurrence): OccurrenceFate | undefined {
  if (schedule.removedAt !== null) return { state: 'skipped', reason: 'removed' };
  const isByItself = row.trigger === 'time' || row.trigger === 'after';
  if (isByItself && schedule.pausedAt !== null) return { state: 'skipped', reason: pausedReason(schedule) };
  if (row.trigger === 'after' && schedule.dependsOn === null)
    return { state: 'skipped', reason: 'edited: it does not run after another schedule any more' };
  if (row.until !== null && row.until <= now && row.trigger === 'after')
    return { state: 'expired', reason: deadlineReason(row.until) };
  return undefined;
}

/** What it waits for, or waits for in vain, of the schedule that it runs after. What a person asked for by hand waits for none. */
function* whyNotYet(
  { definition, dependsOn }: Schedule,
  row: Occurrence,
): Asking<OccurrenceFate | undefined> {
  if (dependsOn === null || (row.trigger !== 'after' && row.trigger !== 'backfill')) return undefined;
  const state = yield* dependencyOf(definition, dependsOn, row.instant);
  if (state.is === 'met') return undefined;
  return { state: state.is === 'open' ? 'waiting' : 'skipped', reason: state.reason };
}
