import { inZone } from '../base/zoned-time.ts';
import type { PreviewAnswer } from '../contract/schedule.ts';
import { toInstant } from '../contract/text.ts';
import type { Schedule, ScheduleOrigin } from '../ledger/schedule.ts';
import type { ScheduleDefinition } from '../ledger/schedule-definition.ts';
import { dueWords, instantAfter, ruleOf } from '../schedules/timing.ts';
import { changedKeys, toDefinition } from './schedule-definition.ts';

/** How many instants a preview shows. */
const shownInstants = 5;

/** What a schedule shall be, and what it is now, if there is one. */
export interface WantedSchedule {
  readonly known: Schedule | undefined;
  readonly project: string;
  readonly origin: ScheduleOrigin;
  readonly definition: ScheduleDefinition;
}

/** What would become of it, from `now` on. */
export function toPreview({ known, definition }: WantedSchedule, now: number): PreviewAnswer {
  const rule = ruleOf(definition);
  const next: PreviewAnswer['next'] = [];
  for (let at = now; rule !== null && next.length < shownInstants; ) {
    const instant = instantAfter(rule, at);
    if (instant === undefined) break;
    next.push({ instant: toInstant(instant), local: inZone(instant, definition.timezone) });
    at = instant;
  }
  return {
    definition: toDefinition(definition),
    changed: known ? changedKeys(known.definition, definition) : [],
    next,
    ...(rule === null ? {} : { when: dueWords(rule) }),
    ...(known ? { before: toDefinition(known.definition) } : {}),
  };
}
