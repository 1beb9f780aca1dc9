import type { Draft } from '../ledger/decision.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import { reasonCode } from '../ledger/occurrence.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { dependencyOf, wakeDependents } from './dependents.ts';

/** How many open occurrences of a schedule are looked at: of those in its line, and of the others. */
export const mostOpen = 1_000;

/** Wakes what may go on now: what waits for a run of this schedule, the first of its line, and what depends on it. */
export function* lookAfter(draft: Draft, schedule: Schedule): Asking<void> {
  yield* wakeDependents(draft, schedule);
  const open = yield* ask('openOccurrences', schedule.id, false, mostOpen);
  yield* wakeWhatIsMet(draft, schedule, open);
  const line = yield* ask('openOccurrences', schedule.id, true, mostOpen);
  const [head] = line;
  if (!head && !open.some(waitsForRun)) return;
  const { overlap } = schedule.definition;
  const isFree = !(yield* isAtWork(schedule, [...line, ...open]));
  for (const row of open)
    if (waitsForRun(row) && (isFree || overlap === 'allow' || overlap === 'cancelOther'))
      draft.wake('occurrence', row.id);
  if (isFree && head?.state === 'waiting') draft.wake('occurrence', head.id);
}

/** What waited for another schedule, and by an edit waits for it no longer: the end of that one would wake it no more. */
function* wakeWhatIsMet(draft: Draft, schedule: Schedule, open: readonly Occurrence[]): Asking<void> {
  const { definition, dependsOn } = schedule;
  for (const row of open) {
    if (row.state !== 'waiting' || reasonCode(row.reason) !== 'dependency') continue;
    const isOpen =
      dependsOn !== null && (yield* dependencyOf(definition, dependsOn, row.instant)).is === 'open';
    if (!isOpen) draft.wake('occurrence', row.id);
  }
}

/** Whether a run of the schedule is at work, or being begun. */
function* isAtWork(schedule: Schedule, open: readonly Occurrence[]): Asking<boolean> {
  if (open.some((row) => row.state === 'claimed')) return true;
  return (yield* ask('liveRunsOf', schedule.id)).length > 0;
}

function waitsForRun(row: Occurrence): boolean {
  return row.state === 'waiting' && reasonCode(row.reason) === 'overlap';
}
