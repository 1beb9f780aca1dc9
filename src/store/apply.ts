import type { ExecutionId, RunId, SessionId } from '../base/ids.ts';
import { assertNever } from '../base/assert-never.ts';
import type { Effect, LedgerEvent, Wake, WakeKind } from '../ledger/effects.ts';
import type { Execution, ExecutionUsage } from '../ledger/execution.ts';
import type { Graph, GraphStep } from '../ledger/graph.ts';
import type { Admission } from '../ledger/line.ts';
import type { Notice } from '../ledger/notice.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import type { Schedule } from '../ledger/schedule.ts';
import type { Dispatch, Notification } from '../ledger/notification.ts';
import type { RunRow } from '../ledger/plan.ts';
import type { Input, Run, Session } from '../ledger/session.ts';
import type { Steer, Turn, TurnOwner } from '../ledger/turn.ts';
import type { Workspace } from '../ledger/workspace.ts';

/** The rows of each table that an effect can insert or patch, by the table's name. */
export interface RowOf {
  execution: Execution;
  notice: Notice;
  session: Session;
  turn: Turn;
  input: Input;
  steer: Steer;
  run: Run;
  schedule: Schedule;
  occurrence: Occurrence;
  notification: Notification;
  dispatch: Dispatch;
  admission: Admission;
  workspace: Workspace;
  graph: Graph;
  graphStep: GraphStep;
}
export type TableName = keyof RowOf;

/** The key of a row: its own id, or that of the one thing that it is of. */
export function keyOfRow<Name extends TableName>(table: Name, row: RowOf[Name]): string {
  if (table === 'input') return (row as Input).executionId;
  if (table === 'admission') return (row as Admission).sessionId;
  if (table === 'workspace') return (row as Workspace).runId;
  if (table === 'graphStep') return (row as GraphStep).ref;
  return (row as { readonly id: string }).id;
}

/** The effect that ends an execution. */
export type SettleEffect = Extract<Effect, { do: 'settle' }>;

/** What a store must be able to do to its rows so that effects can be interpreted. Each throws on a violated constraint. */
export interface Tables {
  insert<Name extends TableName>(table: Name, row: RowOf[Name]): void;
  /** Throws when there is no such row. */
  patch<Name extends TableName>(table: Name, id: string, set: Partial<RowOf[Name]>): void;
  removeInput(id: ExecutionId): void;
  removeAdmission(id: SessionId): void;
  insertHold(executionId: ExecutionId, holderId: ExecutionId): void;
  insertOwner(row: TurnOwner): void;
  /** The rows of a run that was inserted with their number, all at once. */
  insertRows(runId: RunId, rows: readonly RunRow[]): void;
  /** The rows of a run, for another run. */
  copyRows(runId: RunId, from: RunId): void;
  /**
   * Adds to a deficit, or takes from it, and answers the row as it then is (`withDeficit`). Throws for an execution that
   * is unknown or closed, and for a deficit below zero.
   */
  shift(id: ExecutionId, by: number, now: number): Execution;
  /** Settles, adds `openBy`, and answers the row as it then is (`settled`). Throws when it is unknown or settled. */
  settle(effect: SettleEffect, now: number): Execution;
  addFailures(id: ExecutionId, by: number): void;
  /** Adds to what is spent at and below it, also when it is closed. */
  addSpent(id: ExecutionId, by: ExecutionUsage): void;
  holdersOf(id: ExecutionId): readonly ExecutionId[];
}

/** What one transaction has to tell once it is durable. */
export interface Journal {
  readonly events: LedgerEvent[];
  readonly wakes: Wake[];
}

/**
 * Interprets the effects of one decision, in order. What a closing tells is appended after the decision's own events, so
 * that a stream reads `settled` before `closed`. `now` (UTC milliseconds) becomes `closedAt`.
 */
export function applyEffects(
  effects: readonly Effect[],
  tables: Tables,
  journal: Journal,
  now: number,
): void {
  const closings = new Closings(tables, journal, now);
  for (const effect of effects) applyOne(effect, tables, journal, closings);
  for (const event of closings.events) journal.events.push(event);
}

