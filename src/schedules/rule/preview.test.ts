import { describe, expect, test } from 'vitest';
import { describeRule } from './describe.ts';
import { previewInstants } from './preview.ts';
import { parseRule, type Rule, type WrittenRule } from './rule.ts';
import { findZone, type Zone } from './zone.ts';

function ruleOf(written: WrittenRule): Rule {
  const parsed = parseRule(written);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return parsed.rule;
}

function zoneOf(name: string): Zone {
  const zone = findZone(name);
  if (!zone) throw new Error(`there is no ${name}`);
  return zone;
}

/** Local text, mark and its words of the next instants. */
function shown(written: WrittenRule, from: string, count: number): string[] {
  const options = { zone: zoneOf('Europe/Berlin'), personalZone: zoneOf('America/New_York') };
  return previewInstants(ruleOf(written), { ...options, from: Date.parse(from), count }).map(
    ({ local, dst }) => (dst === undefined ? local : `${local} | ${dst.did}: ${dst.text}`),
  );
}

const cron = (text: string): WrittenRule => ({ cron: text, timezone: 'Europe/Berlin' });

describe('what comes next', () => {
  test('is told in the zone of the schedule and in that of the person', () => {
    const [first] = previewInstants(ruleOf(cron('30 2 * * *')), {
      from: Date.parse('2026-03-27T12:00Z'),
      count: 1,
      zone: zoneOf('UTC'),
      personalZone: zoneOf('America/New_York'),
    });
    expect(first).toEqual({
      instant: Date.parse('2026-03-28T01:30Z'),
      local: 'Sat 2026-03-28 02:30 +01:00',
      personal: 'Fri 2026-03-27 21:30 -04:00',
    });
  });

  test('marks what a gap moved, and only that', () => {
    expect(shown(cron('0,30 2 * * *'), '2026-03-28T01:15Z', 3)).toEqual([
      'Sat 2026-03-28 02:30 +01:00',
      'Sun 2026-03-29 03:00 +02:00 | moved: made up for 02:00, 02:30 on this day: the clock is set forward from 02:00 to 03:00',
      'Mon 2026-03-30 02:00 +02:00',
    ]);
  });

  test('marks what a gap left out', () => {
    expect(shown(cron('*/15 * * * *'), '2026-03-29T00:40Z', 3)).toEqual([
      'Sun 2026-03-29 01:45 +01:00',
      'Sun 2026-03-29 03:00 +02:00 | left-out: there is no 02:00, 02:15, 02:30, … on this day: the clock is set forward from 02:00 to 03:00',
      'Sun 2026-03-29 03:15 +02:00',
    ]);
  });

  test('marks what comes twice and counts once', () => {
    expect(shown(cron('30 2 * * *'), '2026-10-24T12:00Z', 2)).toEqual([
      'Sun 2026-10-25 02:30 +02:00 | first: 02:30 comes twice on this day; the second time does not count',
      'Mon 2026-10-26 02:30 +01:00',
    ]);
  });

  test('marks what comes twice and counts twice', () => {
    expect(shown(cron('30 * * * *'), '2026-10-25T00:00Z', 3)).toEqual([
      'Sun 2026-10-25 02:30 +02:00',
      'Sun 2026-10-25 02:30 +01:00 | again: 02:30 comes for the second time: the clock is set back from 03:00 to 02:00',
      'Sun 2026-10-25 03:30 +01:00',
    ]);
  });

  test('marks a single time that does not come or comes twice', () => {
    const at = (text: string): WrittenRule => ({ at: text, timezone: 'Europe/Berlin' });
    expect(shown(at('2027-03-28T02:30'), '2026-01-01T00:00Z', 3)).toEqual([
      'Sun 2027-03-28 03:00 +02:00 | moved: 2027-03-28 02:30 does not come: the clock is set forward from 02:00 to 03:00',
    ]);
    expect(shown(at('2026-10-25T02:30'), '2026-01-01T00:00Z', 3)).toEqual([
      'Sun 2026-10-25 02:30 +02:00 | first: 02:30 comes twice on this day; the second time does not count',
    ]);
    expect(shown(at('2026-10-25T02:30Z'), '2026-01-01T00:00Z', 3)).toEqual(['Sun 2026-10-25 03:30 +01:00']);
    expect(shown(at('2026-10-25T02:30Z'), '2027-01-01T00:00Z', 3)).toEqual([]);
  });

  test('of a rule without a wall clock is told in the zone of the schedule', () => {
    expect(shown({ everyMs: 3_600_000, anchor: 0 }, '2026-10-25T00:30Z', 2)).toEqual([
      'Sun 2026-10-25 02:00 +01:00',
      'Sun 2026-10-25 03:00 +01:00',
    ]);
  });
});

describe('a rule in words', () => {
  test.each<[WrittenRule, string]>([
    [cron('30 2 * * mon-fri'), 'At 02:30, Monday through Friday (Europe/Berlin)'],
    [cron('@daily'), 'At 00:00 (Europe/Berlin)'],
    [cron('0 0 13 * 5'), 'At 00:00, on day 13 of the month, or on Friday (Europe/Berlin)'],
    [
      cron('0 0 13 2 mon-wed'),
      'At 00:00, on day 13 of the month, or Monday through Wednesday, only in February (Europe/Berlin)',
    ],
    [
      cron('0 0 13 * fri#2'),
      'At 00:00, on day 13 of the month, or on the second Friday of the month (Europe/Berlin)',
    ],
    [
      cron('5,10 1 1,2 * sat,sun'),
      'At 5 and 10 minutes past the hour, at 01:00, on day 1 and 2 of the month, or on Saturday and Sunday (Europe/Berlin)',
    ],
    [cron('0 0 */2 * 1'), 'At 00:00, every 2 days in a month, but only on Monday (Europe/Berlin)'],
    [cron('0 0 L,15W * *'), 'By "0 0 L,15W * *" (Europe/Berlin)'],
    [{ everyMs: 900_000, anchor: 0 }, 'Every 15 minutes'],
    [
      { everyMs: 3_600_000, anchor: 1_767_225_600_000 },
      'Every hour, counted from Thu 2026-01-01 00:00 +00:00 (UTC)',
    ],
    [{ everyMs: 5_400_000, anchor: 0 }, 'Every 1 hour 30 minutes'],
    [
      { at: '2027-01-01T09:00', timezone: 'Europe/Berlin' },
      'Once, at Fri 2027-01-01 09:00 +01:00 (Europe/Berlin)',
    ],
  ])('%j', (written, words) => {
    expect(describeRule(ruleOf(written))).toBe(words);
  });
});
