import type { ScheduleId } from '../../base/ids.ts';
import type { StepRef } from '../../ledger/graph.ts';
import type { EventLog, IdOf, RecoveryViews, Views } from '../views.ts';
import type { Database } from './driver.ts';
import type { EventStatements } from './event-statements.ts';
import { deliveryView } from './delivery-view.ts';
import { graphView } from './graph-views.ts';
import { lists, liveSessionIds } from './list-views.ts';
import { runView } from './run-view.ts';
import { notificationList } from './notification-views.ts';
import { scheduleLists } from './schedule-views.ts';
import type { SqliteTables } from './tables.ts';
import { openTreeView, treeView } from './tree-view.ts';

/** Runs a read of the committed state. */
export type Reading = <T>(query: () => T) => Promise<T>;

/** The views on SQLite. */
export function sqliteViews(db: Database, tables: SqliteTables, read: Reading): Views {
  const list = lists(db, tables);
  const schedules = scheduleLists(db, tables);
  const notifications = notificationList(db, tables);
  const tree = treeView(db, tables);
  const openTree = openTreeView(db, tables);
  const graph = graphView(db, tables);
  const run = runView(db, tables);
  const deliveries = deliveryView(db, tables);
  const queue = db.prepare(`
    SELECT json_group_array(execution_id) FROM (
      SELECT execution_id FROM inputs WHERE session_id = ? ORDER BY position, execution_id)`);
  return {
    executions: (filter) => read(() => list.executions(filter)),
    tree: (rootId, options) => read(() => tree(rootId, options)),
    openTree: (rootId, options) => read(() => openTree(rootId, options)),
    notices: (filter) => read(() => list.notices(filter)),
    sessions: (filter) => read(() => list.sessions(filter)),
    inputsOf: (sessionId) => read(() => tables.inputs.all(queue.json([sessionId]) as string[])),
    deliveries: (ids) => read(() => deliveries(ids)),
    liveRoots: (place) => read(() => list.liveRoots(place)),
    runs: (filter) => read(() => list.runs(filter)),
    run: (id, places) => read(() => run(id, places)),
    graph: (id, page) => read(() => graph(id, page)),
    schedules: (filter) => read(() => schedules.schedules(filter)),
    occurrences: (filter) => read(() => schedules.occurrences(filter)),
    notifications: (filter) => read(() => notifications(filter)),
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
  const schedules = db.prepare(`
    SELECT json_group_array(id) FROM (SELECT id FROM schedules INDEXED BY schedules_name WHERE removed_at IS NULL ORDER BY id)`);
  const claimed = db.prepare(`
    SELECT json_group_array(id) FROM (
      SELECT id FROM occurrences INDEXED BY occurrences_open
      WHERE decided_at IS NULL AND state = 'claimed' ORDER BY id)`);
  const scripts = db.prepare(`
    SELECT json_group_array(ref) FROM (
      SELECT ref FROM graph_steps INDEXED BY graph_steps_scripts
      WHERE (state = 'due' OR state = 'running') AND plan ->> '$.does.type' = 'script' ORDER BY ref)`);
  return {
    openScripts: () => read(() => scripts.json([]) as StepRef[]),
    liveSessions: () => read(() => tables.sessions.all(live())),
    runningRuns: () => read(() => tables.runs.all(running.json([]) as string[])),
    schedules: () => read(() => schedules.json([]) as ScheduleId[]),
    claimedOccurrences: () => read(() => tables.occurrences.all(claimed.json([]) as string[])),
  };
}

/** The committed events. */
export function sqliteEventLog(statements: EventStatements, databaseId: string, read: Reading): EventLog {
  return {
    databaseId,
    eventsSince: (sequence, filter, limit) => read(() => statements.since(sequence, filter, limit)),
    lastSequence: () => read(() => statements.last()),
  };
}
