import type { LedgerEvent, Wake } from '../../ledger/effects.ts';
import type { StoredEvent } from '../../ledger/store.ts';
import type { FinishedWake, WakeRow } from '../../wakeups/rows.ts';
import type { Database, Param, Statement } from './driver.ts';

/** Events of one multi-row insert. Larger groups gain nothing and make statements that are never reused. */
const group = 16;

const columnsOfEvents = 'type, at, root_id, session_id, data';

/** The statements behind what a commit tells: events and wake-ups. */
export interface JournalStatements {
  /** Appends events and answers them with their places. */
  appendEvents(events: readonly LedgerEvent[]): StoredEvent[];
  /** Owes a wake-up: a new row, or the earlier instant and the next revision. `at` stays what was asked for. */
  oweWake(wake: Wake): WakeRow;
  dueWakes(after: number, until: number): WakeRow[];
  nextWake(after: number): number | undefined;
  removeWake(wake: FinishedWake): boolean;
  postponeWake(wake: FinishedWake, due: number): boolean;
}

/** Prepares them. */
export function journalStatements(db: Database): JournalStatements {
  const appendMany = db.prepare(appendSql(group));
  const appendOne = db.prepare(appendSql(1));
  const owe = db.prepare(`
    INSERT INTO wakeups (kind, target, due, revision) VALUES (?, ?, ?, 1)
    ON CONFLICT (kind, target) DO UPDATE SET due = min(due, excluded.due), revision = revision + 1
    RETURNING revision`);
  const due = db.prepare(
    'SELECT kind, target, due, revision FROM wakeups WHERE due > ? AND due <= ? ORDER BY due',
  );
  const next = db.prepare('SELECT min(due) FROM wakeups WHERE due > ?');
  const remove = db.prepare('DELETE FROM wakeups WHERE kind = ? AND target = ? AND revision = ?');
  const postpone = db.prepare('UPDATE wakeups SET due = ? WHERE kind = ? AND target = ? AND revision = ?');
  return {
    appendEvents: (events) => appendEvents(appendMany, appendOne, events),
    oweWake: (wake) => ({ ...wake, revision: Number(owe.row([wake.kind, wake.target, wake.at])?.[0]) }),
    dueWakes: (after, until) => due.rows([after, until]).map(wakeOf),
    nextWake: (after) => (next.row([after])?.[0] as number | undefined) ?? undefined,
    removeWake: ({ kind, target, revision }) => remove.run([kind, target, revision]).changes === 1,
    postponeWake: ({ kind, target, revision }, at) =>
      postpone.run([at, kind, target, revision]).changes === 1,
  };
}

function appendSql(count: number): string {
  const places = new Array(count).fill('(?, ?, ?, ?, ?)').join(', ');
  return `INSERT INTO events (${columnsOfEvents}) VALUES ${places}`;
}

function appendEvents(many: Statement, one: Statement, events: readonly LedgerEvent[]): StoredEvent[] {
  const stored: StoredEvent[] = [];
  for (let from = 0; from < events.length; ) {
    const count = events.length - from >= group ? group : 1;
    const params: Param[] = [];
    for (let i = from; i < from + count; i++) pushEvent(params, events[i] as LedgerEvent);
    // One insert numbers its rows without a gap, and this connection is the only writer.
    const last = (count === 1 ? one : many).run(params).lastInsertRowid;
    for (let i = 0; i < count; i++) {
      stored.push({ ...(events[from + i] as LedgerEvent), sequence: last - count + 1 + i });
    }
    from += count;
  }
  return stored;
}

function pushEvent(params: Param[], event: LedgerEvent): void {
  params.push(event.type, event.at, event.rootId, event.sessionId, JSON.stringify(event.data));
}

function wakeOf([kind, target, due, revision]: readonly unknown[]): WakeRow {
  return { kind: kind as Wake['kind'], target: String(target), at: Number(due), revision: Number(revision) };
}
