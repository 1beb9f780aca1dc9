import { dayMs, dayNumber } from './civil.ts';

/**
 * A stretch of time in which a zone's offset does not change. A local time is "wall" time here: milliseconds as if the
 * clock on the wall showed UTC, so that `wall = instant + offset`.
 */
export interface Stretch {
  /** First instant, where the offset changed; earlier than any change that was looked for if it did not. */
  readonly start: number;
  /** First instant after it: where the offset changes, or where nobody looked further. */
  readonly end: number;
  /** Milliseconds to add to an instant for the wall time. */
  readonly offset: number;
  /** The offset just before `start`; the same as `offset` when it did not change there. */
  readonly before: number;
}

/** Stretches are looked for in pieces of this length. */
const pieceMs = 64 * dayMs;
/** The shortest stretch that any zone had since 1970 is seven days. */
const sampleMs = 4 * dayMs;
/** How far before a piece one looks, so that the wall times that a change repeats are known: no change is larger than a day. */
const lookBackMs = 2 * dayMs;
/** Pieces that are kept for a zone: a human life. */
const mostPieces = 512;

/** An IANA time zone: its offsets as Intl knows them, remembered. Everything is deterministic but for the zone data of the machine. */
export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #pieces = new Map<number, readonly Stretch[]>();

  constructor(name: string, format: Intl.DateTimeFormat) {
    this.name = name;
    this.#format = format;
  }

  /** The stretch that an instant lies in. */
  stretchAt(instant: number): Stretch {
    const number = Math.floor(instant / pieceMs);
    let piece = this.#pieces.get(number);
    if (!piece) {
      if (this.#pieces.size >= mostPieces) this.#pieces.clear();
      piece = this.#look(number * pieceMs - lookBackMs, (number + 1) * pieceMs);
      this.#pieces.set(number, piece);
    }
    let last = piece[0] as Stretch;
    for (const stretch of piece) if (stretch.start <= instant) last = stretch;
    return last;
  }

  /** The wall time of an instant. */
  wallAt(instant: number): number {
    return instant + this.stretchAt(instant).offset;
  }

  /**
   * When the wall shows this: the first time when it does so twice, the first instant after the gap when it never does.
   * `dst` says which of these it was.
   */
  instantOf(wall: number): { readonly instant: number; readonly dst: 'gap' | 'overlap' | null } {
    for (let stretch = this.stretchAt(wall - lookBackMs); ; stretch = this.stretchAt(stretch.end)) {
      if (wall < stretch.start + stretch.offset) return { instant: stretch.start, dst: 'gap' };
      if (wall >= stretch.end + stretch.offset) continue;
      const next = this.stretchAt(stretch.end);
      return { instant: wall - stretch.offset, dst: wall >= stretch.end + next.offset ? 'overlap' : null };
    }
  }

  #look(from: number, to: number): readonly Stretch[] {
    const found: Stretch[] = [];
    let start = from;
    let before = this.#offsetAt(from);
    let offset = before;
    for (let at = from; at < to; ) {
      const next = Math.min(at + sampleMs, to);
      const change = this.#offsetAt(next) === offset ? undefined : this.#changeIn(at, next, offset);
      if (change !== undefined && change < to) {
        found.push({ start, end: change, offset, before });
        before = offset;
        start = change;
        offset = this.#offsetAt(change);
      }
      at = next;
    }
    return [...found, { start, end: to, offset, before }];
  }

  /** The first instant after `low`, up to `high`, with another offset. Offsets change on whole seconds. */
  #changeIn(low: number, high: number, offset: number): number {
    let [same, other] = [low, high];
    while (other - same > 1_000) {
      const middle = same + Math.floor((other - same) / 2_000) * 1_000;
      if (this.#offsetAt(middle) === offset) same = middle;
      else other = middle;
    }
    return other;
  }

  #offsetAt(instant: number): number {
    const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = (
      this.#format.format(instant).match(/\d+/g) ?? []
    ).map(Number);
    const days = dayNumber(year, month, day);
    const wall = days * dayMs + ((hour * 60 + minute) * 60 + second) * 1_000;
    return wall - Math.floor(instant / 1_000) * 1_000;
  }
}

// Making a formatter takes far longer than using it, and a zone is the same for everybody. By small letters, as Intl
// compares names: there are so many zones and no more, however somebody writes them.
const zones = new Map<string, Zone>();

/** The zone of a name as Intl knows it, also under its older names; undefined when there is none. Offsets are no zones. */
export function findZone(name: string): Zone | undefined {
  const key = name.toLowerCase();
  const known = zones.get(key);
  if (known) return known;
  // Some versions of Node take `+02:00`: what is valid must not depend on that.
  if (!/^[A-Za-z]/.test(name) || isAbbreviation(name)) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', { ...numericFields, timeZone: name });
    const { timeZone } = format.resolvedOptions();
    const zone = new Zone(timeZone.toLowerCase() === key ? timeZone : name, format);
    zones.set(key, zone);
    return zone;
  } catch {
    return undefined;
  }
}

/** IANA has these short names. ICU takes more of them, as Java did once: its BST is not London but Dhaka. */
const shortNames = 'UTC GMT UCT CET MET EET WET EST MST HST PRC ROC ROK'.split(' ');

function isAbbreviation(name: string): boolean {
  return name.length === 3 && !shortNames.includes(name.toUpperCase());
}

const numericFields = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const;
