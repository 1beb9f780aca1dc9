import type { SessionId } from '../../base/ids.ts';
import type { Execution } from '../../ledger/execution.ts';
import { isSettled } from '../../ledger/execution.ts';
import type { Notice } from '../../ledger/notice.ts';
import { isPending } from '../../ledger/notice.ts';
import type { Run, Session } from '../../ledger/session.ts';
import type {
  ExecutionFilter,
  IdOf,
  LiveRoot,
  NoticeFilter,
  Page,
  Paging,
  RunFilter,
  SessionFilter,
} from '../views.ts';
import { countedBelow } from '../views.ts';
import type { Connection } from './connection.ts';
import { listOf } from './connection.ts';
import { pagesOf } from './pages.ts';
import { unclosedBelow } from './tree-view.ts';
import type { LedgerRows } from './rows.ts';

/** The lists, answered at once. */
export interface Lists {
  executions(filter: ExecutionFilter): Page<Execution>;
  notices(filter: NoticeFilter): Page<Notice>;
  sessions(filter: SessionFilter): Page<Session>;
  runs(filter: RunFilter): Page<Run>;
  liveRoots(place: Paging): Page<LiveRoot>;
  resolvePrefix(kind: keyof IdOf, prefix: string, limit: number): string[];
}

/** Prepares every list. Which way a filter goes is chosen by the most selective index that it can use. */
export function lists(db: Connection, tables: LedgerRows): Lists {
  return {
    executions: executionLists(db, tables),
    notices: noticeLists(db, tables),
    sessions: sessionList(db, tables),
    runs: runLists(db, tables),
    liveRoots: liveRootList(db, tables),
    resolvePrefix: prefixes(db),
  };
}

function executionLists(db: Connection, tables: LedgerRows): Lists['executions'] {
  const rest = ['state', 'kind', 'project', 'root', 'closed'] as const;
  const columns = 'id, state, kind, project, CASE WHEN parent_id IS NULL THEN 1 ELSE 0 END AS root, closed';
  const paged = pagesOf(db, (ids) => tables.executions.all(ids), rest);
  const all = paged(`SELECT ${columns} FROM executions WHERE id < ?`);
  const ofRoot = paged(`SELECT ${columns} FROM executions WHERE root_id = ? AND id < ?`);
  const ofSession = paged(`SELECT ${columns} FROM executions WHERE runs_in = ? AND closed = ? AND id < ?`);
  const unclosedRoots = paged(
    `SELECT ${columns} FROM executions WHERE parent_id IS NULL AND closed = 0 AND id < ?`,
  );
  // However many executions are stored, few are unclosed: these are walked and sorted.
  const unclosed = paged(
    `SELECT ${columns} FROM executions INDEXED BY executions_unclosed WHERE closed = 0 AND id < ?`,
  );
  return (filter) => {
    const { state, kind, project, root, sessionId, rootId } = filter;
    const live = filter.live ?? (state !== undefined && !isSettled(state) ? true : undefined);
    const closed = live === undefined ? undefined : !live;
    const values = [state, kind, project, root, closed];
    if (rootId !== undefined) return ofRoot([rootId], values, filter, (row) => matches(row, filter));
    if (sessionId !== undefined) {
      if (closed !== undefined) return ofSession([sessionId, closed], values, filter);
      const open = ofSession([sessionId, false], values, filter);
      return newestOf(open, ofSession([sessionId, true], values, filter), filter.limit);
    }
    if (live === true) return (root === true ? unclosedRoots : unclosed)([], values, filter);
    return all([], values, filter);
  };
}

function matches(row: Execution, filter: ExecutionFilter): boolean {
  return filter.sessionId === undefined || row.runsIn === filter.sessionId;
}

/** The newest of two pages, each sorted and each with its own end. */
function newestOf(a: Page<Execution>, b: Page<Execution>, limit: number): Page<Execution> {
  // Below the place where one of them stopped, the other cannot be trusted to be complete.
  const floor = [a.next, b.next]
    .filter((next) => next !== undefined)
    .sort()
    .at(-1);
  const items = [...a.items, ...b.items].sort((x, y) => (x.id < y.id ? 1 : -1));
  const trusted = floor === undefined ? items : items.filter((row) => row.id >= floor);
  const page = trusted.slice(0, limit);
  const last = page.at(-1);
  if (trusted.length > limit && last) return { items: page, next: last.id };
  return floor === undefined ? { items: page } : { items: page, next: floor };
}

function noticeLists(db: Connection, tables: LedgerRows): Lists['notices'] {
  const paged = pagesOf(db, (ids) => tables.notices.all(ids), ['session_id', 'state'] as const);
  const all = paged('SELECT id, session_id, state FROM notices WHERE id < ?');
  const pending = paged(`
    SELECT id, session_id, state FROM notices INDEXED BY notices_pending_for
    WHERE state IN ('owed', 'claimed') AND id < ?`);
  return (filter) => {
    const { sessionId, state } = filter;
    const way = state !== undefined && isPending(state) ? pending : all;
    return way([], [sessionId, state], filter);
  };
}

