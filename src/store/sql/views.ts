import type { ScheduleId } from '../../base/ids.ts';
import type { StepRef } from '../../ledger/graph.ts';
import type { IdOf, RecoveryViews, Views } from '../views.ts';
import type { Connection } from './connection.ts';
import { listOf } from './connection.ts';
import { deliveryView } from './delivery-view.ts';
import { graphView } from './graph-views.ts';
import { lists, liveSessionIds } from './list-views.ts';
import { runView } from './run-view.ts';
import { notificationList } from './notification-views.ts';
import { scheduleLists } from './schedule-views.ts';
import type { LedgerRows } from './rows.ts';
import { openTreeView, treeView } from './tree-view.ts';

/** Runs a read of the committed state. */
export type Reading = <T>(query: () => T) => Promise<T>;

/** The views on either database. */
export function sqlViews(db: Connection, tables: LedgerRows, read: Reading): Views {
  const list = lists(db, tables);
  const schedules = scheduleLists(db, tables);
  const notifications = notificationList(db, tables);
  const tree = treeView(db, tables);
  const openTree = openTreeView(db, tables);
  const graph = graphView(db, tables);
  const run = runView(db, tables);
  const deliveries = deliveryView(db, tables);
  const queue = listOf(
    db,
    'SELECT execution_id AS id FROM inputs WHERE session_id = ? ORDER BY position, execution_id',
  );
  return {
    executions: (filter) => read(() => list.executions(filter)),
    tree: (rootId, options) => read(() => tree(rootId, options)),
    openTree: (rootId, options) => read(() => openTree(rootId, options)),
    notices: (filter) => read(() => list.notices(filter)),
    sessions: (filter) => read(() => list.sessions(filter)),
    inputsOf: (sessionId) => read(() => tables.inputs.all(queue(sessionId))),
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
export function sqlRecoveryViews(db: Connection, tables: LedgerRows, read: Reading): RecoveryViews {
  const live = liveSessionIds(db);
  const running = listOf(
    db,
    "SELECT id FROM runs INDEXED BY runs_running WHERE state = 'running' ORDER BY id",
  );
  const schedules = listOf(
    db,
    'SELECT id FROM schedules INDEXED BY schedules_name WHERE removed_at IS NULL ORDER BY id',
  );
  const claimed = listOf(
    db,
    `SELECT id FROM occurrences INDEXED BY occurrences_open
     WHERE decided_at IS NULL AND state = 'claimed' ORDER BY id`,
  );
  const scripts = listOf(
    db,
    `SELECT ref AS id FROM graph_steps INDEXED BY graph_steps_scripts
     WHERE (state = 'due' OR state = 'running') AND ${db.dialect.fields.stepDoes} = 'script' ORDER BY ref`,
  );
  return {
    openScripts: () => read(() => scripts() as StepRef[]),
    liveSessions: () => read(() => tables.sessions.all(live())),
    runningRuns: () => read(() => tables.runs.all(running())),
    schedules: () => read(() => schedules() as ScheduleId[]),
    claimedOccurrences: () => read(() => tables.occurrences.all(claimed())),
  };
}
