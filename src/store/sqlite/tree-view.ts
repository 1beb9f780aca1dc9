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

type TreeView = (rootId: ExecutionId, options: { readonly limit: number }) => Tree | undefined;

/** Where the executions `e` come from; the parameter says which. */
interface Source {
  readonly from: string;
  readonly where: string;
}

/** The parameter is a root. */
const ofRoot: Source = { from: 'executions e', where: 'e.root_id = ?' };
/** The parameter is a list of ids. */
const ofIds: Source = {
  from: 'json_each(?) given CROSS JOIN executions e ON e.id = given.value',
  where: '1',
};

/** Prepares the read of a whole tree: everything by the index of its root. */
export function treeView(db: Database, tables: SqliteTables): TreeView {
  const rows = db.prepare(`
    SELECT json_group_array(${tables.executions.selection}) FROM (
      SELECT ${tables.executions.columnList} FROM executions WHERE root_id = ? ORDER BY id LIMIT ?)`);
  const notices = db.prepare(`
    SELECT json_group_array(n.id) FROM executions e CROSS JOIN notices n ON n.execution_id = e.id
    WHERE e.root_id = ?`);
  const surroundings = surroundingsOf(db, tables, ofRoot);
  return (rootId, { limit }) => {
    const documents = rows.json([rootId, limit + 1]) as Cell[][];
    if (documents.length === 0) return undefined;
    const found = documents.map((cells) => tables.executions.decode(cells));
    const executions = inTreeOrder(found.slice(0, limit));
    const ofTree = tables.notices.all((notices.json([rootId]) as string[]).sort());
    return {
      executions,
      notices: ofTree,
      ...surroundings(rootId),
      steers: steersOf(tables, executions, ofTree),
      isCut: found.length > limit,
    };
  };
}

/** Prepares the read of what is open in a tree: downward along what is unclosed, never through all of it. */
export function openTreeView(db: Database, tables: SqliteTables): TreeView {
  const unclosed = db.prepare(`
    WITH RECURSIVE below (id) AS (
      SELECT id FROM executions WHERE id = ? AND parent_id IS NULL
      UNION ALL
      SELECT e.id FROM below b CROSS JOIN executions e ON e.parent_id = b.id WHERE e.closed = 0
      LIMIT ?
    )
    SELECT json_group_array(id) FROM below`);
  const pending = db.prepare(`
    SELECT json_group_array(n.id) FROM json_each(?) given CROSS JOIN notices n ON n.counted_on = given.value
    WHERE n.state IN ('owed', 'claimed')`);
  const surroundings = surroundingsOf(db, tables, ofIds);
  return (rootId, { limit }) => {
    const found = unclosed.json([rootId, limit + 1]) as string[];
    if (found.length === 0) return undefined;
    const open = found.slice(0, limit);
    const notices = tables.notices.all((pending.json([JSON.stringify(open)]) as string[]).sort());
    const ids = [...new Set([...open, ...notices.map((notice) => notice.executionId)])];
    const executions = inTreeOrder(tables.executions.all(ids));
    return {
      executions,
      notices,
      ...surroundings(JSON.stringify(ids)),
      steers: steersOf(tables, executions, notices),
      isCut: found.length > limit,
    };
  };
}

/** Prepares the reads of what is about executions, beside themselves. */
function surroundingsOf(
  db: Database,
  tables: SqliteTables,
  { from, where }: Source,
): (of: string) => Pick<Tree, 'holds' | 'held' | 'turns'> {
  const edges = (end: 'holder_id' | 'execution_id') =>
    db.prepare(`
      SELECT json_group_array(json_array(h.execution_id, h.holder_id))
      FROM ${from} CROSS JOIN holds h ON h.${end} = e.id WHERE ${where}`);
  const [heldBy, holding] = [edges('holder_id'), edges('execution_id')];
  const held = db.prepare(`
    SELECT json_group_array(x.id) FROM ${from} CROSS JOIN holds h ON h.holder_id = e.id
    CROSS JOIN executions x ON x.id = h.execution_id
    WHERE ${where} AND x.root_id <> e.root_id AND (x.closed = 0 OR EXISTS (
      SELECT 1 FROM notices n WHERE n.execution_id = x.id AND (n.state = 'owed' OR n.state = 'claimed')))`);
  const turns = db.prepare(`
    SELECT json_group_array(json_array(e.id, t.id)) FROM ${from}
    CROSS JOIN turn_owners o ON o.execution_id = e.id CROSS JOIN turns t ON t.id = o.turn_id
    WHERE ${where} AND t.state <> 'ended'`);
  return (of) => ({
    holds: distinctHolds([...(heldBy.json([of]) as Pairs), ...(holding.json([of]) as Pairs)]),
    held: tables.executions.all([...new Set(held.json([of]) as string[])].sort()),
    turns: (turns.json([of]) as Pairs).flatMap(([executionId, turnId]) => {
      const turn = tables.turns.get(turnId);
      return turn ? [{ executionId: executionId as ExecutionId, turn }] : [];
    }),
  });
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
