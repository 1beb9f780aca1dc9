import type { ExecutionId, RunId, SessionId } from '../../base/ids.ts';
import type { Execution, ExecutionUsage } from '../../ledger/execution.ts';
import { isSettled } from '../../ledger/execution.ts';
import type { RunRow } from '../../ledger/plan.ts';
import { addUsage } from '../../ledger/spending.ts';
import type { TurnOwner } from '../../ledger/turn.ts';
import type { RowOf, SettleEffect, TableName, Tables } from '../apply.ts';
import { keyOfRow } from '../apply.ts';
import { settled, withDeficit } from '../closing.ts';
import { checkRow } from '../row-constraints.ts';
import type { Param } from '../sql/connection.ts';
import type { LedgerRows, Rows } from '../sql/rows.ts';
import type { Changes, KnownRows } from './changes.ts';
import { columnListOf, rowOf } from './row-statements.ts';
import type { ReplayedConnection, Work } from './replay.ts';
import { WantedRows } from './replay.ts';
import { tableShapes } from '../sql/tables.ts';

/** What the rows are read from and changed in. */
export interface ChangingWork extends Work {
  readonly changes: Changes;
}

/** The ledger's tables, as the transaction that is worked for sees and changes them. */
export class PostgresTables implements Tables, LedgerRows {
  readonly executions = this.#rows('execution');
  readonly notices = this.#rows('notice');
  readonly sessions = this.#rows('session');
  readonly turns = this.#rows('turn');
  readonly inputs = this.#rows('input');
  readonly steers = this.#rows('steer');
  readonly runs = this.#rows('run');
  readonly schedules = this.#rows('schedule');
  readonly occurrences = this.#rows('occurrence');
  readonly notifications = this.#rows('notification');
  readonly dispatches = this.#rows('dispatch');
  readonly admissions = this.#rows('admission');
  readonly workspaces = this.#rows('workspace');
  readonly graphs = this.#rows('graph');
  readonly graphSteps = this.#rows('graphStep');
  readonly #connection: ReplayedConnection<ChangingWork>;

  constructor(connection: ReplayedConnection<ChangingWork>) {
    this.#connection = connection;
  }

  insert<Name extends TableName>(table: Name, row: RowOf[Name]): void {
    const id = keyOfRow(table, row);
    const known = this.#known(table);
    if (known.get(id)) throw new Error(`${table} ${id} exists already`);
    checkRow(table, row, undefined);
    known.stage(id, row);
    if (table === 'execution') this.#changes.stageHolders(id as ExecutionId, []);
  }

  patch<Name extends TableName>(table: Name, id: string, set: Partial<RowOf[Name]>): void {
    const row = this.#demand(table, id);
    const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
    if (table === 'execution') refuseEnding(row as Execution, given as Partial<Execution>);
    this.#put(table, id, { ...row, ...given }, row);
  }

  removeInput(id: ExecutionId): void {
    this.#demand('input', id);
    this.#known('input').stage(id, null);
  }

  removeAdmission(id: SessionId): void {
    this.#demand('admission', id);
    this.#known('admission').stage(id, null);
  }

  insertHold(executionId: ExecutionId, holderId: ExecutionId): void {
    const holders = this.holdersOf(executionId);
    if (executionId === holderId) throw new Error(`${executionId} cannot hold itself`);
    if (holders.includes(holderId)) throw new Error(`${holderId} holds ${executionId} already`);
    this.#changes.staged.holds.push({ executionId, holderId });
    this.#changes.stageHolders(executionId, [...holders, holderId].sort());
  }

  insertOwner(row: TurnOwner): void {
    this.#changes.staged.owners.push(row);
  }

  insertRows(runId: RunId, rows: readonly RunRow[]): void {
    this.#changes.staged.rows.push({ runId, rows });
  }

  copyRows(runId: RunId, from: RunId): void {
    this.#changes.staged.copies.push({ runId, from });
  }

  shift(id: ExecutionId, by: number, now: number): Execution {
    const row = this.#demand('execution', id);
    return this.#put('execution', id, withDeficit(row, row.open + by, now), row);
  }

  settle(effect: SettleEffect, now: number): Execution {
    const row = this.#demand('execution', effect.id);
    return this.#put('execution', effect.id, settled(row, effect, now), row);
  }

  addFailures(id: ExecutionId, by: number): void {
    const row = this.#demand('execution', id);
    this.#put('execution', id, { ...row, failures: row.failures + by }, row);
  }

  addSpent(id: ExecutionId, by: ExecutionUsage): void {
    const row = this.#demand('execution', id);
    this.#put('execution', id, { ...row, spent: addUsage(row.spent, by) }, row);
  }

  holdersOf(id: ExecutionId): readonly ExecutionId[] {
    const known = this.#changes.holdersOf(id);
    if (!known) throw new WantedRows('holders', [id]);
    return known;
  }

  get #changes(): Changes {
    return this.#connection.work.changes;
  }

  #known<Name extends TableName>(table: Name): KnownRows<RowOf[Name]> {
    return this.#changes.tables[table];
  }

  #demand<Name extends TableName>(table: Name, id: string): RowOf[Name] {
    const row = this.#known(table).get(id);
    if (row === undefined) throw new WantedRows(table, [id]);
    if (row === null) throw new Error(`no ${table} ${id}`);
    return row;
  }

  #put<Name extends TableName>(table: Name, id: string, row: RowOf[Name], before: RowOf[Name]): RowOf[Name] {
    checkRow(table, row, before);
    this.#known(table).stage(id, row);
    return row;
  }

  #rows<Name extends TableName>(table: Name): Rows<RowOf[Name]> {
    const present = (ids: readonly string[]): (RowOf[Name] | null)[] => {
      const known = this.#known(table);
      const missing = ids.filter((id) => known.get(id) === undefined);
      if (missing.length > 0) throw new WantedRows(table, missing);
      return ids.map((id) => known.get(id) ?? null);
    };
    return {
      isUnused: false,
      get: (id) => present([id])[0] ?? undefined,
      some: (ids) => present(ids).filter((row) => row !== null),
      all: (ids) =>
        present(ids).map((row, i) => {
          if (row === null) throw new Error(`no ${table} ${ids[i]}`);
          return row;
        }),
      where: (where) => {
        const { table: name } = tableShapes[table];
        const query = this.#connection.prepare(`SELECT ${columnListOf(table)} FROM ${name} ${where}`);
        return (params: Param[]) => query.rows(params).map((cells) => rowOf(table, cells));
      },
    };
  }
}

// Only `settle` ends an execution, and only once.
function refuseEnding(row: Execution, set: Partial<Execution>): void {
  if (set.state === undefined) return;
  if (isSettled(row.state) || isSettled(set.state)) {
    throw new Error(`execution ${row.id} is ${row.state}: it cannot be patched to ${set.state}`);
  }
}
