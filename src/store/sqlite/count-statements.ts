import type { ExecutionId } from '../../base/ids.ts';
import type { Execution } from '../../ledger/execution.ts';
import type { TurnOwner } from '../../ledger/turn.ts';
import type { Database, Param } from './driver.ts';

/**
 * The statements that count and end. One statement a function. Those that change a deficit name the one they were
 * computed from, and answer false when the row has another. Where nothing closes, `closed` is not named, so that its
 * indexes are not touched.
 */
export interface CountStatements {
  count(from: Execution, open: number): boolean;
  close(from: Execution, to: Execution): boolean;
  settle(from: Execution, to: Execution): boolean;
  settleAndClose(from: Execution, to: Execution): boolean;
  insertHold(executionId: ExecutionId, holderId: ExecutionId): void;
  holdersOf(id: ExecutionId): readonly ExecutionId[];
  insertOwner(row: TurnOwner): void;
  removeInput(id: ExecutionId): boolean;
}

const fence = 'WHERE id = ? AND open = ? AND closed = 0';
const ending = 'state = ?, ended_at = ?, error = ?, result = ?, usage = ?, waiting = NULL, open = ?';
const closing = 'closed = 1, closed_at = ?, outcome = ?, outcome_code = ?';
const unsettled = "state IN ('queued', 'running')";

/** Prepares them. */
export function countStatements(db: Database): CountStatements {
  const count = db.prepare(`UPDATE executions SET open = ? ${fence}`);
  const close = db.prepare(`UPDATE executions SET open = 0, ${closing} ${fence}`);
  const settle = db.prepare(`UPDATE executions SET ${ending} ${fence} AND ${unsettled}`);
  const settleAndClose = db.prepare(`UPDATE executions SET ${ending}, ${closing} ${fence} AND ${unsettled}`);
  const hold = db.prepare('INSERT INTO holds (execution_id, holder_id) VALUES (?, ?)');
  const holders = db.prepare(
    'SELECT json_group_array(holder_id) FROM (SELECT holder_id FROM holds WHERE execution_id = ? ORDER BY holder_id)',
  );
  const owner = db.prepare('INSERT INTO turn_owners (turn_id, position, execution_id) VALUES (?, ?, ?)');
  const input = db.prepare('DELETE FROM inputs WHERE execution_id = ?');
  return {
    count: (from, open) => count.run([open, from.id, from.open]).changes === 1,
    close: ({ id, open }, { closedAt, outcome, outcomeCode }) =>
      close.run([closedAt, outcome, outcomeCode, id, open]).changes === 1,
    settle: (from, to) => {
      const params = endingOf(to);
      params.push(from.id, from.open);
      return settle.run(params).changes === 1;
    },
    settleAndClose: (from, to) => {
      const params = endingOf(to);
      params.push(to.closedAt, to.outcome, to.outcomeCode, from.id, from.open);
      return settleAndClose.run(params).changes === 1;
    },
    insertHold: (executionId, holderId) => void hold.run([executionId, holderId]),
    holdersOf: (id) => holders.json([id]) as ExecutionId[],
    insertOwner: ({ turnId, position, executionId }) => void owner.run([turnId, position, executionId]),
    removeInput: (id) => input.run([id]).changes === 1,
  };
}

function endingOf({ state, endedAt, error, result, usage, open }: Execution): Param[] {
  return [state, endedAt, jsonOf(error), result, jsonOf(usage), open];
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
