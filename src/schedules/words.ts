import { inZone } from '../base/zoned-time.ts';

const minuteMs = 60_000;

/** An instant in words that every reader can read: RFC 3339 in UTC, to the second. */
export function instantText(at: number): string {
  return inZone(at, 'UTC');
}

/** A time span in words: `40 min`, `13 h`, `3 d`. */
export function spanText(ms: number): string {
  const minutes = Math.round(ms / minuteMs);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}
