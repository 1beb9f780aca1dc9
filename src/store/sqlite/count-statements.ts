import type { ExecutionId, RunId, SessionId } from '../../base/ids.ts';
import type { Execution } from '../../ledger/execution.ts';
import type { RunRow } from '../../ledger/plan.ts';
import type { TurnOwner } from '../../ledger/turn.ts';
import type { Param } from '../sql/connection.ts';
import type { Database, Statement } from './driver.ts';

/**
 * The statements that count and end. One statement a function. Those that change a deficit name the one they were
 * computed from: where the row has another, none is changed, and `Database.checkWrites` stops the commit. What does not
 * change is not named, so that its checks are not made and its indexes are not touched.
 */
export interface CountStatements {
  count(from: Execution, open: number): void;
  close(from: Execution, to: Execution): void;
  /** Settles, and closes if it is closed then. */
  settle(from: Execution, to: Execution): void;
  insertHold(executionId: ExecutionId, holderId: ExecutionId): void;
  holdersOf(id: ExecutionId): readonly ExecutionId[];
  insertOwner(row: TurnOwner): void;
  insertRows(runId: RunId, rows: readonly RunRow[]): void;
  copyRows(runId: RunId, from: RunId): void;
  removeInput(id: ExecutionId): boolean;
  removeAdmission(id: SessionId): boolean;
}

const fence = 'WHERE id = ? AND open = ? AND closed = 0';
const closing = 'closed = 1, closed_at = ?, outcome = ?, outcome_code = ?';
const unsettled = "state IN ('queued', 'running')";

/** Prepares them. */
export function countStatements(db: Database): CountStatements {
  const count = db.prepare(`UPDATE executions SET open = ? ${fence}`);
  const close = db.prepare(`UPDATE executions SET open = 0, ${closing} ${fence}`);
  const settles = new Map<string, Statement>();
  const settle = (columns: string): Statement => {
    const known = settles.get(columns);
    if (known) return known;
    const made = db.prepare(
      `UPDATE executions SET state = ?, ended_at = ?${columns} ${fence} AND ${unsettled}`,
    );
    settles.set(columns, made);
    return made;
  };
  const hold = db.prepare('INSERT INTO holds (execution_id, holder_id) VALUES (?, ?)');
  const holders = db.prepare(
    'SELECT json_group_array(holder_id) FROM (SELECT holder_id FROM holds WHERE execution_id = ? ORDER BY holder_id)',
  );
  const owner = db.prepare('INSERT INTO turn_owners (turn_id, position, execution_id) VALUES (?, ?, ?)');
  // One statement for all rows: each is a text in a list, since a value that is a list or an object comes out as text again.
  const rows = db.prepare(
    'INSERT INTO run_rows (run_id, position, row) SELECT ?, key, value FROM json_each(?)',
  );
  const copied = db.prepare(`
    INSERT INTO run_rows (run_id, position, row) SELECT ?, position, row FROM run_rows WHERE run_id = ?`);
  const input = db.prepare('DELETE FROM inputs WHERE execution_id = ?');
  const admission = db.prepare('DELETE FROM admissions WHERE session_id = ?');
  return {
    count: (from, open) => count.writeOne([open, from.id, from.open]),
    close: ({ id, open }, { closedAt, outcome, outcomeCode }) =>
      close.writeOne([closedAt, outcome, outcomeCode, id, open]),
    settle: (from, to) => {
      const params: Param[] = [to.state, to.endedAt];
      const columns = changesOf(from, to, params);
      params.push(from.id, from.open);
      settle(columns).writeOne(params);
    },
    insertHold: (executionId, holderId) => hold.writeOne([executionId, holderId]),
    holdersOf: (id) => holders.json([id]) as ExecutionId[],
    insertOwner: ({ turnId, position, executionId }) => owner.writeOne([turnId, position, executionId]),
    insertRows: (runId, all) => void rows.run([runId, JSON.stringify(all.map((row) => JSON.stringify(row)))]),
    copyRows: (runId, from) => void copied.run([runId, from]),
    removeInput: (id) => input.run([id]).changes === 1,
    removeAdmission: (id) => admission.run([id]).changes === 1,
  };
}

/** The columns that an end changes beside the state, whose values it appends. There are few sets of them. */
function changesOf(from: Execution, to: Execution, params: Param[]): string {
  let columns = '';
  if (from.open !== to.open) {
    columns += ', open = ?';
    params.push(to.open);
  }
  if (from.waiting !== null) columns += ', waiting = NULL';
  if (from.result !== to.result) {
    columns += ', result = ?';
    params.push(to.result);
  }
  if (from.answerPlace !== to.answerPlace) {
    columns += ', answer_place = ?';
    params.push(to.answerPlace);
  }
  if (from.error !== to.error) {
    columns += ', error = ?';
    params.push(jsonOf(to.error));
  }
  if (from.usage !== to.usage) {
    columns += ', usage = ?';
    params.push(jsonOf(to.usage));
  }
  if (!to.closed) return columns;
  params.push(to.closedAt);
  if (to.parentId !== null) return `${columns}, closed = 1, closed_at = ?`;
  params.push(to.outcome, to.outcomeCode);
  return `${columns}, ${closing}`;
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
