import type { ExecutionId } from '../../base/ids.ts';
import type { Execution, Outcome } from '../../ledger/execution.ts';
import { outcomeOf } from '../../ledger/execution.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Input, Run, Session } from '../../ledger/session.ts';
import type { Steer, Turn, TurnOwner } from '../../ledger/turn.ts';
import type { RowOf, SettleEffect, TableName, Tables } from '../apply.ts';
import {
  executionColumns,
  inputColumns,
  noticeColumns,
  runColumns,
  sessionColumns,
  steerColumns,
  turnColumns,
} from './columns.ts';
import type { CountStatements } from './count-statements.ts';
import { countStatements } from './count-statements.ts';
import type { Database } from './driver.ts';
import { Table } from './table.ts';

/** How many executions' holders are remembered. */
const cachedHolders = 8_192;
const nobody: readonly ExecutionId[] = [];

/**
 * The ledger's tables on one connection. Closing is computed by the UPDATE that changes a deficit, not by a second
 * statement that reads it; what SQL cannot see of a decision's mistakes is thrown here.
 */
export class SqliteTables implements Tables {
  readonly executions: Table<Execution>;
  readonly notices: Table<Notice>;
  readonly sessions: Table<Session>;
  readonly turns: Table<Turn>;
  readonly inputs: Table<Input>;
  readonly steers: Table<Steer>;
  readonly runs: Table<Run>;
  readonly #byName: { readonly [Name in TableName]: Table<RowOf[Name]> };
  readonly #counts: CountStatements;
  readonly #holders = new Map<ExecutionId, readonly ExecutionId[]>();

  constructor(db: Database) {
    this.executions = new Table(db, {
      table: 'executions',
      key: 'id',
      columns: executionColumns,
      longText: 'result',
    });
    this.notices = new Table(db, { table: 'notices', key: 'id', columns: noticeColumns });
    this.sessions = new Table(db, { table: 'sessions', key: 'id', columns: sessionColumns });
    this.turns = new Table(db, { table: 'turns', key: 'id', columns: turnColumns, longText: 'text' });
    this.inputs = new Table(db, {
      table: 'inputs',
      key: 'executionId',
      columns: inputColumns,
      longText: 'text',
    });
    this.steers = new Table(db, { table: 'steers', key: 'id', columns: steerColumns, longText: 'text' });
    this.runs = new Table(db, { table: 'runs', key: 'id', columns: runColumns });
    this.#byName = {
      execution: this.executions,
      notice: this.notices,
      session: this.sessions,
      turn: this.turns,
      input: this.inputs,
      steer: this.steers,
      run: this.runs,
    };
    this.#counts = countStatements(db);
  }

  /** After a rollback: what is remembered may never have been. */
  clear(): void {
    for (const table of Object.values(this.#byName)) table.clear();
    this.#holders.clear();
  }

  insert<Name extends TableName>(table: Name, row: RowOf[Name]): void {
    this.#byName[table].insert(row);
    if (table === 'execution') this.#keepHolders((row as Execution).id, nobody);
  }

  patch<Name extends TableName>(table: Name, id: string, set: Partial<RowOf[Name]>): void {
    if (table === 'execution' && 'state' in set) this.#refuseEnding(id, set as Partial<Execution>);
    this.#byName[table].patch(id, set);
  }

  removeInput(id: ExecutionId): void {
    if (!this.#counts.removeInput(id)) throw new Error(`no input of ${id} to delete`);
    this.inputs.forget(id);
  }

  insertHold(executionId: ExecutionId, holderId: ExecutionId): void {
    const holders = this.holdersOf(executionId);
    this.#counts.insertHold(executionId, holderId);
    this.#keepHolders(executionId, [...holders, holderId].sort());
  }

  insertOwner(row: TurnOwner): void {
    this.#counts.insertOwner(row);
  }

  shift(id: ExecutionId, by: number, now: number): Execution {
    if (by > 0) {
      if (!this.#counts.raise(id, by)) throw new Error(`${id} is unknown or closed: its deficit cannot grow`);
      const row = this.executions.get(id);
      if (!row) throw new Error(`no execution ${id}`);
      // A row that was not remembered has just been read with the new deficit in it.
      return this.#counted(row, id);
    }
    const counted = this.#counts.lower(id, by, now);
    if (!counted) throw new Error(`${id} is unknown or closed: its deficit cannot fall`);
    return this.#amended(id, counted.closed ? { ...counted, closedAt: now } : counted);
  }

  settle(effect: SettleEffect, now: number): Execution {
    const counted = this.#counts.settle(effect, now);
    if (!counted) throw new Error(`${effect.id} is unknown or settled already`);
    const { state, at, error, result, usage } = effect;
    return this.#amended(effect.id, {
      ...counted,
      closedAt: counted.closed ? now : null,
      state,
      endedAt: at,
      error,
      result,
      usage,
      waiting: null,
    });
  }

  addFailures(id: ExecutionId, by: number): void {
    if (!this.#counts.addFailures(id, by)) throw new Error(`no execution ${id}`);
    this.executions.forget(id);
  }

  holdersOf(id: ExecutionId): readonly ExecutionId[] {
    const known = this.#holders.get(id);
    if (known) return known;
    const read = this.#counts.holdersOf(id);
    this.#keepHolders(id, read);
    return read;
  }

  conclude(root: Execution): { outcome: Outcome; code: string | null } {
    const { outcome, code } = outcomeOf(root);
    this.executions.patch(root.id, { outcome, outcomeCode: code });
    return { outcome, code };
  }

  #counted(row: Execution, id: ExecutionId): Execution {
    const open = this.#counts.deficitOf(id);
    return row.open === open ? row : this.#amended(id, { open });
  }

  #amended(id: ExecutionId, set: Partial<Execution>): Execution {
    const row = this.executions.amend(id, set) ?? this.executions.get(id);
    if (!row) throw new Error(`no execution ${id}`);
    return row;
  }

  // Only `settle` ends an execution, and only once.
  #refuseEnding(id: string, set: Partial<Execution>): void {
    if (set.state === undefined) return;
    const row = this.executions.get(id);
    const isOpen = (state: string | undefined): boolean => state === 'queued' || state === 'running';
    if (!isOpen(set.state) || !isOpen(row?.state)) {
      throw new Error(`execution ${id} is ${row?.state ?? 'unknown'}: it cannot be patched to ${set.state}`);
    }
  }

  #keepHolders(id: ExecutionId, holders: readonly ExecutionId[]): void {
    if (this.#holders.size >= cachedHolders) {
      const oldest = this.#holders.keys().next();
      if (!oldest.done) this.#holders.delete(oldest.value);
    }
    this.#holders.set(id, holders);
  }
}
