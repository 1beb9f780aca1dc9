import type { ExecutionId, NoticeId, RunId, SessionId, SteerId, TurnId } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import type { BackOff, HeldBack } from '../../src/ledger/holding.ts';
import type { Admission } from '../../src/ledger/line.ts';
import type { Notice } from '../../src/ledger/notice.ts';
import type { Input, Limit, Run, Session } from '../../src/ledger/session.ts';
import type { Steer, Turn } from '../../src/ledger/turn.ts';
import type { Workspace } from '../../src/ledger/workspace.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import { wakeKey } from '../../src/store/memory/state.ts';
import type { WakeRow } from '../../src/wakeups/rows.ts';

/** One committed state, indexed. Rows are shared with the store, which never changes one in place. */
export interface State {
  readonly snapshot: MemorySnapshot;
  readonly executions: ReadonlyMap<ExecutionId, Execution>;
  readonly notices: ReadonlyMap<NoticeId, Notice>;
  readonly sessions: ReadonlyMap<SessionId, Session>;
  readonly turns: ReadonlyMap<TurnId, Turn>;
  readonly inputs: ReadonlyMap<ExecutionId, Input>;
  readonly steers: ReadonlyMap<SteerId, Steer>;
  readonly runs: ReadonlyMap<RunId, Run>;
  readonly admissions: ReadonlyMap<SessionId, Admission>;
  readonly workspaces: ReadonlyMap<RunId, Workspace>;
  readonly wakes: ReadonlyMap<string, WakeRow>;
  /** Children by parent. */
  readonly children: ReadonlyMap<ExecutionId, readonly Execution[]>;
  /** Holders by what they hold. */
  readonly holders: ReadonlyMap<ExecutionId, readonly ExecutionId[]>;
  /** Owners by turn, in the order in which they joined. */
  readonly owners: ReadonlyMap<TurnId, readonly Execution[]>;
  /** Turns by owner. */
  readonly turnsOf: ReadonlyMap<ExecutionId, readonly Turn[]>;
  /** The notice by the execution whose result it is. */
  readonly noticeOf: ReadonlyMap<ExecutionId, Notice>;
  /** Notices by the execution that they are counted on. */
  readonly noticesOn: ReadonlyMap<ExecutionId, readonly Notice[]>;
}

/** Indexes what a store holds now. */
export function indexed(snapshot: MemorySnapshot): State {
  const executions = byKey(snapshot.executions, (row) => row.id);
  const turns = byKey(snapshot.turns, (row) => row.id);
  const owned = [...snapshot.owners].sort((a, b) => a.position - b.position);
  return {
    snapshot,
    executions,
    turns,
    notices: byKey(snapshot.notices, (row) => row.id),
    sessions: byKey(snapshot.sessions, (row) => row.id),
    inputs: byKey(snapshot.inputs, (row) => row.executionId),
    steers: byKey(snapshot.steers, (row) => row.id),
    runs: byKey(snapshot.runs, (row) => row.id),
    admissions: byKey(snapshot.admissions, (row) => row.sessionId),
    workspaces: byKey(snapshot.workspaces, (row) => row.runId),
    wakes: byKey(snapshot.wakeups, wakeKey),
    children: grouped(
      snapshot.executions,
      (row) => row.parentId,
      (row) => row,
    ),
    holders: grouped(
      snapshot.holds,
      (edge) => edge.executionId,
      (edge) => edge.holderId,
    ),
    owners: grouped(
      owned,
      (owner) => owner.turnId,
      (owner) => existing(executions, owner.executionId),
    ),
    turnsOf: grouped(
      owned,
      (owner) => owner.executionId,
      (owner) => existing(turns, owner.turnId),
    ),
    noticeOf: byKey(snapshot.notices, (row) => row.executionId),
    noticesOn: grouped(
      snapshot.notices,
      (row) => row.countedOn,
      (row) => row,
    ),
  };
}

/** A row that must exist, since the schema says so. */
export function existing<Id, Row>(rows: ReadonlyMap<Id, Row>, id: Id): Row {
  const row = rows.get(id);
  if (row === undefined) throw new Error(`no row ${String(id)}`);
  return row;
}

/** The list under a key, or an empty one. */
export function listed<Id, Row>(rows: ReadonlyMap<Id, readonly Row[]>, id: Id): readonly Row[] {
  return rows.get(id) ?? [];
}

function byKey<Row, Id>(rows: readonly Row[], keyOf: (row: Row) => Id): Map<Id, Row> {
  const map = new Map<Id, Row>();
  for (const row of rows) map.set(keyOf(row), row);
  return map;
}

function grouped<From, Id, Row>(
  rows: readonly From[],
  keyOf: (row: From) => Id | null,
  rowOf: (row: From) => Row,
): Map<Id, Row[]> {
  const map = new Map<Id, Row[]>();
  for (const from of rows) {
    const key = keyOf(from);
    if (key === null) continue;
    const list = map.get(key);
    if (list) list.push(rowOf(from));
    else map.set(key, [rowOf(from)]);
  }
  return map;
}

/** The limits of sessions that wait for capacity or a sign-in. */
export function limitsIn(state: Pick<State, 'sessions'>): Map<SessionId, Limit> {
  const limited = [...state.sessions.values()].flatMap(({ id, limit }) =>
    limit ? [[id, limit] as const] : [],
  );
  return new Map(limited);
}

/** The sessions that wait for a turn slot. */
export function heldBackIn(state: Pick<State, 'admissions'>): Map<SessionId, HeldBack> {
  const rows = [...state.admissions.values()];
  return new Map(rows.map(({ sessionId, since }) => [sessionId, { since, text: 'others run' }]));
}

/** The workflows of a state, each with its steps between two attempts. */
export function workflowsIn({ snapshot }: Pick<State, 'snapshot'>): Map<ExecutionId, BackOff[]> {
  const found = new Map<ExecutionId, BackOff[]>(snapshot.graphs.map(({ id }) => [id, []]));
  for (const { graphId, plan, tries, reason, retryAt } of snapshot.graphSteps) {
    if (retryAt === null) continue;
    const code = reason ?? 'FAILED';
    found.get(graphId)?.push({ step: plan.name, attempt: tries, code, since: 0, until: retryAt });
  }
  return found;
}
