import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { civilDate, dayNumber, daysInMonth, weekdayOf } from './civil.ts';
import { instantsBetween, nextInstant } from './instants.ts';
import { parseRule, parseZone, type Rule, type WrittenRule } from './rule.ts';

function ruleOf(written: WrittenRule): Rule {
  const parsed = parseRule(written);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return parsed.rule;
}

function problemOf(written: WrittenRule): string {
  const parsed = parseRule(written);
  return 'problem' in parsed ? parsed.problem.message : 'it was taken';
}

const cron = (text: string, timezone = 'UTC'): Rule => ruleOf({ cron: text, timezone });

/** The next instants after an instant, as text. */
function next(rule: Rule, after: string, count: number): string[] {
  const instants = instantsBetween(rule, Date.parse(after), Date.parse('9999-01-01T00:00Z'), count);
  return instants.map((at) => new Date(at).toISOString().replace(/(:00)?\.000Z$/, 'Z'));
}

describe('the calendar', () => {
  test('is the one of Date, in both directions', () => {
    fc.assert(
      fc.property(fc.integer({ min: -700_000, max: 2_900_000 }), (days) => {
        const date = new Date(days * 86_400_000);
        const { year, month, day } = civilDate(days);
        expect([year, month, day]).toEqual([
          date.getUTCFullYear(),
          date.getUTCMonth() + 1,
          date.getUTCDate(),
        ]);
        expect(dayNumber(year, month, day)).toBe(days);
        expect(weekdayOf(days)).toBe(date.getUTCDay());
        expect(daysInMonth(year, month)).toBe(new Date(Date.UTC(year, month, 0)).getUTCDate());
      }),
    );
  });
});

