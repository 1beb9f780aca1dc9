import type { ExecutionUsage } from '../../ledger/execution.ts';
import { addUsage } from '../../ledger/spending.ts';
import type { RunWithMessages, Views } from '../views.ts';
import { placesOf } from '../views.ts';
import type { Database } from './driver.ts';
import type { SqliteTables } from './tables.ts';

/** Reads a run with what was sent at some of its places. */
export function runView(
  db: Database,
  tables: SqliteTables,
): (...args: Parameters<Views['run']>) => RunWithMessages | undefined {
  const sent = db.prepare(`
    SELECT json_group_array(id) FROM (
      SELECT id FROM executions
      WHERE run_id = ? AND run_index >= ? AND run_index < ? AND run_id IS NOT NULL ORDER BY run_index, attempt)`);
  const spending = db.prepare(`
    SELECT json_group_array(json(spent)) FROM executions
    WHERE run_id = ? AND run_id IS NOT NULL AND spent IS NOT NULL`);
  return (id, places) => {
    const run = tables.runs.get(id);
    if (!run) return undefined;
    const { from, count } = placesOf(run, places);
    const [first, ...rest] = spending.json([id]) as ExecutionUsage[];
    return {
      run,
      from,
      count,
      messages: tables.executions.all(sent.json([id, from, from + count]) as string[]),
      current: run.currentId === null ? undefined : tables.executions.get(run.currentId),
      spent: first === undefined ? null : rest.reduce(addUsage, first),
    };
  };
}
