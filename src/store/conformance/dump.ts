import type { TurnOwner } from '../../ledger/turn.ts';
import type { WakeRow } from '../../wakeups/rows.ts';
import type { Hold, RowOfRun } from '../memory/state.ts';
import type { Cell } from '../sqlite/raw-database.ts';
import { openDatabase } from '../sqlite/driver.ts';
import { eventsOf } from '../sqlite/event-statements.ts';
import { SqliteTables } from '../sqlite/tables.ts';
import type { Table } from '../sqlite/table.ts';
import type { Dump } from './adapters.ts';

/** Reads every row of a database file by a connection of its own, so that no cache stands between. */
export async function dumpOf(file: string, library: 'libsql' | 'node'): Promise<Dump> {
  const db = await openDatabase(file, library);
  try {
    const tables = new SqliteTables(db);
    const all = <Row extends object>(name: string, table: Table<Row>): Row[] => {
      const rows = db.prepare(`SELECT json_group_array(${table.selection}) FROM ${name}`).json([]);
      return (rows as Cell[][]).map((cells) => table.decode(cells));
    };
    const cells = (sql: string): Cell[][] => db.prepare(sql).rows([]);
    return {
      executions: all('executions', tables.executions),
      notices: all('notices', tables.notices),
      sessions: all('sessions', tables.sessions),
      turns: all('turns', tables.turns),
      inputs: all('inputs', tables.inputs),
      steers: all('steers', tables.steers),
      runs: all('runs', tables.runs),
      schedules: all('schedules', tables.schedules),
      occurrences: all('occurrences', tables.occurrences),
      notifications: all('notifications', tables.notifications),
      dispatches: all('dispatches', tables.dispatches),
      admissions: all('admissions', tables.admissions),
      workspaces: all('workspaces', tables.workspaces),
      graphs: all('graphs', tables.graphs),
      graphSteps: all('graph_steps', tables.graphSteps),
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
  } finally {
    db.close();
  }
}
