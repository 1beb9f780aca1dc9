import type { ExecutionId, RunId } from '../../base/ids.ts';
import type { RunRow } from '../../ledger/plan.ts';
import type { StoredEvent } from '../../ledger/store.ts';
import type { TurnOwner } from '../../ledger/turn.ts';
import type { WakeRow } from '../../wakeups/rows.ts';
import type { RowOf, TableName } from '../apply.ts';
import type { IdempotentRequest, NamedToken, TranscriptItem } from '../records.ts';

/** A hold edge. */
export interface Hold {
  readonly executionId: ExecutionId;
  readonly holderId: ExecutionId;
}

/** A row of a run. */
export interface RowOfRun {
  readonly runId: RunId;
  readonly index: number;
  readonly row: RunRow;
}

/** Everything a memory store holds, as plain rows. Rows are never changed in place, so they are shared, not copied. */
export interface MemorySnapshot {
  readonly executions: readonly RowOf['execution'][];
  readonly notices: readonly RowOf['notice'][];
  readonly sessions: readonly RowOf['session'][];
  readonly turns: readonly RowOf['turn'][];
  readonly inputs: readonly RowOf['input'][];
  readonly steers: readonly RowOf['steer'][];
  readonly runs: readonly RowOf['run'][];
  readonly schedules: readonly RowOf['schedule'][];
  readonly occurrences: readonly RowOf['occurrence'][];
  readonly notifications: readonly RowOf['notification'][];
  readonly dispatches: readonly RowOf['dispatch'][];
  readonly admissions: readonly RowOf['admission'][];
  readonly workspaces: readonly RowOf['workspace'][];
  readonly graphs: readonly RowOf['graph'][];
  readonly graphSteps: readonly RowOf['graphStep'][];
  readonly runRows: readonly RowOfRun[];
  readonly holds: readonly Hold[];
  readonly owners: readonly TurnOwner[];
  readonly wakeups: readonly WakeRow[];
  readonly events: readonly StoredEvent[];
  readonly requests: readonly IdempotentRequest[];
  readonly tokens: readonly NamedToken[];
  readonly transcript: readonly TranscriptItem[];
  readonly meta: readonly (readonly [string, string])[];
  readonly databaseId: string;
}

/** The tables by the name that effects use. */
type RowTables = { readonly [Name in TableName]: Map<string, RowOf[Name]> };

/** A map that remembers how to take back what was done to it since the last `keep`. */
class Undoable<Row> {
  readonly rows: Map<string, Row>;
  readonly #undo: (() => void)[];

  constructor(undo: (() => void)[], entries: Iterable<readonly [string, Row]> = []) {
    this.#undo = undo;
    this.rows = new Map(entries);
  }

  set(key: string, row: Row): void {
    const before = this.rows.get(key);
    this.#undo.push(() => {
      if (before === undefined) this.rows.delete(key);
      else this.rows.set(key, before);
    });
    this.rows.set(key, row);
  }

  delete(key: string): void {
    const before = this.rows.get(key);
    if (before === undefined) return;
    this.#undo.push(() => void this.rows.set(key, before));
    this.rows.delete(key);
  }
}

/** The tables of a memory store. What a failed decision has done is taken back, newest first. */
export class MemoryState {
  readonly #undo: (() => void)[] = [];
  readonly #rows: { readonly [Name in TableName]: Undoable<RowOf[Name]> };
  readonly #runRows: Undoable<RowOfRun>;
  readonly #holds: Undoable<Hold>;
  readonly #owners: Undoable<TurnOwner>;
  readonly #wakeups: Undoable<WakeRow>;
  readonly events: StoredEvent[];
  readonly requests: Map<string, IdempotentRequest>;
  readonly tokens: Map<string, NamedToken>;
  readonly transcript: Map<string, TranscriptItem>;
  readonly meta: Map<string, string>;
  readonly databaseId: string;

