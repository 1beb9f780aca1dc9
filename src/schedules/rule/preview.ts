import { type Cron, nextWall } from './cron.ts';
import { isMadeUp, nextInstant } from './instants.ts';
import { localText, timeText, wallText } from './local-text.ts';
import type { Rule } from './rule.ts';
import type { Stretch, Zone } from './zone.ts';

/** One of the next instants, as a person wants to see it. */
export interface PreviewedInstant {
  /** UTC milliseconds. */
  readonly instant: number;
  /** In the zone of the schedule: `Sun 2026-03-29 03:00 +02:00`. */
  readonly local: string;
  /** The same in the zone of the person who looks. */
  readonly personal: string;
  /** What a change of the clock did to it; absent where it did nothing. */
  readonly dst?: DstMark;
}

/** What a change of the clock did to an instant, with words that say so. */
export interface DstMark {
  /**
   * - `moved`: it stands for times that did not come on that day;
   * - `left-out`: times between the last instant and this one did not come, and nothing stands for them;
   * - `first`: its time comes a second time, which does not count;
   * - `again`: its time came before, and counts again.
   */
  readonly did: 'moved' | 'left-out' | 'first' | 'again';
  readonly text: string;
}

/** What to show. */
export interface PreviewOptions {
  /** Only later instants; UTC milliseconds. */
  readonly from: number;
  /** How many at most. */
  readonly count: number;
  /** The zone of the schedule: rules without a clock on the wall have none of their own. */
  readonly zone: Zone;
  /** The zone of the person who looks. */
  readonly personalZone: Zone;
}

/** The next instants of a rule with their local times, and what changes of the clock do to them. */
export function previewInstants(rule: Rule, options: PreviewOptions): PreviewedInstant[] {
  const { from, count, personalZone } = options;
  const zone = rule.kind === 'every' ? options.zone : rule.zone;
  const shown: PreviewedInstant[] = [];
  for (let last = from; shown.length < count; ) {
    const instant = nextInstant(rule, last);
    if (instant === undefined) break;
    const dst = markOf(rule, instant, last);
    shown.push({
      instant,
      local: localText(zone, instant),
      personal: localText(personalZone, instant),
      ...(dst === undefined ? {} : { dst }),
    });
    last = instant;
  }
  return shown;
}

function markOf(rule: Rule, instant: number, last: number): DstMark | undefined {
  if (rule.kind === 'every') return undefined;
  if (rule.kind === 'cron') return markOfCron(rule.cron, rule.zone, instant, last);
  if (rule.dst === null || rule.wall === null) return undefined;
  return rule.dst === 'gap'
    ? {
        did: 'moved',
        text: `${wallText(rule.wall)} does not come: ${changeText(rule.zone.stretchAt(instant))}`,
      }
    : {
        did: 'first',
        text: `${timeText(rule.wall)} comes twice on this day; the second time does not count`,
      };
}

function markOfCron(cron: Cron, zone: Zone, instant: number, last: number): DstMark | undefined {
  const stretch = zone.stretchAt(instant);
  const { start, offset, before } = stretch;
  const wall = instant + offset;
  if (offset > before && start > last) {
    const times = swallowedTimes(cron, stretch);
    if (times === '') return undefined;
    const what = `${times} on this day: ${changeText(stretch)}`;
    return instant === start && isMadeUp(cron, stretch)
      ? { did: 'moved', text: `made up for ${what}` }
      : { did: 'left-out', text: `there is no ${what}` };
  }
  if (cron.isRepeating && offset < before && wall < start + before)
    return { did: 'again', text: `${timeText(wall)} comes for the second time: ${changeText(stretch)}` };
  const next = zone.stretchAt(stretch.end);
  if (cron.isRepeating || next.start !== stretch.end || wall < next.start + next.offset) return undefined;
  return { did: 'first', text: `${timeText(wall)} comes twice on this day; the second time does not count` };
}

/** At most three of the times that the gap at the start of a stretch swallowed. */
function swallowedTimes(cron: Cron, { start, offset, before }: Stretch): string {
  const times: string[] = [];
  for (let wall = nextWall(cron, start + before); wall !== undefined && wall < start + offset; ) {
    if (times.length === 3) return `${times.join(', ')}, …`;
    times.push(timeText(wall));
    wall = nextWall(cron, wall + 1_000);
  }
  return times.join(', ');
}

function changeText({ start, offset, before }: Stretch): string {
  const direction = offset > before ? 'forward' : 'back';
  return `the clock is set ${direction} from ${timeText(start + before)} to ${timeText(start + offset)}`;
}
