import { dayMs, dayNumber, daysInMonth } from './civil.ts';
import { type Cron, readCron } from './cron.ts';
import { type RuleProblem, RuleRefusal } from './problem.ts';
import { findZone, type Zone } from './zone.ts';
import { nearestZone } from './zone-names.ts';

/**
 * When, as it is written and kept: a cron expression in a zone; every so many milliseconds from `anchor` on (UTC
 * milliseconds); once, at an instant (UTC milliseconds or RFC 3339) or at a local time (`2027-01-01T09:00`) in a zone.
 */
export type WrittenRule =
  | { readonly cron: string; readonly timezone: string }
  | { readonly everyMs: number; readonly anchor: number }
  | { readonly at: number | string; readonly timezone: string };

/** A rule that was read. It answers by `nextInstant` and `instantsBetween`; it holds no state but remembered offsets. */
export type Rule =
  | { readonly kind: 'cron'; readonly cron: Cron; readonly zone: Zone }
  | { readonly kind: 'every'; readonly everyMs: number; readonly anchor: number }
  | {
      readonly kind: 'at';
      readonly instant: number;
      readonly zone: Zone;
      /** The local time of a text without an offset, as milliseconds of the wall; null for an instant. */
      readonly wall: number | null;
      /** The local time that was asked for does not exist (then `instant` is the first one after the gap), or comes twice (the first). */
      readonly dst: 'gap' | 'overlap' | null;
    };

/** More often than every second is no schedule. Milliseconds. */
const shortestEveryMs = 1_000;

/**
 * Reads a rule. Never throws. Refuses what is malformed, a zone that does not exist, and an expression that never comes;
 * whether an `at` lies in the past is for the caller to judge, who knows the time.
 */
export function parseRule(written: WrittenRule): { readonly rule: Rule } | { readonly problem: RuleProblem } {
  try {
    return { rule: readRule(written) };
  } catch (thrown) {
    if (thrown instanceof RuleRefusal) return { problem: thrown.problem };
    throw thrown;
  }
}

/** The zone of a name, or why there is none. */
export function parseZone(name: string): { readonly zone: Zone } | { readonly problem: RuleProblem } {
  const zone = findZone(name);
  if (zone) return { zone };
  const nearest = nearestZone(name);
  const isOffset = /^(UTC|GMT)?[+-]\d/i.test(name);
  const instead =
    nearest === undefined || isOffset
      ? 'write an IANA name such as Europe/Berlin or UTC'
      : `did you mean ${nearest}?`;
  const what = isOffset ? 'is an offset, which does not say when the clock is changed' : 'is no time zone';
  const message = `timezone: "${name}" ${what}; ${instead}`;
  return {
    problem: {
      field: 'timezone',
      message: message.endsWith('?') ? message : `${message}.`,
      ...(nearest === undefined || isOffset ? {} : { nearest }),
    },
  };
}

function readRule(written: WrittenRule): Rule {
  if ('everyMs' in written) return readEvery(written.everyMs, written.anchor);
  const zone = readZone(written.timezone);
  if ('cron' in written) return { kind: 'cron', cron: readCron(written.cron), zone };
  return readAt(written.at, zone);
}

function readZone(name: string): Zone {
  const found = parseZone(name);
  if ('zone' in found) return found.zone;
  throw new RuleRefusal('timezone', found.problem.message, found.problem.nearest);
}

function readEvery(everyMs: number, anchor: number): Rule {
  if (!Number.isSafeInteger(everyMs) || everyMs < shortestEveryMs)
    throw new RuleRefusal('every', `every: ${everyMs} ms is too short; the shortest is 1s.`);
  if (!Number.isSafeInteger(anchor) || Math.abs(anchor) > latestMs)
    throw new RuleRefusal('anchor', `anchor: ${anchor} is no instant; write one such as 2027-01-01T09:00Z.`);
  return { kind: 'every', everyMs, anchor };
}

/** The end of the year 9999: nothing is computed beyond it. UTC milliseconds. */
const latestMs = dayNumber(10_000, 1, 1) * dayMs - 1;

const atPattern =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

function readAt(at: number | string, zone: Zone): Rule {
  if (typeof at === 'number') {
    if (!Number.isSafeInteger(at) || Math.abs(at) > latestMs) throw wrongAt(String(at), 'is no instant');
    return { kind: 'at', instant: at, zone, wall: null, dst: null };
  }
  const parts = atPattern.exec(at.trim());
  if (!parts) throw wrongAt(at, 'is no date with a time');
  const wall = readWall(at, parts);
  const offset = parts[8];
  if (offset !== undefined)
    return { kind: 'at', instant: wall - readOffset(at, offset), zone, wall: null, dst: null };
  return { kind: 'at', ...zone.instantOf(wall), zone, wall };
}

function readWall(at: string, parts: readonly (string | undefined)[]): number {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (year < 1970) throw wrongAt(at, 'lies before 1970');
  if (month < 1 || month > 12) throw wrongAt(at, `has no month ${month}`);
  if (day < 1 || day > daysInMonth(year, month))
    throw wrongAt(at, `has a day that month ${month} of ${year} has not`);
  if (hour > 23)
    throw wrongAt(
      at,
      hour === 24 ? 'has an hour 24; midnight is 00:00 of the next day' : `has no hour ${hour}`,
    );
  if (minute > 59 || second > 59) throw wrongAt(at, 'has minutes or seconds beyond 59');
  const ms = Number((parts[7] ?? '0').padEnd(3, '0'));
  return dayNumber(year, month, day) * dayMs + ((hour * 60 + minute) * 60 + second) * 1_000 + ms;
}

function readOffset(at: string, text: string): number {
  if (text.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(3).replace(':', '') || 0)];
  if (hours > 23 || minutes > 59) throw wrongAt(at, `has no offset ${text}`);
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

function wrongAt(at: string, what: string): RuleRefusal {
  const instead = 'write a local time such as 2027-01-01T09:00, or an instant such as 2027-01-01T09:00:00Z';
  return new RuleRefusal('at', `at: "${at}" ${what}; ${instead}.`);
}