  constructor(from: MemorySnapshot) {
    const undoable = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): Undoable<Row> =>
      new Undoable(
        this.#undo,
        rows.map((row) => [keyOf(row), row] as const),
      );
    this.#rows = {
      execution: undoable(from.executions, (row) => row.id),
      notice: undoable(from.notices, (row) => row.id),
      session: undoable(from.sessions, (row) => row.id),
      turn: undoable(from.turns, (row) => row.id),
      input: undoable(from.inputs, (row) => row.executionId),
      steer: undoable(from.steers, (row) => row.id),
      run: undoable(from.runs, (row) => row.id),
      schedule: undoable(from.schedules, (row) => row.id),
      occurrence: undoable(from.occurrences, (row) => row.id),
      notification: undoable(from.notifications, (row) => row.id),
      dispatch: undoable(from.dispatches, (row) => row.id),
      admission: undoable(from.admissions, (row) => row.sessionId),
      workspace: undoable(from.workspaces, (row) => row.runId),
      graph: undoable(from.graphs, (row) => row.id),
      graphStep: undoable(from.graphSteps, (row) => row.ref),
    };
    this.#runRows = undoable(from.runRows, runRowKey);
    this.#holds = undoable(from.holds, holdKey);
    this.#owners = undoable(from.owners, ownerKey);
    this.#wakeups = undoable(from.wakeups, wakeKey);
    this.events = [...from.events];
    this.requests = new Map(from.requests.map((row) => [requestKey(row), row]));
    this.tokens = new Map(from.tokens.map((row) => [row.hash, row]));
    this.transcript = new Map(from.transcript.map((row) => [transcriptKey(row), row]));
    this.meta = new Map(from.meta);
    this.databaseId = from.databaseId;
  }

  /** The rows of one table. Read only: changes go through `put` and `remove`. */
  rows<Name extends TableName>(table: Name): ReadonlyMap<string, RowOf[Name]> {
    return (this.#rows as { readonly [N in TableName]: { readonly rows: RowTables[N] } })[table].rows;
  }

  get runRows(): Iterable<RowOfRun> {
    return this.#runRows.rows.values();
  }

  runRow(runId: RunId, index: number): RunRow | undefined {
    return this.#runRows.rows.get(runRowKey({ runId, index }))?.row;
  }

  get holds(): Iterable<Hold> {
    return this.#holds.rows.values();
  }

  get owners(): Iterable<TurnOwner> {
    return this.#owners.rows.values();
  }

  get wakeups(): ReadonlyMap<string, WakeRow> {
    return this.#wakeups.rows;
  }

  put<Name extends TableName>(table: Name, id: string, row: RowOf[Name]): void {
    (this.#rows[table] as Undoable<RowOf[Name]>).set(id, row);
  }

  remove(table: TableName, id: string): void {
    this.#rows[table].delete(id);
  }

  /** False when the run has one at this place already. */
  addRunRow(row: RowOfRun): boolean {
    return add(this.#runRows, runRowKey(row), row);
  }

  /** False when the edge is there already. */
  addHold(hold: Hold): boolean {
    return add(this.#holds, holdKey(hold), hold);
  }

  /** False when it owns the turn already. */
  addOwner(owner: TurnOwner): boolean {
    return add(this.#owners, ownerKey(owner), owner);
  }

  putWake(row: WakeRow): void {
    this.#wakeups.set(wakeKey(row), row);
  }

  removeWake(row: Pick<WakeRow, 'kind' | 'target'>): void {
    this.#wakeups.delete(wakeKey(row));
  }

  /** What was done is kept. */
  keep(): void {
    this.#undo.length = 0;
  }

  /** What was done since the last `keep` is taken back. */
  takeBack(): void {
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) undo();
  }

  snapshot(): MemorySnapshot {
    return {
      executions: [...this.rows('execution').values()],
      notices: [...this.rows('notice').values()],
      sessions: [...this.rows('session').values()],
      turns: [...this.rows('turn').values()],
      inputs: [...this.rows('input').values()],
      steers: [...this.rows('steer').values()],
      runs: [...this.rows('run').values()],
      schedules: [...this.rows('schedule').values()],
      occurrences: [...this.rows('occurrence').values()],
      notifications: [...this.rows('notification').values()],
      dispatches: [...this.rows('dispatch').values()],
      admissions: [...this.rows('admission').values()],
      workspaces: [...this.rows('workspace').values()],
      graphs: [...this.rows('graph').values()],
      graphSteps: [...this.rows('graphStep').values()],
      runRows: [...this.runRows],
      holds: [...this.holds],
      owners: [...this.owners],
      wakeups: [...this.wakeups.values()],
      events: [...this.events],
      requests: [...this.requests.values()],
      tokens: [...this.tokens.values()],
      transcript: [...this.transcript.values()],
      meta: [...this.meta],
      databaseId: this.databaseId,
    };
  }
}

/** Nothing at all. */
export function emptySnapshot(databaseId: string): MemorySnapshot {
  return {
    executions: [],
    notices: [],
    sessions: [],
    turns: [],
    inputs: [],
    steers: [],
    runs: [],
    schedules: [],
    occurrences: [],
    notifications: [],
    dispatches: [],
    admissions: [],
    workspaces: [],
    graphs: [],
    graphSteps: [],
    runRows: [],
    holds: [],
    owners: [],
    wakeups: [],
    events: [],
    requests: [],
    tokens: [],
    transcript: [],
    meta: [],
    databaseId,
  };
}

function add<Row>(table: Undoable<Row>, key: string, row: Row): boolean {
  if (table.rows.has(key)) return false;
  table.set(key, row);
  return true;
}

/** The key of a wake-up in `wakeups`. */
export function wakeKey(wake: Pick<WakeRow, 'kind' | 'target'>): string {
  return `${wake.kind}:${wake.target}`;
}

/** The key of a request in `requests`. */
export function requestKey(place: Pick<IdempotentRequest, 'token' | 'route' | 'key'>): string {
  return JSON.stringify([place.token, place.route, place.key]);
}

/** The key of an item in `transcript`. */
export function transcriptKey(item: Pick<TranscriptItem, 'sessionId' | 'sequence'>): string {
  return `${item.sessionId}:${item.sequence}`;
}

function runRowKey({ runId, index }: Pick<RowOfRun, 'runId' | 'index'>): string {
  return `${runId}/${index}`;
}

function holdKey(hold: Hold): string {
  return `${hold.executionId}:${hold.holderId}`;
}

function ownerKey(owner: TurnOwner): string {
  return `${owner.turnId}:${owner.executionId}`;
}
