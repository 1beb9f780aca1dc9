import type { ExecutionId } from '../../base/ids.ts';
import type { Execution } from '../../ledger/execution.ts';
import { isSettled } from '../../ledger/execution.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Steer } from '../../ledger/turn.ts';
import { inTreeOrder } from '../tree-order.ts';
import type { Tree } from '../views.ts';
import type { Connection } from './connection.ts';
import { listOf } from './connection.ts';
import type { LedgerRows } from './rows.ts';

type Pairs = [string, string][];

/** Selects what is unclosed below what a walk has come by. */
export const unclosedBelow = (walked: string): string =>
  `SELECT e.id FROM ${walked} b CROSS JOIN executions e ON e.parent_id = b.id WHERE e.closed = 0`;

type TreeView = (rootId: ExecutionId, options: { readonly limit: number }) => Tree | undefined;

/** Where the executions `e` come from; the parameter says which. */
interface Source {
  readonly from: string;
  readonly where: string;
}

/** The parameter is a root. */
const ofRoot: Source = { from: 'executions e', where: 'e.root_id = ?' };
/** The parameter is a list of ids. */
const ofIds = (db: Connection): Source => ({
  from: `${db.dialect.given} CROSS JOIN executions e ON e.id = given.value`,
  where: '1 = 1',
});

/** Prepares the read of a whole tree: everything by the index of its root. */
export function treeView(db: Connection, tables: LedgerRows): TreeView {
  const rows = tables.executions.where('WHERE root_id = ? ORDER BY id LIMIT ?');
  const notices = listOf(
    db,
    'SELECT n.id FROM executions e CROSS JOIN notices n ON n.execution_id = e.id WHERE e.root_id = ?',
  );
  const surroundings = surroundingsOf(db, tables, ofRoot);
  return (rootId, { limit }) => {
    const found = rows([rootId, limit + 1]);
    if (found.length === 0) return undefined;
    const executions = inTreeOrder(found.slice(0, limit));
    const ofTree = tables.notices.all([...notices(rootId)].sort());
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
export function openTreeView(db: Connection, tables: LedgerRows): TreeView {
  const from = 'SELECT id FROM executions WHERE id = ? AND parent_id IS NULL';
  const unclosed = listOf(
    db,
    `${db.dialect.walk({ from, step: unclosedBelow, limit: '?' })} SELECT id FROM below`,
  );
  const pending = listOf(
    db,
    `SELECT n.id FROM ${db.dialect.given} CROSS JOIN notices n ON n.counted_on = given.value
     WHERE n.state IN ('owed', 'claimed')`,
  );
  const surroundings = surroundingsOf(db, tables, ofIds(db));
  return (rootId, { limit }) => {
    const found = unclosed(rootId, limit + 1);
    if (found.length === 0) return undefined;
    const open = found.slice(0, limit);
    const notices = tables.notices.all([...pending(JSON.stringify(open))].sort());
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
  db: Connection,
  tables: LedgerRows,
  { from, where }: Source,
): (of: string) => Pick<Tree, 'holds' | 'held' | 'turns'> {
  const edges = (end: 'holder_id' | 'execution_id') =>
    db.prepare(`
      SELECT h.execution_id, h.holder_id FROM ${from} CROSS JOIN holds h ON h.${end} = e.id WHERE ${where}`);
  const [heldBy, holding] = [edges('holder_id'), edges('execution_id')];
  const held = listOf(
    db,
    `SELECT x.id FROM ${from} CROSS JOIN holds h ON h.holder_id = e.id
     CROSS JOIN executions x ON x.id = h.execution_id
     WHERE ${where} AND x.root_id <> e.root_id AND (x.closed = 0 OR EXISTS (
       SELECT 1 FROM notices n WHERE n.execution_id = x.id AND (n.state = 'owed' OR n.state = 'claimed')))`,
  );
  const turns = db.prepare(`
    SELECT e.id, t.id FROM ${from}
    CROSS JOIN turn_owners o ON o.execution_id = e.id CROSS JOIN turns t ON t.id = o.turn_id
    WHERE ${where} AND t.state <> 'ended'`);
  return (of) => ({
    holds: distinctHolds([...(heldBy.rows([of]) as Pairs), ...(holding.rows([of]) as Pairs)]),
    held: tables.executions.all([...new Set(held(of))].sort()),
    turns: turnsOf(tables, turns.rows([of]) as Pairs),
  });
}

function turnsOf(tables: LedgerRows, pairs: Pairs): Tree['turns'] {
  const found = tables.turns.all(pairs.map(([, turnId]) => turnId));
  return found.map((turn, i) => ({ executionId: pairs[i]?.[0] as ExecutionId, turn }));
}

function distinctHolds(pairs: Pairs): Tree['holds'] {
  const seen = new Map(pairs.map((pair) => [pair.join(' '), pair]));
  return [...seen.keys()].sort().map((key) => {
    const [executionId, holderId] = seen.get(key) as [ExecutionId, ExecutionId];
    return { executionId, holderId };
  });
}

/** Steers with an open fate that carry a message or a notice of the tree. */
function steersOf(tables: LedgerRows, executions: readonly Execution[], notices: readonly Notice[]): Steer[] {
  const ids = new Set<string>();
  for (const notice of notices) if (notice.state === 'claimed' && notice.steerId) ids.add(notice.steerId);
  const messages = executions.filter((row) => row.kind === 'message' && !isSettled(row.state));
  for (const { steerId } of tables.inputs.some(messages.map((row) => row.id))) if (steerId) ids.add(steerId);
  return tables.steers.all([...ids].sort()).filter((steer) => steer.endedAt === null);
}