describe('a cron expression', () => {
  test.each([
    ['30 2 * * *', '2026-01-01T02:30:00Z', ['2026-01-02T02:30Z', '2026-01-03T02:30Z']],
    [
      '*/20 9-10 * * mon-fri',
      '2026-01-02T10:30Z',
      ['2026-01-02T10:40Z', '2026-01-05T09:00Z', '2026-01-05T09:20Z'],
    ],
    ['10/25 0 * * *', '2026-01-01T00:00Z', ['2026-01-01T00:10Z', '2026-01-01T00:35Z', '2026-01-02T00:10Z']],
    ['30 */5 10 * * *', '2026-01-01T10:50:30Z', ['2026-01-01T10:55:30Z', '2026-01-02T10:00:30Z']],
    ['0 0 29 2 *', '2096-03-01T00:00Z', ['2104-02-29T00:00Z']],
    ['0 0 13 * fri', '2026-02-01T00:00Z', ['2026-02-06T00:00Z', '2026-02-13T00:00Z', '2026-02-20T00:00Z']],
    ['0 0 */2 * 1', '2026-04-22T00:00Z', ['2026-04-27T00:00Z', '2026-05-11T00:00Z']],
    ['0 0 ? JAN,jul SUN', '2026-07-19T00:00Z', ['2026-07-26T00:00Z', '2027-01-03T00:00Z']],
    ['0 0 * * 5-7', '2026-01-01T00:00Z', ['2026-01-02T00:00Z', '2026-01-03T00:00Z', '2026-01-04T00:00Z']],
    ['0 0 L * *', '2026-02-01T00:00Z', ['2026-02-28T00:00Z', '2026-03-31T00:00Z']],
    ['0 0 L-2 2 *', '2026-02-01T00:00Z', ['2026-02-26T00:00Z', '2027-02-26T00:00Z', '2028-02-27T00:00Z']],
    ['0 0 15W * *', '2026-02-01T00:00Z', ['2026-02-16T00:00Z', '2026-03-16T00:00Z', '2026-04-15T00:00Z']],
    ['0 0 1W * *', '2026-07-30T00:00Z', ['2026-08-03T00:00Z', '2026-09-01T00:00Z']],
    ['0 0 LW * *', '2026-01-01T00:00Z', ['2026-01-30T00:00Z', '2026-02-27T00:00Z']],
    [
      '0 0 * * fri#2,mon#5',
      '2026-03-01T00:00Z',
      ['2026-03-13T00:00Z', '2026-03-30T00:00Z', '2026-04-10T00:00Z'],
    ],
    ['0 0 * * 5L', '2026-01-01T00:00Z', ['2026-01-30T00:00Z', '2026-02-27T00:00Z']],
    ['0 0 * * sunL', '2026-01-01T00:00Z', ['2026-01-25T00:00Z', '2026-02-22T00:00Z']],
    ['@weekly', '2026-01-01T00:00Z', ['2026-01-04T00:00Z', '2026-01-11T00:00Z']],
    ['@Yearly', '2026-01-01T00:00Z', ['2027-01-01T00:00Z']],
  ])('%s comes when it says', (text, after, expected) => {
    expect(next(cron(text), after, expected.length)).toEqual(expected);
  });

  test.each([
    ['0 25 * * *', 'hour: "25" is not from 0 to 23; midnight is 0.'],
    ['60 * * * *', 'minute: "60" is not from 0 to 59.'],
    ['0 0 0 * *', 'day of month: "0" is not from 1 to 31; L is the last day.'],
    ['0 0 * janury *', 'month: "janury" is no name of a month; write jan.'],
    ['0 0 * * tues', 'day of week: "tues" is no name of a day; write tue.'],
    ['0 0 * * 8', 'day of week: "8" is not from 0 to 7; Sunday is 0 or 7.'],
    ['0 22-2 * * *', 'hour: "22-2" runs backwards; write 22-23,0-2.'],
    ['0 0 * * sat-mon', 'day of week: "sat-mon" runs backwards; write 6-6,0-1.'],
    ['*/0 * * * *', 'minute: "*/0" has no step; behind / write a number from 1 on.'],
    [
      '*/90 * * * *',
      'minute: "*/90" never takes its step: a minute counts from 0 to 59 and begins again; for every 90 minutes write "every: 90m" instead of a cron expression.',
    ],
    ['a * * * *', 'minute: "a" is no number; write from 0 to 59.'],
    ['1,,2 * * * *', 'minute: "" is no value; write for example 5, 1-5 or */2.'],
    ['1-2-3 * * * *', 'minute: "1-2-3" is no minute; write 0 to 59, or a range such as 0-4.'],
    ['0 0 * * L', 'day of week: "L" does not say which day; write satL for the last Saturday of the month.'],
    [
      '0 0 * * fri#6',
      'day of week: "fri#6" counts from 1 to 5 in a month; write for example fri#2 for the second Friday.',
    ],
    [
      '0 0 30 2 *',
      'day of month: "0 0 30 2 *" never comes: no month that "2" means has a day that "30" and the day of week mean; it has 29 days at most, and L is its last day.',
    ],
    [
      '0 0 31 2,4,6 *',
      'day of month: "0 0 31 2,4,6 *" never comes: no month that "2,4,6" means has a day that "31" and the day of week mean; it has 30 days at most, and L is its last day.',
    ],
    [
      '* * * *',
      'cron: "* * * *" has 4 fields; write five (minute, hour, day of month, month, day of week), or six with seconds before them.',
    ],
    [
      '0 0 0 1 1 * 2027',
      'cron: "0 0 0 1 1 * 2027" has 7 fields; write five (minute, hour, day of month, month, day of week), or six with seconds before them. A year cannot be said.',
    ],
    [
      '',
      'cron: is empty; write five (minute, hour, day of month, month, day of week), or six with seconds before them.',
    ],
    [
      '@reboot',
      'cron: "@reboot" is no nickname that names a time; there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly.',
    ],
    ['@every 15m', 'cron: "@every 15m" is not cron; write "every: 15m" instead of a cron expression.'],
  ])('%s is refused by the field and with what to do', (text, message) => {
    expect(problemOf({ cron: text, timezone: 'UTC' })).toBe(message);
  });

  test.each([
    [
      'a gap: a fixed time runs once, at its end',
      '30 2 * * *',
      '2026-03-28T12:00Z',
      ['2026-03-29T01:00Z', '2026-03-30T00:30Z'],
    ],
    [
      'a gap: two fixed times in it run once together',
      '0,30 2 * * *',
      '2026-03-28T12:00Z',
      ['2026-03-29T01:00Z', '2026-03-30T00:00Z'],
    ],
    [
      'a gap: every hour goes on',
      '5 * * * *',
      '2026-03-29T00:00Z',
      ['2026-03-29T00:05Z', '2026-03-29T01:05Z'],
    ],
    [
      'a gap: every two hours leave no longer pause',
      '10 */2 * * *',
      '2026-03-28T23:30Z',
      ['2026-03-29T01:00Z', '2026-03-29T02:10Z'],
    ],
    [
      'an overlap: a fixed time runs the first time',
      '30 2 * * *',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    ],
    [
      'an overlap: steps go on',
      '*/30 2 * * *',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-25T01:00Z', '2026-10-25T01:30Z'],
    ],
  ])('in %s', (_name, text, after, expected) => {
    expect(next(cron(text, 'Europe/Berlin'), after, expected.length)).toEqual(expected);
  });
});

