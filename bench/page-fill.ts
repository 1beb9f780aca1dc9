import { join } from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import type { ExecutionId, SessionId } from '../src/base/ids.ts';
import { Ids } from '../src/base/ids.ts';
import type { Execution } from '../src/ledger/execution.ts';
import type { Notice } from '../src/ledger/notice.ts';
import { newExecution } from '../src/ledger/registration.ts';
import { newSession } from '../src/ledger/session.ts';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { openStoreOn } from '../src/store/sqlite/store.ts';
import { SqliteTables } from '../src/store/sqlite/tables.ts';

/** Of ten executions one is a continuation that handled the result of an agent, which has eight below it. */
const inGroup = 10;
const stepMs = 40;

/** What of a filled ledger is looked at. */
export interface Filled {
  readonly sessionId: SessionId;
}

/**
 * Fills the tree of a root that is there with so many closed executions, of which a tenth has a result that a continuation has
 * handled; and makes so many other live roots, each with something open below it. Past the ledger: this is history, not work.
 */
export async function fillPage(
  dataDir: string,
  {
    root,
    executions,
    roots,
  }: { readonly root: ExecutionId; readonly executions: number; readonly roots: number },
): Promise<Filled> {
  const file = join(dataDir, 'stemma.db');
  const db = await openDatabase(file);
  const store = openStoreOn(db, file, systemClock, Math.random);
  const tables = new SqliteTables(db);
  const ids = new Ids(Date.now, Math.random);
  const top = tables.executions.get(root);
  if (!top) throw new Error(`no root ${root}`);
  const sessionId = ids.make('session');
  db.exec('BEGIN');
  const about = { project: 'default', agent: 'demo', cwd: dataDir, title: null, node: 'local' };
  tables.insert('session', newSession({ ...about, id: sessionId, createdAt: top.createdAt }));
  for (let at = 1; at < executions; at += inGroup)
    group(tables, ids, top, sessionId, top.createdAt + at * stepMs, Math.min(inGroup, executions - at));
  for (let n = 0; n < roots; n++) liveRoot(tables, ids, n);
  db.exec('COMMIT');
  await store.close();
  return { sessionId };
}

function group(
  tables: SqliteTables,
  ids: Ids,
  top: Execution,
  sessionId: SessionId,
  at: number,
  count: number,
): void {
  const child = (
    parent: Execution,
    kind: Execution['kind'],
    name: string,
    from: number,
    ms: number,
  ): Execution => {
    const row = newExecution(from, parent, 'explicit', { id: ids.make('execution'), kind, name });
    const end = {
      state: 'succeeded',
      startedAt: from,
      endedAt: from + ms,
      closed: true,
      closedAt: from + ms,
    } as const;
    const whole = { ...row, ...end, result: 'All of it was done as it was asked for.' };
    tables.insert('execution', whole);
    return whole;
  };
  const agent = child(top, 'agent', `check ${at % 1_000}`, at, 9 * stepMs);
  for (let n = 0; n < count - 2; n++) child(agent, 'agent', `part ${n}`, at + n * stepMs, 3 * stepMs);
  if (count < 2) return;
  const continuation = child(top, 'continuation', agent.name, at + 10 * stepMs, stepMs);
  const notice: Notice = {
    id: ids.make('notice'),
    executionId: agent.id,
    rootId: top.rootId,
    countedOn: top.id,
    sessionId,
    mode: 'each',
    state: 'handled',
    attempt: 0,
    epoch: 1,
    steerId: null,
    continuationId: continuation.id,
    reason: null,
    actor: null,
    notBefore: 0,
    owedAt: at + 9 * stepMs,
    handedAt: at + 10 * stepMs,
    handledAt: at + 11 * stepMs,
  };
  tables.insert('notice', notice);
}

function liveRoot(tables: SqliteTables, ids: Ids, n: number): void {
  const now = Date.now();
  const of = (name: string, parent: Execution | null): Execution =>
    newExecution(now, parent, parent ? 'explicit' : 'none', {
      id: ids.make('execution'),
      kind: 'outside',
      name,
    });
  const root = { ...of(`live root ${n}`, null), open: 1 };
  tables.insert('execution', root);
  tables.insert('execution', of(`work of root ${n}`, root));
}
