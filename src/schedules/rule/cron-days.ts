import { dayNumber, daysInMonth, weekdayOf } from './civil.ts';
import { dayKind, readItem, readValue, refused, weekdayKind } from './cron-values.ts';

/** Which days of a month a rule means. Bits: bit 0 of `weekdays` is Sunday, bit 1 of `days` the first of a month. */
export interface DayRule {
  readonly days: number;
  /** `L` and `L-3`: days before the last one. */
  readonly fromLast: readonly number[];
  /** `15W`: the working day nearest to a day, within its month. */
  readonly nearestTo: readonly number[];
  /** `LW`: the last working day. */
  readonly isLastWorkingDay: boolean;
  readonly weekdays: number;
  /** `fri#2`: weekday and which one of the month. */
  readonly nth: readonly (readonly [weekday: number, nth: number])[];
  /** `5L`: the last such weekday of the month. */
  readonly lastWeekdays: readonly number[];
  /** A day that either field means, rather than both: when both are restricted, as cron has it since Vixie's. */
  readonly either: boolean;
}

/** Reads the two fields that name days. Throws RuleRefusal. */
export function readDays(monthDays: string, weekdays: string): DayRule {
  const ofMonth = readMonthDays(monthDays === '?' ? '*' : monthDays);
  const ofWeek = readWeekdays(weekdays === '?' ? '*' : weekdays);
  // By the first character, as Vixie's cron: `*/2` is a star too.
  return { ...ofMonth, ...ofWeek, either: ![monthDays, weekdays].some((text) => /^[*?]/.test(text)) };
}

/** The days of a month as bits: bit 1 is the first. */
export function dayBits(rule: DayRule, year: number, month: number): number {
  const last = daysInMonth(year, month);
  const first = weekdayOf(dayNumber(year, month, 1));
  let byDay = rule.days;
  for (const before of rule.fromLast) if (last - before >= 1) byDay |= 1 << (last - before);
  for (const day of rule.nearestTo) if (day <= last) byDay |= 1 << workingDay(day, last, first);
  if (rule.isLastWorkingDay) byDay |= 1 << workingDay(last, last, first);
  let byWeekday = 0;
  for (let day = 1; day <= last; day++)
    if ((rule.weekdays >> ((first + day - 1) % 7)) & 1) byWeekday |= 1 << day;
  for (const [weekday, nth] of rule.nth) {
    const day = 1 + ((weekday - first + 7) % 7) + 7 * (nth - 1);
    if (day <= last) byWeekday |= 1 << day;
  }
  for (const weekday of rule.lastWeekdays) byWeekday |= 1 << (last - ((first + last - 1 - weekday + 14) % 7));
  const bits = rule.either ? byDay | byWeekday : byDay & byWeekday;
  // Bit 31 is the sign.
  return bits & (last === 31 ? -1 : (1 << (last + 1)) - 1);
}

/** The Monday to Friday nearest to a day, never in another month. `first`: the weekday of the first. */
function workingDay(day: number, last: number, first: number): number {
  const weekday = (first + day - 1) % 7;
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < last ? day + 1 : day - 2;
  return day;
}

function readMonthDays(text: string): Pick<DayRule, 'days' | 'fromLast' | 'nearestTo' | 'isLastWorkingDay'> {
  const fromLast: number[] = [];
  const nearestTo: number[] = [];
  let isLastWorkingDay = false;
  let days = 0;
  for (const item of text.split(',')) {
    const last = /^L(?:-(\d+))?$/i.exec(item);
    const nearest = /^(\d+)W$/i.exec(item);
    if (/^LW$/i.test(item)) isLastWorkingDay = true;
    else if (last) fromLast.push(daysBeforeLast(item, last[1]));
    else if (nearest) nearestTo.push(readValue(dayKind, nearest[1] ?? ''));
    else for (const day of readItem(dayKind, item)) days |= 1 << day;
  }
  return { days, fromLast, nearestTo, isLastWorkingDay };
}

function daysBeforeLast(item: string, text: string | undefined): number {
  const before = Number(text ?? 0);
  if (before <= 30) return before;
  throw refused(dayKind, item, 'lies before every month; write L-1 to L-30');
}

function readWeekdays(text: string): Pick<DayRule, 'weekdays' | 'nth' | 'lastWeekdays'> {
  const nth: [number, number][] = [];
  const lastWeekdays: number[] = [];
  let weekdays = 0;
  for (const item of text.split(',')) {
    const numbered = /^(\w+)#(\w*)$/.exec(item);
    const last = /^(\w+)L$/i.exec(item);
    if (numbered) nth.push([readValue(weekdayKind, numbered[1] ?? '') % 7, readNth(item, numbered[2] ?? '')]);
    else if (last) lastWeekdays.push(readValue(weekdayKind, last[1] ?? '') % 7);
    else if (/^L$/i.test(item))
      throw refused(
        weekdayKind,
        item,
        'does not say which day; write satL for the last Saturday of the month',
      );
    else for (const day of readItem(weekdayKind, item)) weekdays |= 1 << (day % 7);
  }
  return { weekdays, nth, lastWeekdays };
}

function readNth(item: string, text: string): number {
  if (/^[1-5]$/.test(text)) return Number(text);
  throw refused(
    weekdayKind,
    item,
    'counts from 1 to 5 in a month; write for example fri#2 for the second Friday',
  );
}