function applyOne(effect: Effect, tables: Tables, journal: Journal, closings: Closings): void {
  switch (effect.do) {
    case 'insertExecution':
      return tables.insert('execution', effect.row);
    case 'patchExecution':
      return tables.patch('execution', effect.id, effect.set);
    case 'open':
      return closings.shift(effect.id, effect.by);
    case 'failures':
      return tables.addFailures(effect.id, effect.by);
    case 'settle':
      return closings.settle(effect);
    case 'spend':
      return tables.addSpent(effect.id, effect.by);
    case 'insertHold':
      return tables.insertHold(effect.executionId, effect.holderId);
    case 'insertNotice':
      return tables.insert('notice', effect.row);
    case 'patchNotice':
      return tables.patch('notice', effect.id, effect.set);
    case 'insertSession':
      return tables.insert('session', effect.row);
    case 'patchSession':
      return tables.patch('session', effect.id, effect.set);
    case 'insertTurn':
      return tables.insert('turn', effect.row);
    case 'patchTurn':
      return tables.patch('turn', effect.id, effect.set);
    case 'insertOwner':
      return tables.insertOwner(effect.row);
    case 'insertInput':
      return tables.insert('input', effect.row);
    case 'patchInput':
      return tables.patch('input', effect.id, effect.set);
    case 'deleteInput':
      return tables.removeInput(effect.id);
    case 'insertSteer':
      return tables.insert('steer', effect.row);
    case 'patchSteer':
      return tables.patch('steer', effect.id, effect.set);
    case 'insertRun':
      return tables.insert('run', effect.row);
    case 'patchRun':
      return tables.patch('run', effect.id, effect.set);
    case 'insertRows':
      return tables.insertRows(effect.runId, effect.rows);
    case 'copyRows':
      return tables.copyRows(effect.runId, effect.from);
    case 'insertSchedule':
      return tables.insert('schedule', effect.row);
    case 'patchSchedule':
      return tables.patch('schedule', effect.id, effect.set);
    case 'insertOccurrence':
      return tables.insert('occurrence', effect.row);
    case 'patchOccurrence':
      return tables.patch('occurrence', effect.id, effect.set);
    case 'insertNotification':
      return tables.insert('notification', effect.row);
    case 'patchNotification':
      return tables.patch('notification', effect.id, effect.set);
    case 'insertDispatch':
      return tables.insert('dispatch', effect.row);
    case 'patchDispatch':
      return tables.patch('dispatch', effect.id, effect.set);
    case 'insertAdmission':
      return tables.insert('admission', effect.row);
    case 'patchAdmission':
      return tables.patch('admission', effect.id, effect.set);
    case 'deleteAdmission':
      return tables.removeAdmission(effect.id);
    case 'insertWorkspace':
      return tables.insert('workspace', effect.row);
    case 'patchWorkspace':
      return tables.patch('workspace', effect.id, effect.set);
    case 'insertGraph':
      return tables.insert('graph', effect.row);
    case 'patchGraph':
      return tables.patch('graph', effect.id, effect.set);
    case 'insertGraphStep':
      return tables.insert('graphStep', effect.row);
    case 'patchGraphStep':
      return tables.patch('graphStep', effect.ref, effect.set);
    case 'wake':
      journal.wakes.push(effect.wake);
      return;
    case 'event':
      journal.events.push(effect.event);
      return;
    default:
      assertNever(effect);
  }
}

/**
 * The cascade of the one rule, "closed = settled and the deficit is zero". Iterative, because a tree may be a thousand
 * deep and more, and each execution closes once, so the work is constant an execution over its life.
 */
class Closings {
  readonly events: LedgerEvent[] = [];
  readonly #tables: Tables;
  readonly #journal: Journal;
  readonly #now: number;

  constructor(tables: Tables, journal: Journal, now: number) {
    this.#tables = tables;
    this.#journal = journal;
    this.#now = now;
  }

  shift(id: ExecutionId, by: number): void {
    if (by > 0) this.#tables.shift(id, by, this.#now);
    else if (by < 0) this.#cascade([this.#lowered(id, by)]);
  }

  settle(effect: SettleEffect): void {
    const row = this.#tables.settle(effect, this.#now);
    this.#noteDrained(row, effect.openBy);
    this.#cascade([row]);
  }

  #lowered(id: ExecutionId, by: number): Execution {
    const row = this.#tables.shift(id, by, this.#now);
    this.#noteDrained(row, by);
    return row;
  }

  #noteDrained(row: Execution, by: number): void {
    if (by < 0 && !row.closed && row.drain !== null && row.open <= row.drain) {
      this.#journal.wakes.push({ kind: 'drained', target: row.id, at: 0 });
    }
  }

  #cascade(rows: Execution[]): void {
    for (let row = rows.pop(); row !== undefined; row = rows.pop()) {
      if (!row.closed) continue;
      this.#tell(row);
      if (row.detachedAt !== null) continue;
      const holders = this.#tables.holdersOf(row.id);
      if (row.parentId !== null) rows.push(this.#lowered(row.parentId, -1));
      for (const holder of holders) rows.push(this.#lowered(holder, -1));
    }
  }

  #tell(row: Execution): void {
    const data: Record<string, unknown> = { executionId: row.id };
    if (row.outcome !== null) data['outcome'] = row.outcome;
    if (row.outcomeCode !== null) data['outcomeCode'] = row.outcomeCode;
    this.events.push({
      type: 'execution.closed',
      at: this.#now,
      rootId: row.rootId,
      sessionId: row.runsIn,
      data,
    });
    for (const text of row.wakeOnClose?.split(' ') ?? []) this.#journal.wakes.push(wakeOf(text));
  }
}

function wakeOf(text: string): Wake {
  const colon = text.indexOf(':');
  return { kind: text.slice(0, colon) as WakeKind, target: text.slice(colon + 1), at: 0 };
}

/** Merges the wake-ups of one transaction: one for each kind and target, with the earliest instant. */
export function mergeWakes(wakes: readonly Wake[]): Wake[] {
  if (wakes.length < 2) return [...wakes];
  const merged = new Map<string, Wake>();
  for (const wake of wakes) {
    const key = `${wake.kind}:${wake.target}`;
    const known = merged.get(key);
    if (!known || wake.at < known.at) merged.set(key, wake);
  }
  return [...merged.values()];
}
