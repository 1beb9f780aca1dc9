import type { StoredEvent } from '../../ledger/store.ts';
import type { EventLog, EventPage, IdOf, RecoveryViews, Views } from '../views.ts';
import { examinedEvents } from '../views.ts';
import type { Database } from './driver.ts';
import { lists, liveSessionIds } from './list-views.ts';
import type { SqliteTables } from './tables.ts';
import { treeView } from './tree-view.ts';

/** Runs a read of the committed state. */
export type Reading = <T>(query: () => T) => Promise<T>;

/** The views on SQLite. */
export function sqliteViews(db: Database, tables: SqliteTables, read: Reading): Views {
  const list = lists(db, tables);
  const tree = treeView(db, tables);
  const queue = db.prepare(`
    SELECT json_group_array(execution_id) FROM (
      SELECT execution_id FROM inputs WHERE session_id = ? ORDER BY position, execution_id)`);
  const messages = db.prepare(`
    SELECT json_group_array(id) FROM (
      SELECT id FROM executions WHERE run_id = ? AND kind = 'message' ORDER BY run_index, attempt)`);
  return {
    executions: (filter) => read(() => list.executions(filter)),
    tree: (rootId, options) => read(() => tree(rootId, options)),
    notices: (filter) => read(() => list.notices(filter)),
    sessions: (filter) => read(() => list.sessions(filter)),
    inputsOf: (sessionId) => read(() => tables.inputs.all(queue.json([sessionId]) as string[])),
    liveRoots: (limit) => read(() => list.liveRoots(limit)),
    runs: (filter) => read(() => list.runs(filter)),
    run: (id) =>
      read(() => {
        const run = tables.runs.get(id);
        return run && { run, messages: tables.executions.all(messages.json([id]) as string[]) };
      }),
    resolvePrefix: <Kind extends keyof IdOf>(kind: Kind, prefix: string, limit: number) =>
      read(() => list.resolvePrefix(kind, prefix, limit) as IdOf[Kind][]),
  };
}

/** What a starting server reads. */
export function sqliteRecoveryViews(db: Database, tables: SqliteTables, read: Reading): RecoveryViews {
  const live = liveSessionIds(db);
  const running = db.prepare(`
    SELECT json_group_array(id) FROM (
      SELECT id FROM runs INDEXED BY runs_running WHERE state = 'running' ORDER BY id)`);
  return {
    liveSessions: () => read(() => tables.sessions.all(live())),
    runningRuns: () => read(() => tables.runs.all(running.json([]) as string[])),
  };
}

/** The committed events. */
export function sqliteEventLog(db: Database, databaseId: string, read: Reading): EventLog {
  const columns = 'sequence, type, at, root_id, session_id, data';
  const walk = `SELECT ${columns} FROM events WHERE sequence > ? ORDER BY sequence LIMIT ${examinedEvents}`;
  const page = db.prepare(`
    SELECT json_group_array(json_array(${columns})) FROM (
      SELECT * FROM (${walk}) WHERE (? IS NULL OR root_id = ?) AND (? IS NULL OR session_id = ?) LIMIT ?)`);
  const extent = db.prepare(`
    SELECT max(sequence), count(*) FROM (
      SELECT sequence FROM events WHERE sequence > ? ORDER BY sequence LIMIT ${examinedEvents})`);
  const last = db.prepare('SELECT max(sequence) FROM events');
  const since = (after: number, filter: Parameters<EventLog['eventsSince']>[1], limit: number): EventPage => {
    const root = filter.rootId ?? null;
    const session = filter.sessionId ?? null;
    const rows = page.json([after, root, root, session, session, limit]) as EventCells[];
    const events = rows.map(eventOf);
    const lastFound = events.at(-1)?.sequence;
    if (events.length === limit && lastFound !== undefined) {
      return { events, through: lastFound, isEnd: false };
    }
    const [through, count] = extent.row([after]) ?? [];
    return { events, through: Number(through ?? after), isEnd: Number(count) < examinedEvents };
  };
  return {
    databaseId,
    eventsSince: (sequence, filter, limit) => read(() => since(sequence, filter, limit)),
    lastSequence: () => read(() => Number(last.row([])?.[0] ?? 0)),
  };
}

type EventCells = [number, string, number, string | null, string | null, string];

function eventOf([sequence, type, at, rootId, sessionId, data]: EventCells): StoredEvent {
  return {
    sequence,
    type,
    at,
    rootId: rootId as StoredEvent['rootId'],
    sessionId: sessionId as StoredEvent['sessionId'],
    data: JSON.parse(data) as StoredEvent['data'],
  };
}
