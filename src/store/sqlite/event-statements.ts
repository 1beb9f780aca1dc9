import type { LedgerEvent } from '../../ledger/effects.ts';
import type { StoredEvent } from '../../ledger/store.ts';
import { eventReader, inGroups } from '../sql/event-rows.ts';
import type { EventReader } from '../sql/event-rows.ts';
import type { Database } from './driver.ts';

/** The statements of the event log. */
export interface EventStatements extends EventReader {
  /** Appends the events of one commit and answers them with their places. */
  append(events: readonly LedgerEvent[]): StoredEvent[];
  /** After a rollback: what was appended last may never have been. */
  forget(): void;
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
  const newest = db.prepare('SELECT max(sequence) FROM events');
  let remembered: number | undefined;
  const last = (): number => (remembered ??= Number(newest.row([])?.[0] ?? 0));
  return {
    append: (events) => {
      const { stored, rows } = inGroups(events, last());
      for (const { sequence, count, written } of rows) insert.writeOne([sequence, count, written]);
      remembered = stored.at(-1)?.sequence ?? remembered;
      return stored;
    },
    forget: () => {
      remembered = undefined;
    },
    ...eventReader(db),
    last,
  };
}
