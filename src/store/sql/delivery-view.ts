import type { ExecutionId } from '../../base/ids.ts';
import type { Delivery } from '../views.ts';
import type { Connection } from './connection.ts';
import type { LedgerRows } from './rows.ts';

/** Prepares the read of how texts went to their sessions. */
export function deliveryView(
  db: Connection,
  tables: LedgerRows,
): (ids: readonly ExecutionId[]) => Delivery[] {
  const owned = db.prepare(`
    SELECT o.execution_id, o.turn_id, o.position FROM ${db.dialect.given}
    CROSS JOIN turn_owners o ON o.execution_id = given.value`);
  const ofMessages = db.prepare(`
    SELECT s.message_id, s.id FROM ${db.dialect.given}
    CROSS JOIN steers s ON s.message_id = given.value WHERE s.message_id IS NOT NULL`);
  const ofNotices = db.prepare(`
    SELECT n.continuation_id, n.steer_id FROM ${db.dialect.given}
    CROSS JOIN notices n ON n.continuation_id = given.value
    WHERE n.continuation_id IS NOT NULL AND n.steer_id IS NOT NULL`);
  return (ids) => {
    const given = JSON.stringify(ids);
    const owners = owned.rows([given]) as [string, string, number][];
    const carried = [...ofMessages.rows([given]), ...ofNotices.rows([given])] as string[][];
    return ids.map((executionId) => {
      const steers = carried.filter(([of]) => of === executionId).map(([, id]) => id ?? '');
      return {
        executionId,
        input: tables.inputs.get(executionId),
        turns: owners
          .filter(([of]) => of === executionId)
          .flatMap(([, turnId, position]) => tables.turns.some([turnId]).map((turn) => ({ turn, position })))
          .sort((a, b) => (a.turn.id < b.turn.id ? -1 : 1)),
        steers: tables.steers.all([...new Set(steers)].sort()),
      };
    });
  };
}
