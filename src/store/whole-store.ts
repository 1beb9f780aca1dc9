import type { Committed, LedgerStore } from '../ledger/store.ts';
import type { WakeRow, WakeRows } from '../wakeups/rows.ts';
import type { Records } from './records.ts';
import type { EventLog, RecoveryViews, Views } from './views.ts';

/** A commit as a store of this folder tells it: its wake-ups carry their revision. */
export interface CommittedRows extends Committed {
  readonly wakes: readonly WakeRow[];
}

/** Everything that a store of this folder offers: the ledger, and the views, records and wake-up rows of the same database. */
export interface WholeStore extends Omit<LedgerStore, 'onCommit'>, Omit<WakeRows, 'onCommit'> {
  onCommit(listener: (committed: CommittedRows) => void): () => void;
  /** Part of every cursor. */
  readonly databaseId: string;
  readonly views: Views;
  readonly recovery: RecoveryViews;
  readonly events: EventLog;
  readonly records: Records;
}
