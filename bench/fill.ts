import { systemClock } from '../src/base/clock.ts';
import type { ExecutionId } from '../src/base/ids.ts';
import { Ids } from '../src/base/ids.ts';
import type { LedgerEvent } from '../src/ledger/effects.ts';
import type { Execution } from '../src/ledger/execution.ts';
import { newExecution } from '../src/ledger/registration.ts';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { eventStatements } from '../src/store/sqlite/event-statements.ts';
import { openStoreOn } from '../src/store/sqlite/store.ts';
import { SqliteTables } from '../src/store/sqlite/tables.ts';
import { childrenOfRoot } from './load.ts';

/** One root in so many stays open in a large history, every one in a small: there are old roots to work below. */
const openRootEvery = 20;
const smallHistory = 10_000;

/**
 * Fills a new database with closed trees of ten children, two events an execution, and here and there a root that is
 * still open. Answers the open roots. Writes in large transactions, past the ledger: this is history, not work.
 */
export async function fill(file: string, executions: number): Promise<ExecutionId[]> {
  const db = await openDatabase(file);
  const store = openStoreOn(db, file, systemClock, Math.random);
  db.exec('PRAGMA synchronous = OFF');
  const tables = new SqliteTables(db);
  const log = eventStatements(db);
  const ids = new Ids(Date.now, Math.random);
  const open: ExecutionId[] = [];
  const events: LedgerEvent[] = [];
  const add = (row: Execution): void => {
    tables.insert('execution', row);
    const { rootId, createdAt: at, kind, name, parentId } = row;
    const data = { executionId: row.id, kind, name, parentId };
    const about = { at, rootId, sessionId: null, data };
    events.push({ type: 'execution.registered', ...about }, { type: 'execution.closed', ...about });
  };
  for (let made = 0, roots = 0; made < executions; ) {
    db.exec('BEGIN');
    for (let i = 0; i < 2_000 && made < executions; i++, roots++) {
      const now = Date.now();
      const isOpen = executions < smallHistory || roots % openRootEvery === 0;
      const root = newExecution(now, null, 'none', {
        id: ids.make('execution'),
        kind: 'message',
        name: 'root',
      });
      if (isOpen) open.push(root.id);
      add(isOpen ? root : ended(root, now));
      for (let child = 0; child < childrenOfRoot; child++) {
        const given = { id: ids.make('execution'), kind: 'agent', name: `child ${made + child}` } as const;
        add(ended(newExecution(now, root, 'explicit', given), now));
      }
      made += 1 + childrenOfRoot;
    }
    log.append(events);
    events.length = 0;
    db.exec('COMMIT');
  }
  db.exec('PRAGMA synchronous = FULL');
  await store.close();
  return open;
}

function ended(row: Execution, now: number): Execution {
  const outcome = row.parentId === null ? ('succeeded' as const) : null;
  const end = { state: 'succeeded', endedAt: now, closed: true, closedAt: now, outcome } as const;
  return { ...row, ...end, result: 'r'.repeat(100) };
}
