import type { ExecutionUsage } from '../../ledger/execution.ts';
import { addUsage } from '../../ledger/spending.ts';
import type { RunWithMessages, Views } from '../views.ts';
import { placesOf } from '../views.ts';
import type { Connection } from './connection.ts';
import { listOf } from './connection.ts';
import type { LedgerRows } from './rows.ts';

/** Reads a run with what was sent at some of its places. */
export function runView(
  db: Connection,
  tables: LedgerRows,
): (...args: Parameters<Views['run']>) => RunWithMessages | undefined {
  const sent = listOf(
    db,
    `SELECT id FROM executions
     WHERE run_id = ? AND run_index >= ? AND run_index < ? AND run_id IS NOT NULL ORDER BY run_index, attempt`,
  );
  const spending = db.prepare(`
    SELECT spent FROM executions
    WHERE run_id = ? AND run_id IS NOT NULL AND spent IS NOT NULL`);
  return (id, places) => {
    const run = tables.runs.get(id);
    if (!run) return undefined;
    const { from, count } = placesOf(run, places);
    const [first, ...rest] = spending.rows([id]).map(([text]) => JSON.parse(String(text)) as ExecutionUsage);
    return {
      run,
      from,
      count,
      messages: tables.executions.all(sent(id, from, from + count)),
      current: run.currentId === null ? undefined : tables.executions.get(run.currentId),
      spent: first === undefined ? null : rest.reduce(addUsage, first),
    };
  };
}
