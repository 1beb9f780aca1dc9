import type { Execution } from '../../ledger/execution.ts';
import type { GraphStep } from '../../ledger/graph.ts';
import type { GraphView, Views } from '../views.ts';
import { attemptsShown } from '../views.ts';
import type { Connection } from './connection.ts';
import { listOf } from './connection.ts';
import type { LedgerRows } from './rows.ts';

/** Reads a workflow with a page of its steps. */
export function graphView(
  db: Connection,
  tables: LedgerRows,
): (...args: Parameters<Views['graph']>) => GraphView | undefined {
  const page = listOf(
    db,
    'SELECT ref AS id FROM graph_steps WHERE graph_id = ? AND place >= ? ORDER BY place LIMIT ?',
  );
  const count = db.prepare('SELECT count(*) FROM graph_steps WHERE graph_id = ?');
  const tries = listOf(
    db,
    `SELECT id FROM executions WHERE parent_id = ? AND key = ? ORDER BY attempt DESC LIMIT ${attemptsShown}`,
  );
  const attemptsOf = ({ graphId, plan }: GraphStep): readonly Execution[] =>
    tables.executions.all([...tries(graphId, `step:${plan.name}`)].reverse());
  return (id, { from, limit, isAlone = false }) => {
    const graph = tables.graphs.get(id);
    if (!graph) return undefined;
    const found = tables.graphSteps.all(page(id, from, limit + 1));
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
