import type { Execution } from '../../ledger/execution.ts';
import type { GraphStep } from '../../ledger/graph.ts';
import type { GraphView, Views } from '../views.ts';
import { attemptsShown } from '../views.ts';
import type { Database } from './driver.ts';
import type { SqliteTables } from './tables.ts';

/** Reads a workflow with a page of its steps. */
export function graphView(
  db: Database,
  tables: SqliteTables,
): (...args: Parameters<Views['graph']>) => GraphView | undefined {
  const page = db.prepare(`
    SELECT json_group_array(ref) FROM (
      SELECT ref FROM graph_steps WHERE graph_id = ? AND place >= ? ORDER BY place LIMIT ?)`);
  const count = db.prepare('SELECT count(*) FROM graph_steps WHERE graph_id = ?');
  const tries = db.prepare(`
    SELECT json_group_array(id) FROM (
      SELECT id FROM executions WHERE parent_id = ? AND key = ? ORDER BY attempt DESC LIMIT ${attemptsShown})`);
  const attemptsOf = ({ graphId, plan }: GraphStep): readonly Execution[] =>
    tables.executions.all((tries.json([graphId, `step:${plan.name}`]) as string[]).reverse());
  return (id, { from, limit, isAlone = false }) => {
    const graph = tables.graphs.get(id);
    if (!graph) return undefined;
    const found = tables.graphSteps.all(page.json([id, from, limit + 1]) as string[]);
    const steps = found.slice(0, limit);
    const next = found[limit]?.index;
    return {
      graph,
      total: Number(count.row([id])?.[0]),
      steps,
      attempts: new Map(steps.filter((step) => step.tries > 0).map((step) => [step.index, attemptsOf(step)])),
      ...(next === undefined || isAlone ? {} : { next }),
    };
  };
}
