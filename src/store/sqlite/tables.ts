import type { ExecutionId, RunId, SessionId } from '../../base/ids.ts';
import type { Execution, ExecutionUsage } from '../../ledger/execution.ts';
import { isSettled } from '../../ledger/execution.ts';
import type { Admission } from '../../ledger/line.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { Dispatch, Notification } from '../../ledger/notification.ts';
import type { RunRow } from '../../ledger/plan.ts';
import type { Input, Run, Session } from '../../ledger/session.ts';
import { addUsage } from '../../ledger/spending.ts';
import type { Steer, Turn, TurnOwner } from '../../ledger/turn.ts';
import type { Graph, GraphStep } from '../../ledger/graph.ts';
import type { Workspace } from '../../ledger/workspace.ts';
import type { RowOf, SettleEffect, TableName, Tables } from '../apply.ts';
import { settled, withDeficit } from '../closing.ts';
import type { LedgerRows } from '../sql/rows.ts';
import { tableShapes } from '../sql/tables.ts';
import type { CountStatements } from './count-statements.ts';
import { countStatements } from './count-statements.ts';
import type { Database } from './driver.ts';
import { Table } from './table.ts';

/** How many executions' holders are remembered. */
const cachedHolders = 8_192;
const nobody: readonly ExecutionId[] = [];

/**
 * The ledger's tables on one connection. A deficit, what closes with it and a root's outcome are one UPDATE; the
 * schema checks the one rule again. What SQL cannot see of a decision's mistakes is thrown here.
 */
export class SqliteTables implements Tables, LedgerRows {
  readonly executions: Table<Execution>;
  readonly notices: Table<Notice>;
  readonly sessions: Table<Session>;
  readonly turns: Table<Turn>;
  readonly inputs: Table<Input>;
  readonly steers: Table<Steer>;
  readonly runs: Table<Run>;
  readonly schedules: Table<Schedule>;
  readonly occurrences: Table<Occurrence>;
  readonly notifications: Table<Notification>;
  readonly dispatches: Table<Dispatch>;
  readonly admissions: Table<Admission>;
  readonly workspaces: Table<Workspace>;
  readonly graphs: Table<Graph>;
  readonly graphSteps: Table<GraphStep>;
  readonly #byName: { readonly [Name in TableName]: Table<RowOf[Name]> };
  readonly #counts: CountStatements;
  readonly #holders = new Map<ExecutionId, readonly ExecutionId[]>();

  constructor(db: Database) {
    this.executions = new Table(db, tableShapes.execution);
    this.notices = new Table(db, tableShapes.notice);
    this.sessions = new Table(db, tableShapes.session);
    this.turns = new Table(db, tableShapes.turn);
    this.inputs = new Table(db, tableShapes.input);
    this.steers = new Table(db, tableShapes.steer);
    this.runs = new Table(db, tableShapes.run);
    this.schedules = new Table(db, tableShapes.schedule);
    this.occurrences = new Table(db, tableShapes.occurrence);
    this.notifications = new Table(db, tableShapes.notification);
    this.dispatches = new Table(db, tableShapes.dispatch);
    this.admissions = new Table(db, tableShapes.admission);
    this.workspaces = new Table(db, tableShapes.workspace);
    this.graphs = new Table(db, tableShapes.graph);
    this.graphSteps = new Table(db, tableShapes.graphStep);
    this.#byName = {
      execution: this.executions,
      notice: this.notices,
      session: this.sessions,
      turn: this.turns,
      input: this.inputs,
      steer: this.steers,
      run: this.runs,
      schedule: this.schedules,
      occurrence: this.occurrences,
      notification: this.notifications,
      dispatch: this.dispatches,
      admission: this.admissions,
      workspace: this.workspaces,
      graph: this.graphs,
      graphStep: this.graphSteps,
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

  removeAdmission(id: SessionId): void {
    if (!this.#counts.removeAdmission(id)) throw new Error(`no admission of ${id} to delete`);
    this.admissions.forget(id);
  }

  insertHold(executionId: ExecutionId, holderId: ExecutionId): void {
    const holders = this.holdersOf(executionId);
    this.#counts.insertHold(executionId, holderId);
    this.#keepHolders(executionId, [...holders, holderId].sort());
  }

  insertOwner(row: TurnOwner): void {
    this.#counts.insertOwner(row);
  }

  insertRows(runId: RunId, rows: readonly RunRow[]): void {
    this.#counts.insertRows(runId, rows);
  }

  copyRows(runId: RunId, from: RunId): void {
    this.#counts.copyRows(runId, from);
  }

  shift(id: ExecutionId, by: number, now: number): Execution {
    const row = this.#execution(id);
    const shifted = withDeficit(row, row.open + by, now);
    if (shifted.closed) this.#counts.close(row, shifted);
    else this.#counts.count(row, shifted.open);
    return this.#written(shifted);
  }

  settle(effect: SettleEffect, now: number): Execution {
    const row = this.#execution(effect.id);
    const ended = settled(row, effect, now);
    this.#counts.settle(row, ended);
    return this.#written(ended);
  }

  addFailures(id: ExecutionId, by: number): void {
    const row = this.#execution(id);
    this.executions.patch(id, { failures: row.failures + by });
  }

  addSpent(id: ExecutionId, by: ExecutionUsage): void {
    this.executions.patch(id, { spent: addUsage(this.#execution(id).spent, by) });
  }

  holdersOf(id: ExecutionId): readonly ExecutionId[] {
    const known = this.#holders.get(id);
    if (known) {
      // The cascade asks about what has closed just now, and nobody does after it.
      if (!this.executions.isKept(id)) this.#holders.delete(id);
      return known;
    }
    const read = this.#counts.holdersOf(id);
    this.#keepHolders(id, read);
    return read;
  }

  #execution(id: ExecutionId): Execution {
    const row = this.executions.get(id);
    if (!row) throw new Error(`no execution ${id}`);
    return row;
  }

  // The statement names the deficit that it was computed from: what is remembered can be wrong, but never committed.
  #written(row: Execution): Execution {
    // Nobody asks much about what is closed, and what lives briefly costs the garbage collector little.
    if (row.closed) this.executions.forget(row.id);
    else this.executions.keep(row.id, row);
    return row;
  }

  // Only `settle` ends an execution, and only once.
  #refuseEnding(id: string, set: Partial<Execution>): void {
    if (set.state === undefined) return;
    const row = this.executions.get(id);
    if (!row || isSettled(row.state) || isSettled(set.state)) {
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
