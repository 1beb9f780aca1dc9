import type { LedgerEvent } from '../../ledger/effects.ts';
import type { StoredEvent } from '../../ledger/store.ts';
import type { EventFilter, EventPage } from '../views.ts';
import { examinedEvents } from '../views.ts';
import type { Database } from './driver.ts';
import type { Cell } from './raw-database.ts';

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

/** The statements of the event log. */
export interface EventStatements {
  /** Appends the events of one commit and answers them with their places. */
  append(events: readonly LedgerEvent[]): StoredEvent[];
  /** After a rollback: what was appended last may never have been. */
  forget(): void;
  since(sequence: number, filter: EventFilter, limit: number): EventPage;
  last(): number;
}

/**
 * Prepares them. Every decision tells one or two events, so a row for each cost as much as the rows they tell of; the
 * events of a commit therefore share rows, each with the place of its last event and how many it has. The last place is
 * remembered: AUTOINCREMENT would write a page more in each commit. Places are never used again, because the newest row
 * cannot be deleted.
 */
export function eventStatements(db: Database): EventStatements {
  const insert = db.prepare('INSERT INTO events (sequence, count, written) VALUES (?, ?, ?)');
  const later = db.prepare(
    `SELECT sequence, count, written FROM events WHERE sequence > ? ORDER BY sequence LIMIT ${rowsAtOnce}`,
  );
  const newest = db.prepare('SELECT max(sequence) FROM events');
  let remembered: number | undefined;
  const last = (): number => (remembered ??= Number(newest.row([])?.[0] ?? 0));
  return {
    append: (events) => {
      const stored: StoredEvent[] = [];
      let place = last();
      for (let from = 0; from < events.length; from += group) {
        const written: Written[] = [];
        for (let i = from; i < Math.min(from + group, events.length); i++) {
          const { type, at, rootId, sessionId, data } = events[i] as LedgerEvent;
          written.push([type, at, rootId, sessionId, data]);
          stored.push({ type, at, rootId, sessionId, data, sequence: ++place });
        }
        insert.writeOne([place, written.length, JSON.stringify(written)]);
      }
      remembered = place;
      return stored;
    },
    forget: () => {
      remembered = undefined;
    },
    since: (sequence, filter, limit) => replay((after) => later.rows([after]), sequence, filter, limit),
    last,
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