describe('the other rules', () => {
  test('every so often counts from its anchor, which is the first one', () => {
    const rule = ruleOf({ everyMs: 900_000, anchor: Date.parse('2026-01-01T00:07Z') });
    expect(next(rule, '2025-06-01T00:00Z', 2)).toEqual(['2026-01-01T00:07Z', '2026-01-01T00:22Z']);
    expect(next(rule, '2026-01-01T00:22Z', 1)).toEqual(['2026-01-01T00:37Z']);
    expect(problemOf({ everyMs: 10, anchor: 0 })).toBe('every: 10 ms is too short; the shortest is 1s.');
    expect(problemOf({ everyMs: 1_000, anchor: Number.NaN })).toContain('anchor: NaN is no instant');
  });

  test.each([
    ['2027-01-01T09:00', 'Europe/Berlin', '2027-01-01T08:00Z'],
    ['2027-01-01 09:00:30', 'Asia/Kolkata', '2027-01-01T03:30:30Z'],
    ['2027-01-01T09:00:00+01:00', 'America/New_York', '2027-01-01T08:00Z'],
    ['2027-01-01T09:00Z', 'America/New_York', '2027-01-01T09:00Z'],
    ['2027-03-28T02:30', 'Europe/Berlin', '2027-03-28T01:00Z'],
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30Z'],
    ['2026-10-25T02:30+01:00', 'Europe/Berlin', '2026-10-25T01:30Z'],
    ['2011-12-30T12:00', 'Pacific/Apia', '2011-12-30T10:00Z'],
  ])('at %s in %s', (at, timezone, expected) => {
    expect(next(ruleOf({ at, timezone }), '2000-01-01T00:00Z', 2)).toEqual([expected]);
  });

  test.each([
    ['2027-02-29T09:00', 'has a day that month 2 of 2027 has not'],
    ['2027-13-01T09:00', 'has no month 13'],
    ['2027-01-01T24:00', 'has an hour 24; midnight is 00:00 of the next day'],
    ['2027-01-01T09:61', 'has minutes or seconds beyond 59'],
    ['2027-01-01', 'is no date with a time'],
    ['tomorrow', 'is no date with a time'],
    ['1961-01-01T00:00', 'lies before 1970'],
  ])('at %s is refused', (at, what) => {
    expect(problemOf({ at, timezone: 'UTC' })).toBe(
      `at: "${at}" ${what}; write a local time such as 2027-01-01T09:00, or an instant such as 2027-01-01T09:00:00Z.`,
    );
  });
});

