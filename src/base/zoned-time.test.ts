import { describe, expect, it } from 'vitest';
import { dayInZone, inZone } from './zoned-time.ts';

describe('an instant in a zone', () => {
  it.each([
    ['2027-01-01T00:00:00Z', 'UTC', '2027-01-01T00:00:00Z'],
    ['2027-03-28T00:59:59Z', 'Europe/Berlin', '2027-03-28T01:59:59+01:00'],
    ['2027-03-28T01:00:00Z', 'Europe/Berlin', '2027-03-28T03:00:00+02:00'],
    ['2027-10-31T00:30:00Z', 'Europe/Berlin', '2027-10-31T02:30:00+02:00'],
    ['2027-10-31T01:30:00Z', 'Europe/Berlin', '2027-10-31T02:30:00+01:00'],
    ['2027-01-01T00:00:00Z', 'Asia/Kathmandu', '2027-01-01T05:45:00+05:45'],
    ['2027-01-01T00:00:00Z', 'America/St_Johns', '2026-12-31T20:30:00-03:30'],
    ['2027-07-01T12:00:00Z', 'Australia/Lord_Howe', '2027-07-01T22:30:00+10:30'],
    ['2027-06-01T00:00:00Z', 'Pacific/Kiritimati', '2027-06-01T14:00:00+14:00'],
  ])('%s in %s is %s', (utc, zone, expected) => {
    const ms = Date.parse(utc);
    expect(inZone(ms, zone)).toBe(expected);
    expect(dayInZone(ms, zone)).toBe(expected.slice(0, 10));
    expect(Date.parse(inZone(ms, zone))).toBe(ms);
  });

  it('says midnight as 00, and leaves out parts of a second', () => {
    expect(inZone(Date.parse('2027-01-01T23:00:00.999Z'), 'Europe/Berlin')).toBe('2027-01-02T00:00:00+01:00');
  });
});
