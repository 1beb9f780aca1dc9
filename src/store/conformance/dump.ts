import type { TurnOwner } from '../../ledger/turn.ts';
import type { WakeRow } from '../../wakeups/rows.ts';
import type { Hold, RowOfRun } from '../memory/state.ts';
import type { Cell, Connection } from '../sql/connection.ts';
import { eventsOf } from '../sql/event-rows.ts';
import { openPool } from '../postgres/pool.ts';
import { ReplayedConnection } from '../postgres/replay.ts';
import type { ChangingWork } from '../postgres/tables.ts';
import { PostgresTables } from '../postgres/tables.ts';
import { Transaction } from '../postgres/transaction.ts';
import type { LedgerRows, Rows } from '../sql/rows.ts';
import { openDatabase } from '../sqlite/driver.ts';
import { SqliteTables } from '../sqlite/tables.ts';
import type { Dump } from './adapters.ts';

/** Reads every row of a database file by a connection of its own, so that no cache stands between. */
export async function dumpOf(file: string, library: 'libsql' | 'node'): Promise<Dump> {
  const db = await openDatabase(file, library);
  try {
    return dumpFrom(db, new SqliteTables(db));
  } finally {
    db.close();
  }
}

/** Reads every row of a database by a connection of its own. */
export async function dumpOfPostgres(url: string): Promise<Dump> {
  const pool = openPool(url, () => undefined);
  const client = await pool.connect();
  try {
    const connection = new ReplayedConnection<ChangingWork>();
    const tables = new PostgresTables(connection);
    const transaction = new Transaction(client, { connection, tables });
    return await transaction.perform(() => dumpFrom(connection, tables));
  } finally {
    client.release();
    await pool.end();
  }
}

/** Reads every row of a database. */
export function dumpFrom(db: Connection, tables: LedgerRows): Dump {
  const all = <Row>(rows: Rows<Row>): Row[] => rows.where('')([]);
  const cells = (sql: string): Cell[][] => db.prepare(sql).rows([]);
  return {
    executions: all(tables.executions),
    notices: all(tables.notices),
    sessions: all(tables.sessions),
    turns: all(tables.turns),
    inputs: all(tables.inputs),
    steers: all(tables.steers),
    runs: all(tables.runs),
    schedules: all(tables.schedules),
    occurrences: all(tables.occurrences),
    notifications: all(tables.notifications),
    dispatches: all(tables.dispatches),
    admissions: all(tables.admissions),
    workspaces: all(tables.workspaces),
    graphs: all(tables.graphs),
    graphSteps: all(tables.graphSteps),
    runRows: cells('SELECT run_id, position, row FROM run_rows ORDER BY run_id, position').map(
      ([runId, index, row]) => ({ runId, index, row: JSON.parse(String(row)) }) as RowOfRun,
    ),
    holds: cells('SELECT execution_id, holder_id FROM holds').map(
      ([executionId, holderId]) => ({ executionId, holderId }) as Hold,
    ),
    owners: cells('SELECT turn_id, execution_id, position FROM turn_owners').map(
      ([turnId, executionId, position]) => ({ turnId, executionId, position }) as TurnOwner,
    ),
    wakeups: cells('SELECT kind, target, due, revision FROM wakeups').map(
      ([kind, target, at, revision]) => ({ kind, target, at, revision }) as WakeRow,
    ),
    events: cells('SELECT sequence, count, written FROM events ORDER BY sequence').flatMap(eventsOf),
  };
}
