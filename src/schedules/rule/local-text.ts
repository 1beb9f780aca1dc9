import { civilDate, dayMs, weekdayOf } from './civil.ts';
import type { Zone } from './zone.ts';

/** `2026-03-29 02:30` of a wall time, with seconds where there are any. */
export function wallText(wall: number): string {
  const { year, month, day } = civilDate(Math.floor(wall / dayMs));
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)} ${timeText(wall)}`;
}

/** `02:30` of a wall time, with seconds where there are any. */
export function timeText(wall: number): string {
  const second = Math.floor((((wall % dayMs) + dayMs) % dayMs) / 1_000);
  const time = `${two(Math.floor(second / 3_600))}:${two(Math.floor(second / 60) % 60)}`;
  return second % 60 === 0 ? time : `${time}:${two(second % 60)}`;
}

/** An instant (UTC milliseconds) as people of a zone write it: `Sun 2026-03-29 03:00 +02:00`. */
export function localText(zone: Zone, instant: number): string {
  const { offset } = zone.stretchAt(instant);
  const wall = instant + offset;
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const offsetText = `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  const weekday = weekdays[weekdayOf(Math.floor(wall / dayMs))] ?? '';
  return `${weekday} ${wallText(wall)} ${offsetText}`;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function two(value: number): string {
  return String(value).padStart(2, '0');
}
