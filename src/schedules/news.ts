import type { Draft } from '../ledger/decision.ts';
import { owe } from '../ledger/notifying.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import { reasonCode } from '../ledger/occurrence.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { fullName } from '../ledger/schedule.ts';
import { instantText } from './words.ts';

/** Reasons of skipped occurrences that somebody must do something about: the others were asked for. */
const troubles = new Set(['dispatch', 'session']);

/** Owes people the news of instants that nothing came of although something should have: together, once. */
export function* oweMissed(draft: Draft, schedule: Schedule, rows: readonly Occurrence[]): Asking<void> {
  const missed = rows.filter(isMissed);
  const [first] = missed;
  if (!first) return;
  const last = missed.at(-1) ?? first;
  const what =
    missed.length === 1
      ? `${instantText(first.instant)} was missed`
      : `${missed.length} instants from ${instantText(first.instant)} to ${instantText(last.instant)} were missed`;
  yield* owe(draft, {
    transition: 'missed',
    subject: `${schedule.id}:${yield* whichTime(schedule, first)}:${reasonCode(first.reason)}`,
    project: schedule.project,
    name: schedule.name,
    text: `${fullName(schedule)}: ${what}: ${first.reason ?? first.state}`,
    scheduleId: schedule.id,
    to: schedule.definition.notify,
  });
}

function isMissed(row: Occurrence): boolean {
  return row.state === 'missed' || row.state === 'expired' || isTrouble(row);
}

function isTrouble({ state, reason }: Occurrence): boolean {
  return state === 'skipped' && troubles.has(reasonCode(reason));
}

/** Trouble lasts until a run begins or the schedule says something else, and is told once; a missed instant is news itself. */
function* whichTime(schedule: Schedule, first: Occurrence): Asking<number | string> {
  if (!isTrouble(first)) return first.instant;
  const last = yield* ask('lastRunOf', schedule.id);
  return `${schedule.revision}:${last?.id ?? 'never'}`;
}
