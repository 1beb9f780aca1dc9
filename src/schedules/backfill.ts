import type { FreshIds, ScheduleId } from '../base/ids.ts';
import type { Rule } from '../ledger/decision.ts';
import { Draft, refuse } from '../ledger/decision.ts';
import type { OccurrenceState } from '../ledger/occurrence.ts';
import { isOpen, newOccurrence } from '../ledger/occurrence.ts';
import { addOccurrence, changeOccurrence } from '../ledger/occurrence-fate.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { topOf } from './chain.ts';
import { areCaughtUp } from './change.ts';
import { batchSize } from './materialise.ts';
import type { Rule as InstantRule } from './rule/rule.ts';
import { instantsIn, ruleOf } from './timing.ts';
import { instantText } from './words.ts';

/** A range of the past that is to be run. */
export interface Backfill {
  readonly now: number;
  readonly id: ScheduleId;
  /** The first instant that counts, and the first that does not. */
  readonly from: number;
  readonly to: number;
  /** It only says what it would do. */
  readonly isDry: boolean;
  readonly fresh: FreshIds;
}

/** `behind`: rows were missing and have been written; ask again. */
export type Backfilled =
  | { readonly as: 'behind' }
  | {
      readonly as: 'done';
      /** What runs now, oldest first, with what had become of it; `was` is null where it had no row. */
      readonly due: readonly { readonly instant: number; readonly was: OccurrenceState | null }[];
      /** How many instants of the range had run, or are at work. */
      readonly left: number;
    };

/** The instants of a range that did not run go into the line of their schedule, oldest first, one at a time. */
export function* backfill(command: Backfill): Rule<Backfilled> {
  const draft = new Draft(command.now);
  const schedule = yield* ask('schedule', command.id);
  if (!schedule || schedule.removedAt !== null)
    return refuse('NOT_FOUND', `No schedule ${command.id}.`, { id: command.id });
  const { from, to, now, isDry } = command;
  if (to > now + 1) {
    const message = `The range ends at ${instantText(to)}, which lies ahead; it can reach to ${instantText(now)}.`;
    return refuse('ILLEGAL_STATE', message, { now });
  }
  const rule = yield* ruleAbove(schedule);
  const instants = rule === null ? [] : instantsIn(rule, from - 1, to - 1, batchSize + 1);
  if (instants.length > batchSize) {
    const message = `The range has more than ${batchSize} instants; the first ${batchSize} end with ${instantText(instants[batchSize - 1] ?? from)}. Give a smaller range.`;
    return refuse('INVALID_INPUT', message, { issues: [{ path: 'to', message }] });
  }
  if (!isDry && !(yield* areCaughtUp(draft, [schedule], command.fresh)))
    return draft.done<Backfilled>({ as: 'behind' });
  const line = new Line(draft, schedule, command);
  for (const instant of instants) yield* line.take(instant);
  if (!isDry && line.due.length > 0) draft.wake('schedule', schedule.id);
  return draft.done<Backfilled>({ as: 'done', due: line.due, left: line.left });
}

/** The rule whose instants are its own: that of the first of those that it runs after. */
function* ruleAbove(schedule: Schedule): Asking<InstantRule | null> {
  const top = yield* topOf(schedule);
  return top ? ruleOf(top.definition) : null;
}

class Line {
  readonly due: { readonly instant: number; readonly was: OccurrenceState | null }[] = [];
  left = 0;
  readonly #draft: Draft;
  readonly #schedule: Schedule;
  readonly #command: Backfill;

  constructor(draft: Draft, schedule: Schedule, command: Backfill) {
    this.#draft = draft;
    this.#schedule = schedule;
    this.#command = command;
  }

  *take(instant: number): Asking<void> {
    const known = yield* ask('occurrenceAt', this.#schedule.id, instant);
    if (known && (isOpen(known.state) || known.state === 'ran')) {
      this.left++;
      return;
    }
    this.due.push({ instant, was: known?.state ?? null });
    if (this.#command.isDry) return;
    const { id, revision } = this.#schedule;
    const fate = {
      state: 'waiting' as const,
      reason: 'turn: those before it go first',
      trigger: 'backfill' as const,
      inTurn: true,
      revision,
    };
    if (known) changeOccurrence(this.#draft, known, { ...fate, until: null });
    else
      addOccurrence(
        this.#draft,
        newOccurrence({
          id: this.#command.fresh.at('occurrence', `${id} ${instant}`),
          scheduleId: id,
          instant,
          createdAt: this.#draft.now,
          ...fate,
        }),
      );
  }
}