function sessionList(db: Connection, tables: LedgerRows): Lists['sessions'] {
  const paged = pagesOf(db, (ids) => tables.sessions.all(ids), ['project', 'state'] as const);
  const all = paged('SELECT id, project, state FROM sessions WHERE id < ?');
  return (filter) => all([], [filter.project, filter.state], filter);
}

function runLists(db: Connection, tables: LedgerRows): Lists['runs'] {
  const rest = ['project', 'state', 'session_id'] as const;
  const paged = pagesOf(db, (ids) => tables.runs.all(ids), rest);
  const all = paged('SELECT id, project, state, session_id FROM runs WHERE id < ?');
  const running = paged(`
    SELECT id, project, state, session_id FROM runs INDEXED BY runs_running
    WHERE state = 'running' AND id < ?`);
  const ofSchedule = paged(
    'SELECT id, project, state, session_id FROM runs WHERE schedule_id = ? AND id < ?',
  );
  const ofWorkflow = paged(`
    SELECT id, project, state, session_id FROM runs INDEXED BY runs_workflow
    WHERE ${db.dialect.fields.runWorkflow} = ? AND id < ?`);
  return (filter) => {
    const { project, state, sessionId, scheduleId, workflow } = filter;
    const values = [project, state, sessionId];
    if (workflow !== undefined)
      return ofWorkflow([workflow.name], values, filter, (run) => isRunOf(run, workflow.project));
    if (scheduleId !== undefined) return ofSchedule([scheduleId], values, filter);
    return (state === 'running' ? running : all)([], values, filter);
  };
}

function isRunOf({ plan }: Run, project: string | undefined): boolean {
  return project === undefined || plan[0]?.workflow?.graph.project === project;
}

function liveRootList(db: Connection, tables: LedgerRows): Lists['liveRoots'] {
  const roots = listOf(
    db,
    'SELECT id FROM executions WHERE parent_id IS NULL AND closed = 0 AND id > ? ORDER BY id LIMIT ?',
  );
  const below = db.prepare(`
    ${db.dialect.walk({ from: 'SELECT id FROM executions WHERE id = ?', step: unclosedBelow, limit: `${countedBelow + 1}` })}
    SELECT count(*) - 1, coalesce(sum((
      SELECT count(*) FROM notices n WHERE n.counted_on = below.id AND n.state IN ('owed', 'claimed')
    )), 0) FROM below`);
  return ({ cursor = '', limit }) => {
    const ids = roots(cursor, limit + 1);
    const items = tables.executions.all(ids.slice(0, limit)).map((root): LiveRoot => {
      const [openExecutions, openNotices] = below.row([root.id]) ?? [];
      return { root, openExecutions: Number(openExecutions), openNotices: Number(openNotices) };
    });
    const last = items.at(-1);
    return ids.length > limit && last ? { items, next: last.root.id } : { items };
  };
}

function prefixes(db: Connection): Lists['resolvePrefix'] {
  const of = (table: string) =>
    listOf(db, `SELECT id FROM ${table} WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`);
  const statements = {
    execution: of('executions'),
    session: of('sessions'),
    notice: of('notices'),
    run: of('runs'),
    turn: of('turns'),
    steer: of('steers'),
    schedule: of('schedules'),
    occurrence: of('occurrences'),
  };
  return (kind, prefix, limit) => [...statements[kind](prefix, `${prefix}~`, limit)];
}

/** Sessions that a starting server must look at. */
export function liveSessionIds(db: Connection): () => SessionId[] {
  const sources = [
    "SELECT id FROM sessions INDEXED BY sessions_live WHERE state = 'live'",
    'SELECT id FROM sessions INDEXED BY sessions_lane WHERE lane_turn IS NOT NULL',
    'SELECT id FROM sessions INDEXED BY sessions_wake WHERE wake_turn IS NOT NULL',
    'SELECT DISTINCT session_id AS id FROM inputs',
    `SELECT DISTINCT session_id AS id FROM notices INDEXED BY notices_pending_for
     WHERE state IN ('owed', 'claimed')`,
    `SELECT DISTINCT session_id AS id FROM steers INDEXED BY steers_open
     WHERE state IN ('claimed', 'written')`,
    `SELECT DISTINCT runs_in AS id FROM executions INDEXED BY executions_live_task
     WHERE kind = 'task' AND state IN ('queued', 'running')`,
  ].map((sql) => listOf(db, sql));
  return () => {
    const ids = new Set<SessionId>();
    for (const source of sources) for (const id of source() as SessionId[]) ids.add(id);
    return [...ids].sort();
  };
}
