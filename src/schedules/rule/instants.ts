import { assertNever } from '../../base/assert-never.ts';
import { dayMs, dayNumber } from './civil.ts';
import { type Cron, nextWall } from './cron.ts';
import type { Rule } from './rule.ts';
import type { Stretch, Zone } from './zone.ts';

/** Nothing is looked for beyond the year 9999. UTC milliseconds. */
const endOfTime = dayNumber(10_000, 1, 1) * dayMs - 1;

/**
 * The first instant of a rule that is later than `after`, and not later than `until` (both UTC milliseconds); undefined
 * when there is none. A microsecond or so: 10,000 schedules may be asked at once.
 */
export function nextInstant(rule: Rule, after: number, until = endOfTime): number | undefined {
  const last = Math.min(until, endOfTime);
  switch (rule.kind) {
    case 'cron':
      return nextOfCron(rule.cron, rule.zone, after, last);
    case 'every': {
      const count = Math.max(0, Math.floor((after - rule.anchor) / rule.everyMs) + 1);
      const instant = rule.anchor + count * rule.everyMs;
      return instant <= last ? instant : undefined;
    }
    case 'at':
      return rule.instant > after && rule.instant <= last ? rule.instant : undefined;
    default:
      return assertNever(rule);
  }
}

/** The instants of a rule in (after, until], in order, at most `limit`: the earliest ones. All in UTC milliseconds. */
export function instantsBetween(rule: Rule, after: number, until: number, limit: number): number[] {
  const instants: number[] = [];
  for (let at = after; instants.length < limit; ) {
    const next = nextInstant(rule, at, until);
    if (next === undefined) break;
    instants.push(next);
    at = next;
  }
  return instants;
}

/** An offset changes by a day at most: so far from a change, wall times do not come a second time. */
const farMs = 2 * dayMs;

/**
 * A wall time that comes once is met when it comes. One that a gap swallows is made up, once for all that the gap
 * swallows, at the first instant after it, unless the expression means every hour. One that comes twice counts the first
 * time only, unless the expression goes by elapsed time.
 */
function nextOfCron(cron: Cron, zone: Zone, after: number, until: number): number | undefined {
  for (let at = Math.max(0, (Math.floor(after / 1_000) + 1) * 1_000); at <= until; ) {
    const stretch = zone.stretchAt(at);
    if (at === stretch.start && isMadeUp(cron, stretch)) return at;
    const seen = cron.isRepeating ? 0 : stretch.start + stretch.before;
    const wall = nextWall(cron, Math.max(at + stretch.offset, seen));
    if (wall === undefined) return undefined;
    const instant = wall - stretch.offset;
    if (instant < stretch.end) return instant <= until ? instant : undefined;
    at = stretch.end - at > farMs ? Math.max(stretch.end, instant - farMs) : stretch.end;
  }
  return undefined;
}

/** Whether the gap at the start of a stretch, if there is one, swallowed a time that is made up there. */
export function isMadeUp(cron: Cron, { start, offset, before }: Stretch): boolean {
  if (offset <= before || cron.isHourly) return false;
  const swallowed = nextWall(cron, start + before);
  return swallowed !== undefined && swallowed < start + offset;
}
