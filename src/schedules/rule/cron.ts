import { type DayRule, dayBits, readDays } from './cron-days.ts';
import { civilDate, dayMs, dayNumber } from './civil.ts';
import { type FieldKind, hourKind, minuteKind, monthKind, readItem, secondKind } from './cron-values.ts';
import { RuleRefusal } from './problem.ts';

/** For each number the smallest one of the field from there on, or -1. */
type NextTable = readonly number[];

/** A cron expression, read: which wall times it means, and what it does where the clock is changed. */
export interface Cron {
  /** Five or six fields, one space between them; nicknames are written out. */
  readonly text: string;
  readonly seconds: NextTable;
  readonly minutes: NextTable;
  readonly hours: NextTable;
  /** Bit 1 is January. */
  readonly months: number;
  readonly days: DayRule;
  /** It means every hour: what a gap swallows is not made up, since it goes on within the hour. */
  readonly isHourly: boolean;
  /** A star in the minutes or hours: it goes by elapsed time, and fires in both passes of an overlap. */
  readonly isRepeating: boolean;
}

/** Nicknames, and what crontab(5) says they mean. */
const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Reads an expression. Throws RuleRefusal, also for one that never comes. */
export function readCron(expression: string): Cron {
  const written = expression.trim();
  const text = written.startsWith('@') ? readNickname(written) : written.split(/\s+/).join(' ');
  const fields = text === '' ? [] : text.split(' ');
  if (fields.length !== 5 && fields.length !== 6) throw wrongCount(text, fields.length);
  const [second = '0', minute = '', hour = '', day = '', month = '', weekday = ''] =
    fields.length === 6 ? fields : ['0', ...fields];
  const hours = readSet(hourKind, hour);
  const cron: Cron = {
    text,
    seconds: nextTable(secondKind, readSet(secondKind, second)),
    minutes: nextTable(minuteKind, readSet(minuteKind, minute)),
    hours: nextTable(hourKind, hours),
    months: [...readSet(monthKind, month)].reduce((bits, each) => bits | (1 << each), 0),
    days: readDays(day, weekday),
    isHourly: hours.size === 24,
    isRepeating: hours.size === 24 || [minute, hour].some((each) => each.startsWith('*')),
  };
  if (nextWall(cron, firstMonthMs) === undefined) throw neverComes(cron, day, month);
  return cron;
}

/** The first wall time from `wall` on (inclusive; whole seconds) that an expression means; undefined if none ever comes. */
export function nextWall(cron: Cron, wall: number): number | undefined {
  const days = Math.floor(wall / dayMs);
  const { year, month, day } = civilDate(days);
  if ((cron.months >> month) & 1 && (dayBits(cron.days, year, month) >> day) & 1) {
    const second = nextSecond(cron, (wall - days * dayMs) / 1_000);
    if (second !== undefined) return days * dayMs + second * 1_000;
  }
  const next = nextDay(cron, year, month, day + 1);
  return next === undefined ? undefined : next * dayMs + (nextSecond(cron, 0) ?? 0) * 1_000;
}

/** The calendar repeats after 400 years: what does not come in them never comes. */
const calendarMonths = 400 * 12;
const firstMonthMs = 0;

function nextDay(cron: Cron, year: number, month: number, fromDay: number): number | undefined {
  let from = fromDay;
  for (let count = 0, y = year, m = month; count <= calendarMonths; count++, from = 1) {
    const bits = (cron.months >> m) & 1 ? dayBits(cron.days, y, m) : 0;
    for (let day = from; bits !== 0 && day <= 31; day++) if ((bits >> day) & 1) return dayNumber(y, m, day);
    m = m === 12 ? 1 : m + 1;
    if (m === 1) y++;
  }
  return undefined;
}

/** The first second of a day from `from` on. */
function nextSecond(cron: Cron, from: number): number | undefined {
  const [hour, minute, second] = [Math.floor(from / 3_600), Math.floor(from / 60) % 60, from % 60];
  const firstMinute = (cron.minutes[0] ?? 0) * 60;
  const firstSecond = cron.seconds[0] ?? 0;
  const nextHour = cron.hours[hour] ?? -1;
  if (nextHour === hour) {
    const nextMinute = cron.minutes[minute] ?? -1;
    const sameMinute = nextMinute === minute ? (cron.seconds[second] ?? -1) : -1;
    if (sameMinute >= 0) return hour * 3_600 + minute * 60 + sameMinute;
    const laterMinute = cron.minutes[minute + 1] ?? -1;
    if (laterMinute >= 0) return hour * 3_600 + laterMinute * 60 + firstSecond;
  }
  const laterHour = nextHour > hour ? nextHour : (cron.hours[hour + 1] ?? -1);
  return laterHour < 0 ? undefined : laterHour * 3_600 + firstMinute + firstSecond;
}

function readSet(kind: FieldKind, text: string): Set<number> {
  return new Set(text.split(',').flatMap((item) => readItem(kind, item)));
}

function nextTable(kind: FieldKind, numbers: ReadonlySet<number>): NextTable {
  const table: number[] = [];
  let next = -1;
  for (let value = kind.highest; value >= 0; value--) {
    if (numbers.has(value)) next = value;
    table[value] = next;
  }
  return table;
}

function readNickname(written: string): string {
  const known = nicknames[written.toLowerCase()];
  if (known !== undefined) return known;
  const names = Object.keys(nicknames).join(', ');
  const what = /^@every\b/i.test(written)
    ? 'is not cron; write "every: 15m" instead of a cron expression'
    : `is no nickname that names a time; there are ${names}`;
  throw new RuleRefusal('cron', `cron: "${written}" ${what}.`);
}

function wrongCount(text: string, count: number): RuleRefusal {
  const fields = 'minute, hour, day of month, month, day of week';
  const tooMany = count === 7 ? ' A year cannot be said.' : '';
  const what = count === 0 ? 'is empty' : `"${text}" has ${count} ${count === 1 ? 'field' : 'fields'}`;
  const words = `cron: ${what}; write five (${fields}), or six with seconds before them.${tooMany}`;
  return new RuleRefusal('cron', words);
}

function neverComes(cron: Cron, day: string, month: string): RuleRefusal {
  const longest = Math.max(
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((each) =>
      (cron.months >> each) & 1 ? (each === 2 ? 29 : [4, 6, 9, 11].includes(each) ? 30 : 31) : 0,
    ),
  );
  const why = `no month that "${month}" means has a day that "${day}" and the day of week mean`;
  const instead = longest < 31 ? `; it has ${longest} days at most, and L is its last day` : '';
  return new RuleRefusal('day of month', `day of month: "${cron.text}" never comes: ${why}${instead}.`);
}
