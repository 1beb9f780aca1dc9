import type { LedgerEvent } from '../../ledger/effects.ts';
import type { StoredEvent } from '../../ledger/store.ts';
import type { EventFilter, EventPage } from '../views.ts';
import { examinedEvents } from '../views.ts';
import type { Cell, Connection } from './connection.ts';

/** Most events of one row. */
const group = 64;
/** Rows that are read at once when events are replayed. */
const rowsAtOnce = 100;

/** An event as it is written: the fields in this order, without their names. */
type Written = readonly [
  type: string,
  at: number,
  rootId: StoredEvent['rootId'],
  sessionId: StoredEvent['sessionId'],
  data: StoredEvent['data'],
];

/** A row of the table: some events, the place of the last of them, and how many there are. */
export interface EventRow {
  readonly sequence: number;
  readonly count: number;
  readonly written: string;
}

/** Reads committed events. */
export interface EventReader {
  since(sequence: number, filter: EventFilter, limit: number): EventPage;
}

/** Gives the events of one commit their places, behind the last one, and lets them share rows. */
export function inGroups(
  events: readonly LedgerEvent[],
  last: number,
): { readonly stored: StoredEvent[]; readonly rows: EventRow[] } {
  const stored: StoredEvent[] = [];
  const rows: EventRow[] = [];
  let place = last;
  for (let from = 0; from < events.length; from += group) {
    const written: Written[] = [];
    for (let i = from; i < Math.min(from + group, events.length); i++) {
      const { type, at, rootId, sessionId, data } = events[i] as LedgerEvent;
      written.push([type, at, rootId, sessionId, data]);
      stored.push({ type, at, rootId, sessionId, data, sequence: ++place });
    }
    rows.push({ sequence: place, count: written.length, written: JSON.stringify(written) });
  }
  return { stored, rows };
}

/** Prepares the read. */
export function eventReader(db: Connection): EventReader {
  const later = db.prepare(
    `SELECT sequence, count, written FROM events WHERE sequence > ? ORDER BY sequence LIMIT ${rowsAtOnce}`,
  );
  return {
    since: (sequence, filter, limit) => replay((after) => later.rows([after]), sequence, filter, limit),
  };
}

function replay(
  read: (after: number) => Cell[][],
  sequence: number,
  { rootId, sessionId }: EventFilter,
  limit: number,
): EventPage {
  const events: StoredEvent[] = [];
  let through = sequence;
  while (through - sequence < examinedEvents) {
    const rows = read(through);
    for (const row of rows) {
      for (const event of eventsOf(row)) {
        if (event.sequence <= through) continue;
        through = event.sequence;
        if (rootId !== undefined && event.rootId !== rootId) continue;
        if (sessionId !== undefined && event.sessionId !== sessionId) continue;
        events.push(event);
        if (events.length >= limit) return { events, through, isEnd: false };
      }
    }
    if (rows.length < rowsAtOnce) return { events, through, isEnd: true };
  }
  return { events, through, isEnd: false };
}

/** The events of one row of the table. */
export function eventsOf([last, count, text]: readonly Cell[]): StoredEvent[] {
  const first = Number(last) - Number(count) + 1;
  return (JSON.parse(String(text)) as Written[]).map(([type, at, rootId, sessionId, data], i) => ({
    type,
    at,
    rootId,
    sessionId,
    data,
    sequence: first + i,
  }));
}