describe('a zone', () => {
  test.each([
    ['Europe/Berln', 'Europe/Berlin'],
    ['Berlin', 'Europe/Berlin'],
    ['berlin', 'Europe/Berlin'],
    ['US/Berlin', 'Europe/Berlin'],
    ['New York', 'America/New_York'],
    ['America/NewYork', 'America/New_York'],
    ['PST', 'America/Los_Angeles'],
    ['BST', 'Europe/London'],
    ['CEST', 'Europe/Berlin'],
    ['Kolkatta', 'Asia/Kolkata'],
  ])('that does not exist, %s, is refused with the nearest one', (name, nearest) => {
    expect(parseZone(name)).toEqual({
      problem: {
        field: 'timezone',
        message: `timezone: "${name}" is no time zone; did you mean ${nearest}?`,
        nearest,
      },
    });
    expect(parseZone(nearest)).toHaveProperty('zone');
  });

  test.each(['+02:00', 'UTC+2', 'Xyzzy/Plugh', ''])('that is none, %s, is refused', (name) => {
    expect(parseZone(name)).toMatchObject({
      problem: {
        field: 'timezone',
        message: expect.stringContaining('write an IANA name such as Europe/Berlin or UTC.'),
      },
    });
  });

  test('is one, however its name is written', () => {
    const zoneOf = (name: string): unknown => Object.values(parseZone(name))[0];
    expect(zoneOf('EUROPE/paris')).toBe(zoneOf('Europe/Paris'));
    expect(zoneOf('EUROPE/paris')).toMatchObject({ name: 'Europe/Paris' });
  });

  test.each(['UTC', 'europe/berlin', 'US/Eastern', 'Asia/Kolkata', 'Asia/Calcutta', 'Etc/GMT+5'])(
    'may be %s',
    (name) => {
      expect(parseZone(name)).toHaveProperty('zone');
    },
  );
});

describe('the instants of any rule', () => {
  const field = (lowest: number, highest: number): fc.Arbitrary<string> => {
    const value = fc.integer({ min: lowest, max: highest });
    const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
    const item = fc.oneof(
      value.map(String),
      range,
      fc.integer({ min: 1, max: 6 }).map((step) => `*/${step}`),
    );
    return fc.oneof(
      fc.constant('*'),
      item,
      fc.tuple(item, item).map((items) => items.join(',')),
    );
  };
  const expression = fc
    .tuple(
      fc.constantFrom('', '15 ', '*/20 '),
      field(0, 59),
      field(0, 23),
      field(1, 28),
      field(1, 12),
      field(0, 6),
    )
    .map(([seconds, ...fields]) => `${seconds}${fields.join(' ')}`);
  const zone = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Antarctica/Troll',
    'America/Havana',
  );
  const written: fc.Arbitrary<WrittenRule> = fc.oneof(
    { weight: 8, arbitrary: fc.record({ cron: expression, timezone: zone }) },
    fc.record({
      everyMs: fc.integer({ min: 1_000, max: 10_000_000 }),
      anchor: fc.integer({ min: 0, max: 2_000_000_000_000 }),
    }),
    fc.record({ at: fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }), timezone: zone }),
  );
  const instant = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2028, 0, 1) });

  test('grow, are the same in two parts as in one, and nextInstant names each of them', () => {
    fc.assert(
      fc.property(written, instant, instant, fc.nat(4_000_000_000), (text, from, cut, length) => {
        const rule = ruleOf(text);
        const until = from + length;
        const middle = Math.min(Math.max(cut, from), until);
        const whole = instantsBetween(rule, from, until, 100);
        const parts = [
          ...instantsBetween(rule, from, middle, 100),
          ...instantsBetween(rule, middle, until, 100),
        ];
        expect(parts.slice(0, 100)).toEqual(whole);
        const before = [from, ...whole.slice(0, -1)];
        expect(whole.every((at, index) => at > (before[index] ?? from))).toBe(true);
        expect(before.slice(0, whole.length).map((at) => nextInstant(rule, at))).toEqual(whole);
        expect(whole.map((at) => nextInstant(rule, at - 1))).toEqual(whole);
        const last = whole.at(-1) ?? from;
        if (whole.length < 100) expect(nextInstant(rule, last, until)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });
});
