const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * UTC milliseconds as RFC 3339 in a zone, to the second: `2027-03-28T03:00:00+02:00`. Throws a `RangeError` for what is no
 * zone.
 */
export function inZone(ms: number, zone: string): string {
  const { date, time, offset } = partsOf(ms, zone);
  return `${date}T${time}${offset}`;
}

/** The day that UTC milliseconds belong to in a zone: `2027-03-28`. Throws a `RangeError` for what is no zone. */
export function dayInZone(ms: number, zone: string): string {
  return partsOf(ms, zone).date;
}

function partsOf(ms: number, zone: string): { date: string; time: string; offset: string } {
  const whole = Math.floor(ms / 1000) * 1000;
  const found = Object.fromEntries(
    formatOf(zone)
      .formatToParts(whole)
      .map(({ type, value }) => [type, value]),
  );
  const { year = '', month = '', day = '', hour = '', minute = '', second = '' } = found;
  const local = Date.UTC(+year, +month - 1, +day, +hour, +minute, +second);
  const date = `${year.padStart(4, '0')}-${month}-${day}`;
  return { date, time: `${hour}:${minute}:${second}`, offset: offsetText((local - whole) / 60_000) };
}

function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z';
  const size = Math.round(Math.abs(minutes));
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

// Making one takes longer than everything that is done with it. By small letters, as Intl compares names: callers choose them.
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone.toLowerCase());
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(zone.toLowerCase(), made);
  return made;
}
