/**
 * What cron expressions mean, decided without anything of the product: every UTC minute is formatted by Intl, and the
 * fields that it shows are compared, one by one. Slow, and short enough to be read.
 */
export interface Minute {
  /** UTC milliseconds. */
  readonly instant: number;
  /** What the wall shows, as if it were UTC: for comparing and counting only. */
  readonly wall: number;
}

const minuteMs = 60_000;

/** Formats instants in a zone. */
export function wallClock(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (instant) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (
      format.format(instant).match(/\d+/g) ?? []
    ).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute);
  };
}

/** Every minute of [from, to), formatted. */
export function minutesOf(zone: string, from: number, to: number): Minute[] {
  const wall = wallClock(zone);
  const minutes: Minute[] = [];
  for (let instant = from; instant < to; instant += minuteMs) minutes.push({ instant, wall: wall(instant) });
  return minutes;
}

/** The first minutes at which the wall shows another distance from UTC than a minute before, in [from, to). */
export function changesOf(zone: string, from: number, to: number): number[] {
  const wall = wallClock(zone);
  const changes: number[] = [];
  // No zone had a shorter stretch than a week since 1970.
  const stepMs = 4 * 86_400_000;
  let offset = wall(from) - from;
  for (let at = from; at < to; at += stepMs) {
    let [same, other] = [at, at + stepMs];
    const nextOffset = wall(other) - other;
    if (nextOffset === offset) continue;
    while (other - same > minuteMs) {
      const middle = same + Math.floor((other - same) / 2 / minuteMs) * minuteMs;
      if (wall(middle) - middle === offset) same = middle;
      else other = middle;
    }
    changes.push(other);
    offset = nextOffset;
  }
  return changes;
}

/**
 * The minutes of (after, until] at which an expression fires. The policy in three sentences: it fires when its fields
 * match; in a second pass of the same wall time only if the minutes or hours have a star; and when the wall jumped over a
 * time that matches, it fires at the first minute after the jump, unless the expression means every hour.
 * `minutes` begin early enough to have the first pass of whatever they show twice.
 */
export function firesAt(
  expression: string,
  minutes: readonly Minute[],
  after: number,
  until: number,
): number[] {
  const fields = fieldsOf(expression);
  const [minute = '', hour = ''] = expression.split(' ');
  const isHourly = hour === '*' || hour === '0-23';
  const goesByElapsedTime = isHourly || minute.startsWith('*') || hour.startsWith('*');
  const fires: number[] = [];
  const shown = new Set<number>();
  let last = (minutes[0]?.wall ?? 0) - minuteMs;
  for (const { instant, wall } of minutes) {
    let isDue = matches(fields, wall) && (goesByElapsedTime || !shown.has(wall));
    for (let jumped = last + minuteMs; jumped < wall && !isHourly; jumped += minuteMs)
      isDue ||= matches(fields, jumped);
    if (isDue && instant > after && instant <= until) fires.push(instant);
    shown.add(wall);
    last = wall;
  }
  return fires;
}

/** What the five fields of an expression mean: numbers, lists, ranges, stars and steps; no names. */
interface Fields {
  readonly sets: readonly ReadonlySet<number>[];
  /** Both fields that name days must fit when one of them begins with a star; else one is enough. */
  readonly isBoth: boolean;
}

const bounds = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;

function fieldsOf(expression: string): Fields {
  const fields = expression.split(' ');
  const sets = bounds.map(([lowest, highest], index) => {
    const numbers = Array.from({ length: 60 }, (_, number) => number);
    return new Set(numbers.filter((number) => has(fields[index] ?? '', number, lowest, highest)));
  });
  return { sets, isBoth: fields.slice(2).some((field, index) => index !== 1 && field.startsWith('*')) };
}

/** Tells whether an expression means a wall time. */
export function meaningOf(expression: string): (wall: number) => boolean {
  const fields = fieldsOf(expression);
  return (wall) => matches(fields, wall);
}

function matches({ sets, isBoth }: Fields, wall: number): boolean {
  const date = new Date(wall);
  const [minutes, hours, days, months, weekdays] = sets;
  if (!minutes?.has(date.getUTCMinutes()) || !hours?.has(date.getUTCHours())) return false;
  if (!months?.has(date.getUTCMonth() + 1)) return false;
  const isDay = days?.has(date.getUTCDate()) === true;
  const weekday = date.getUTCDay();
  const isWeekday = weekdays?.has(weekday) === true || (weekday === 0 && weekdays?.has(7) === true);
  return isBoth ? isDay && isWeekday : isDay || isWeekday;
}

function has(field: string, value: number, lowest: number, highest: number): boolean {
  return field.split(',').some((item) => {
    const [range = '', step] = item.split('/');
    const [from, to] = range === '*' ? [lowest, highest] : range.split('-').map(Number);
    const end = to ?? (step === undefined ? from : highest);
    const isIn = from !== undefined && end !== undefined && value >= from && value <= end;
    return isIn && (value - (from ?? 0)) % Number(step ?? 1) === 0;
  });
}
