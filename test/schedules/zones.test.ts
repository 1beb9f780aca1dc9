import { describe, expect, test } from 'vitest';
import { instantsBetween, nextInstant } from '../../src/schedules/rule/instants.ts';
import { parseRule, parseZone, type Rule } from '../../src/schedules/rule/rule.ts';
import { changesOf, firesAt, minutesOf, wallClock } from './oracle.ts';

/**
 * Rules against the oracle, around every change of an offset. `STEMMA_ZONES=all`: in every zone that Intl knows, over the
 * last ten years and the next two (`npm run test:zones`); else in a few that are unlike each other, over few years.
 */
const isAll = process.env['STEMMA_ZONES'] === 'all';
/** Milliseconds on both sides of what a change leaves out or repeats. */
const marginMs = 3_600_000;

const peculiar: readonly (readonly [zone: string, from: number, to: number])[] = [
  ['Europe/Berlin', 2026, 2027],
  ['America/New_York', 2026, 2027],
  ['Australia/Lord_Howe', 2026, 2027], // by half an hour
  ['Africa/Casablanca', 2026, 2027], // back for Ramadan
  ['Africa/Cairo', 2026, 2027], // at midnight
  ['America/Havana', 2026, 2027], // at midnight, and an hour that is the day before again
  ['America/Nuuk', 2026, 2027], // up to midnight
  ['Antarctica/Troll', 2026, 2027], // by two hours
  ['Pacific/Apia', 2011, 2012], // a day that was left out
  ['Asia/Pyongyang', 2018, 2019], // another standard time, by half an hour
  ['Africa/Juba', 2021, 2022], // another standard time, once
];

function yearMs(year: number): number {
  return Date.UTC(year, 0, 1);
}

function ruleOf(cron: string, timezone: string): Rule {
  const parsed = parseRule({ cron, timezone });
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return parsed.rule;
}

/** Expressions about the times that a change leaves out or repeats, and those that pay no heed to it. */
function expressionsAbout(firstWall: number, lastWall: number): string[] {
  const [first, last] = [new Date(firstWall), new Date(lastWall)];
  const middle = new Date((firstWall + lastWall) / 2);
  const fixed = [first, middle, new Date(lastWall - 60_000), last, new Date(firstWall - 60_000)].map(
    (each) => `${each.getUTCMinutes()} ${each.getUTCHours()} * * *`,
  );
  const [hour, day, month] = [middle.getUTCHours(), middle.getUTCDate(), middle.getUTCMonth() + 1];
  const until = Math.min(hour + 1, 23);
  return [
    ...fixed,
    `0,30 ${hour} * * *`,
    `10,50 ${hour}-${until} * * *`,
    `*/15 ${hour} * * *`,
    `*/7 ${hour}-${until} * * *`,
    `${middle.getUTCMinutes()} ${hour} ${day} ${month} *`,
    `5 ${hour} ${day} * ${(middle.getUTCDay() + 1) % 7}`,
    `5 ${hour} */2 * ${middle.getUTCDay()}`,
    '0 0 * * *',
    '*/15 * * * *',
    '0 * * * *',
    '5 * * * *',
    '25 0-23 * * *',
    '0 */2 * * *',
    '40 */3 * * *',
    '* * * * *',
  ];
}

/** What differs from the oracle around one change, in words. */
function differences(zone: string, change: number): string[] {
  const wall = wallClock(zone);
  const [before, after] = [wall(change - 60_000) + 60_000, wall(change)];
  const length = Math.abs(after - before);
  const [from, until] = [change - length - marginMs, change + length + marginMs];
  const minutes = minutesOf(zone, from - length, until + 1);
  return expressionsAbout(Math.min(before, after), Math.max(before, after)).flatMap((expression) => {
    const rule = ruleOf(expression, zone);
    const expected = firesAt(expression, minutes, from, until);
    const got = instantsBetween(rule, from, until, 10_000);
    const text = (instants: readonly number[]): string =>
      instants.map((at) => new Date(at).toISOString()).join(' ');
    const found =
      text(got) === text(expected)
        ? []
        : [`${zone}: ${expression}: ${text(got)} instead of ${text(expected)}`];
    // From any instant, also from the middle of a gap's edge.
    const next = nextInstant(rule, change - 1, until);
    const expectedNext = expected.find((at) => at >= change);
    return next === expectedNext
      ? found
      : [...found, `${zone}: ${expression}: next ${next} instead of ${expectedNext}`];
  });
}

/** Zones with the years to look at. */
const looked = isAll
  ? Intl.supportedValuesOf('timeZone').map((zone) => [zone, 2016, 2029] as const)
  : peculiar;

test('around a change of the clock a cron expression means what the oracle says', () => {
  let count = 0;
  const found = looked.flatMap(([zone, from, to]) => {
    const changes = changesOf(zone, yearMs(from), yearMs(to));
    count += changes.length;
    return changes.flatMap((change) => differences(zone, change));
  });
  console.log(`${count} changes of a clock were looked at`);
  expect(count).toBeGreaterThan(isAll ? 3_000 : 20);
  expect(found).toEqual([]);
}, 600_000);

const zones = looked.map(([zone]) => zone);

describe('a time of the day', () => {
  const dayMs = 86_400_000;

  /** An instant at which a zone shows noon, or, on a day that it leaves out, is already later. */
  function noonOf(zone: string, day: number): number {
    const wall = wallClock(zone);
    const noon = day * dayMs + dayMs / 2;
    return noon - (wall(noon) - noon);
  }

  test('runs as often as there are days, in every zone, whatever its clock does', () => {
    const years = isAll ? [2015, 2030] : [2025, 2027];
    const [first = 0, last = 0] = years.map((year) => yearMs(year) / dayMs);
    const wrong = zones.flatMap((zone, index) => {
      // Another time for each zone, and never noon.
      const [hour, minute] = [index % 12, (index * 7) % 60];
      const rule = ruleOf(`${minute} ${hour} * * *`, zone);
      const count = instantsBetween(rule, noonOf(zone, first), noonOf(zone, last), 100_000).length;
      return count === last - first
        ? []
        : [`${zone} at ${hour}:${minute}: ${count} instead of ${last - first}`];
    });
    expect(wrong).toEqual([]);
  });
});

describe('a zone', () => {
  test('shows at any instant what Intl shows, also where pieces of what is remembered of it meet', () => {
    const pieceMs = 64 * 86_400_000;
    const pieces = isAll ? [0, 40, 90, 140, 190, 240, 280, 300, 310, 320, 322, 324, 330, 360] : [0, 240, 322];
    const wrong = zones.flatMap((name, index) => {
      const parsed = parseZone(name);
      if ('problem' in parsed) return [parsed.problem.message];
      const shown = wallClock(name);
      const instants = pieces.flatMap((piece) => {
        const edge = (piece + (index % 10)) * pieceMs;
        const between = edge + ((index * 7_919 + piece * 104_729) % 92_160) * 60_000;
        return [edge - 60_000, edge, edge + 60_000, between].filter((instant) => instant >= 0);
      });
      // Before 1973 some zones were apart from UTC by seconds, which the oracle does not show.
      return instants
        .filter((at) => Math.abs(parsed.zone.wallAt(at) - shown(at)) >= 60_000)
        .map((at) => `${name} at ${new Date(at).toISOString()}`);
    });
    expect(wrong).toEqual([]);
  });
});
