import type { ExecutionId, RunId, SessionId } from '../../base/ids.ts';
import type { Execution, ExecutionUsage } from '../../ledger/execution.ts';
import { isSettled } from '../../ledger/execution.ts';
import { addUsage } from '../../ledger/spending.ts';
import type { RunRow } from '../../ledger/plan.ts';
import type { TurnOwner } from '../../ledger/turn.ts';
import type { RowOf, SettleEffect, TableName, Tables } from '../apply.ts';
import { keyOfRow } from '../apply.ts';
import { settled, withDeficit } from '../closing.ts';
import { checkRow } from '../row-constraints.ts';
import { checkAmong, checkUnique } from './constraints.ts';
import { checkDeferredReferences, checkReferences } from './references.ts';
import type { MemoryState } from './state.ts';

/** Writes rows of a memory state under the constraints of the SQL schema. */
export class MemoryTables implements Tables {
  readonly #state: MemoryState;
  readonly #touched = new Map<string, TableName>();

  constructor(state: MemoryState) {
    this.#state = state;
  }

  insert<Name extends TableName>(table: Name, row: RowOf[Name]): void {
    const id = keyOfRow(table, row);
    if (this.#state.rows(table).has(id)) throw new Error(`constraint failed: ${table} ${id} exists already`);
    checkUnique(this.#state, table, row);
    this.#write(table, id, row);
  }

  patch<Name extends TableName>(table: Name, id: string, set: Partial<RowOf[Name]>): void {
    const row = this.#state.rows(table).get(id);
    if (!row) throw new Error(`no ${table} ${id}`);
    const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
    if (table === 'execution') this.#refuseEnding(row as Execution, given as Partial<Execution>);
    this.#write(table, id, { ...row, ...given });
  }

  removeInput(id: ExecutionId): void {
    if (!this.#state.rows('input').has(id)) throw new Error(`no input of ${id} to delete`);
    this.#state.remove('input', id);
  }

  removeAdmission(id: SessionId): void {
    if (!this.#state.rows('admission').has(id)) throw new Error(`no admission of ${id} to delete`);
    this.#state.remove('admission', id);
  }

  insertHold(executionId: ExecutionId, holderId: ExecutionId): void {
    this.#demandExecution(executionId);
    this.#demandExecution(holderId);
    if (executionId === holderId) throw new Error(`${executionId} cannot hold itself`);
    if (!this.#state.addHold({ executionId, holderId })) {
      throw new Error(`${holderId} holds ${executionId} already`);
    }
  }

  insertOwner(row: TurnOwner): void {
    this.#demandExecution(row.executionId);
    if (!this.#state.rows('turn').has(row.turnId)) throw new Error(`no turn ${row.turnId}`);
    if (!this.#state.addOwner(row)) throw new Error(`${row.executionId} owns ${row.turnId} already`);
  }

  insertRows(runId: RunId, rows: readonly RunRow[]): void {
    if (!this.#state.rows('run').has(runId)) throw new Error(`no run ${runId}`);
    rows.forEach((row, index) => {
      if (!this.#state.addRunRow({ runId, index, row }))
        throw new Error(`${runId} has a row ${index} already`);
    });
  }

  copyRows(runId: RunId, from: RunId): void {
    const rows = [...this.#state.runRows].filter((row) => row.runId === from);
    this.insertRows(
      runId,
      rows.sort((a, b) => a.index - b.index).map(({ row }) => row),
    );
  }

  shift(id: ExecutionId, by: number, now: number): Execution {
    const row = this.#demandExecution(id);
    return this.#write('execution', id, withDeficit(row, row.open + by, now));
  }

  settle(effect: SettleEffect, now: number): Execution {
    return this.#write('execution', effect.id, settled(this.#demandExecution(effect.id), effect, now));
  }

  addFailures(id: ExecutionId, by: number): void {
    const row = this.#demandExecution(id);
    this.#write('execution', id, { ...row, failures: row.failures + by });
  }

  addSpent(id: ExecutionId, by: ExecutionUsage): void {
    const row = this.#demandExecution(id);
    this.#write('execution', id, { ...row, spent: addUsage(row.spent, by) });
  }

  holdersOf(id: ExecutionId): readonly ExecutionId[] {
    const holders: ExecutionId[] = [];
    for (const hold of this.#state.holds) if (hold.executionId === id) holders.push(hold.holderId);
    return holders.sort();
  }

  /** At the end of a decision: what the rows written in it name must exist by now. */
  finish(): void {
    for (const [id, table] of this.#touched) {
      const row = this.#state.rows(table).get(id);
      if (row) checkDeferredReferences(this.#state, table, row);
    }
    this.#touched.clear();
  }

  /** After a failed decision. */
  forget(): void {
    this.#touched.clear();
  }

  #write<Name extends TableName>(table: Name, id: string, row: RowOf[Name]): RowOf[Name] {
    checkRow(table, row, this.#state.rows(table).get(id));
    checkAmong(this.#state, table, row);
    this.#state.put(table, id, row);
    checkReferences(this.#state, table, row);
    this.#touched.set(id, table);
    return row;
  }

  #demandExecution(id: ExecutionId): Execution {
    const row = this.#state.rows('execution').get(id);
    if (!row) throw new Error(`no execution ${id}`);
    return row;
  }

  // Only `settle` ends an execution, and only once.
  #refuseEnding(row: Execution, set: Partial<Execution>): void {
    if (set.state === undefined) return;
    if (isSettled(row.state) || isSettled(set.state)) {
      throw new Error(`execution ${row.id} is ${row.state}: it cannot be patched to ${set.state}`);
    }
  }
}
