import type { ExecutionId } from '../../base/ids.ts';
import type { Execution } from '../../ledger/execution.ts';
import { isSettled } from '../../ledger/execution.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Steer } from '../../ledger/turn.ts';
import { inTreeOrder } from '../tree-order.ts';
import type { Tree } from '../views.ts';
import type { Database } from './driver.ts';
import type { Cell } from './raw-database.ts';
import type { SqliteTables } from './tables.ts';

type Pairs = [string, string][];

/** Prepares the read of a whole tree: everything by the index of its root. */
export function treeView(
  db: Database,
  tables: SqliteTables,
): (rootId: ExecutionId, options: { readonly limit: number }) => Tree | undefined {
  const rows = db.prepare(`
    SELECT json_group_array(${tables.executions.selection}) FROM (
      SELECT ${tables.executions.columnList} FROM executions WHERE root_id = ? ORDER BY id LIMIT ?)`);
  const notices = db.prepare(`
    SELECT json_group_array(n.id) FROM executions e CROSS JOIN notices n ON n.execution_id = e.id
    WHERE e.root_id = ?`);
  const heldBy = holdsOf(db, 'holder_id');
  const holding = holdsOf(db, 'execution_id');
  const held = db.prepare(`
    SELECT json_group_array(x.id) FROM executions e CROSS JOIN holds h ON h.holder_id = e.id
    CROSS JOIN executions x ON x.id = h.execution_id
    WHERE e.root_id = ?1 AND x.root_id <> ?1 AND (x.closed = 0 OR EXISTS (
      SELECT 1 FROM notices n WHERE n.execution_id = x.id AND (n.state = 'owed' OR n.state = 'claimed')))`);
  const turns = db.prepare(`
    SELECT json_group_array(json_array(e.id, t.id)) FROM executions e
    CROSS JOIN turn_owners o ON o.execution_id = e.id CROSS JOIN turns t ON t.id = o.turn_id
    WHERE e.root_id = ? AND t.state <> 'ended'`);
  return (rootId, { limit }) => {
    const documents = rows.json([rootId, limit + 1]) as Cell[][];
    if (documents.length === 0) return undefined;
    const found = documents.map((cells) => tables.executions.decode(cells));
    const executions = inTreeOrder(found.slice(0, limit));
    const ofTree = tables.notices.all((notices.json([rootId]) as string[]).sort());
    return {
      executions,
      notices: ofTree,
      holds: distinctHolds([...(heldBy.json([rootId]) as Pairs), ...(holding.json([rootId]) as Pairs)]),
      held: tables.executions.all([...new Set(held.json([rootId]) as string[])].sort()),
      turns: (turns.json([rootId]) as Pairs).flatMap(([executionId, turnId]) => {
        const turn = tables.turns.get(turnId);
        return turn ? [{ executionId: executionId as ExecutionId, turn }] : [];
      }),
      steers: steersOf(tables, executions, ofTree),
      isCut: found.length > limit,
    };
  };
}

function holdsOf(db: Database, end: 'holder_id' | 'execution_id') {
  return db.prepare(`
    SELECT json_group_array(json_array(h.execution_id, h.holder_id))
    FROM executions e CROSS JOIN holds h ON h.${end} = e.id WHERE e.root_id = ?`);
}

function distinctHolds(pairs: Pairs): Tree['holds'] {
  const seen = new Map(pairs.map((pair) => [pair.join(' '), pair]));
  return [...seen.keys()].sort().map((key) => {
    const [executionId, holderId] = seen.get(key) as [ExecutionId, ExecutionId];
    return { executionId, holderId };
  });
}

/** Steers with an open fate that carry a message or a notice of the tree. */
function steersOf(
  tables: SqliteTables,
  executions: readonly Execution[],
  notices: readonly Notice[],
): Steer[] {
  const ids = new Set<string>();
  for (const notice of notices) if (notice.state === 'claimed' && notice.steerId) ids.add(notice.steerId);
  for (const row of executions) {
    if (row.kind !== 'message' || isSettled(row.state)) continue;
    const steerId = tables.inputs.get(row.id)?.steerId;
    if (steerId) ids.add(steerId);
  }
  return tables.steers.all([...ids].sort()).filter((steer) => steer.endedAt === null);
}
