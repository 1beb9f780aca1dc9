/** The zone of whoever looks. */
export function personZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** What is further away than this is told with its year; milliseconds. */
const nearMs = 180 * 86_400_000;

/** An instant (RFC 3339) as people of a zone write it, to the minute; the year only where it is far from `now`. */
export function instantIn(instant: string, zone: string, now = Date.now()): string {
  const isFar = Math.abs(Date.parse(instant) - now) > nearMs;
  const key = `${zone} ${isFar}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat(undefined, {
      ...(isFar ? { year: 'numeric' } : { weekday: 'short' }),
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: zone,
    });
    formats.set(key, format);
  }
  return format.format(new Date(instant));
}

/** The text of a `datetime-local` field for an instant in milliseconds, in the zone of whoever looks. */
export function fieldText(ms: number): string {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The instant (RFC 3339) that a `datetime-local` field says, in the zone of whoever looks; undefined when it says none. */
export function instantOfField(text: string): string | undefined {
  const ms = Date.parse(text);
  return text === '' || Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
