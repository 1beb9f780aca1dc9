/** A stretch of time that is looked at; UTC milliseconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** A shorter one cannot be looked at: nothing is known more exactly than to the millisecond. */
const shortestMs = 10;

/** The window that is `factor` times as long, with the instant `at` where it was; never beyond the whole. */
export function zoomed(window: TimeWindow, factor: number, at: number, whole: TimeWindow): TimeWindow {
  const length = clamp((window.to - window.from) * factor, shortestMs, whole.to - whole.from);
  const share = (at - window.from) / (window.to - window.from || 1);
  return moved({ from: at - length * share, to: at - length * share + length }, 0, whole);
}

/** The window later by so much, as far as the whole goes. */
export function moved({ from, to }: TimeWindow, by: number, whole: TimeWindow): TimeWindow {
  const length = Math.min(to - from, whole.to - whole.from);
  const start = clamp(from + by, whole.from, whole.to - length);
  return { from: start, to: start + length };
}

/** From one instant to another, whichever is first; at least as long as can be looked at. */
export function between(one: number, other: number, whole: TimeWindow): TimeWindow {
  const middle = (one + other) / 2;
  const half = Math.max(Math.abs(one - other), shortestMs) / 2;
  return moved({ from: middle - half, to: middle + half }, 0, whole);
}

/** Where an instant is, of a width; it may be outside. */
export function placeOf(instant: number, { from, to }: TimeWindow, width: number): number {
  return ((instant - from) / (to - from || 1)) * width;
}

/** The instant at a place. */
export function instantAt(place: number, { from, to }: TimeWindow, width: number): number {
  return from + (place / (width || 1)) * (to - from);
}

/** `1200-5600`: a window in an address, from the beginning of the tree on; milliseconds. */
export function windowText({ from, to }: TimeWindow, startsAt: number): string {
  return `${Math.round(from - startsAt)}-${Math.round(to - startsAt)}`;
}

/** The window of an address; undefined where it says none. */
export function windowOfText(text: string | undefined, startsAt: number): TimeWindow | undefined {
  const [, from = '', to = ''] = /^(\d{1,13})-(\d{1,13})$/.exec(text ?? '') ?? [];
  if (from === '' || Number(to) - Number(from) < shortestMs) return undefined;
  return { from: startsAt + Number(from), to: startsAt + Number(to) };
}

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * secondMs),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minuteMs),
  ...[1, 2, 3, 6, 12].map((count) => count * hourMs),
  ...[1, 2, 7, 14, 28].map((count) => count * dayMs),
];

/** A mark of the axis: its instant, and how long after the beginning that is, in words. */
export interface Tick {
  readonly at: number;
  readonly words: string;
}

/** The marks of an axis, at round times after the beginning, each with so much room. */
export function ticksOf(window: TimeWindow, startsAt: number, width: number, roomPx = 80): Tick[] {
  const length = window.to - window.from;
  if (length <= 0 || width <= 0) return [];
  const least = (length / width) * roomPx;
  const step = steps.find((each) => each >= least) ?? Math.ceil(least / (28 * dayMs)) * 28 * dayMs;
  const ticks: Tick[] = [];
  const first = Math.ceil((window.from - startsAt) / step);
  for (let count = first; startsAt + count * step <= window.to; count++)
    ticks.push({ at: startsAt + count * step, words: offsetWords(count * step) });
  return ticks;
}

/** `+0`, `+250ms`, `+1.5s`, `+2m05s`, `+3h`, `+1d06h`: a round time after the beginning. */
export function offsetWords(ms: number): string {
  if (ms === 0) return '0';
  if (ms < secondMs) return `+${ms}ms`;
  if (ms < minuteMs) return `+${Number((ms / secondMs).toFixed(3))}s`;
  if (ms < hourMs) return `+${pair(ms, minuteMs, 'm', secondMs, 's')}`;
  return ms < dayMs ? `+${pair(ms, hourMs, 'h', minuteMs, 'm')}` : `+${pair(ms, dayMs, 'd', hourMs, 'h')}`;
}

function pair(ms: number, largeMs: number, large: string, smallMs: number, small: string): string {
  const rest = Math.floor((ms % largeMs) / smallMs);
  return `${Math.floor(ms / largeMs)}${large}${rest === 0 ? '' : `${String(rest).padStart(2, '0')}${small}`}`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, Math.max(least, most)));
}
