import type { ExecutionId, RunId } from '../../base/ids.ts';
import type { RunRow } from '../../ledger/plan.ts';
import type { TurnOwner } from '../../ledger/turn.ts';
import type { RowOf, TableName } from '../apply.ts';
import { tableShapes } from '../sql/tables.ts';

/** A row, or that there is none. */
type Known<Row> = Row | null;

/** The rows of one table as a transaction knows them. */
export class KnownRows<Row> {
  /** As they are for whoever asks in this transaction. */
  readonly now = new Map<string, Known<Row>>();
  /** What was changed and is not written yet, with what the database has; what was changed last is last. */
  readonly unwritten = new Map<string, Known<Row>>();
  readonly #staged = new Map<string, Known<Row>>();

  /** Undefined: nobody has looked. */
  get(id: string): Known<Row> | undefined {
    const staged = this.#staged.get(id);
    return staged === undefined ? this.now.get(id) : staged;
  }

  stage(id: string, row: Known<Row>): void {
    this.#staged.set(id, row);
  }

  /** What was staged counts from now on. */
  keep(): void {
    for (const [id, row] of this.#staged) {
      const stored = this.unwritten.has(id) ? this.unwritten.get(id) : this.now.get(id);
      this.unwritten.delete(id);
      this.unwritten.set(id, stored ?? null);
      this.now.set(id, row);
    }
    this.#staged.clear();
  }

  drop(): void {
    this.#staged.clear();
  }

  get isStaged(): boolean {
    return this.#staged.size > 0;
  }
}

/** Rows without a key of their own, which are only added. */
export interface Added {
  holds: { readonly executionId: ExecutionId; readonly holderId: ExecutionId }[];
  owners: TurnOwner[];
  rows: { readonly runId: RunId; readonly rows: readonly RunRow[] }[];
  copies: { readonly runId: RunId; readonly from: RunId }[];
}

const nothingAdded = (): Added => ({ holds: [], owners: [], rows: [], copies: [] });

type KnownTables = { readonly [Name in TableName]: KnownRows<RowOf[Name]> };

/**
 * What a transaction knows and what it has changed: the effects of a decision are staged, and count when all of them could be
 * applied; nothing of it is in the database before it is written.
 */
export class Changes {
  readonly tables: KnownTables;
  readonly holders = new Map<ExecutionId, readonly ExecutionId[]>();
  added = nothingAdded();
  #stagedHolders = new Map<ExecutionId, readonly ExecutionId[]>();
  #stagedAdded = nothingAdded();

  constructor() {
    const names = Object.keys(tableShapes) as TableName[];
    this.tables = Object.fromEntries(names.map((name) => [name, new KnownRows()])) as unknown as KnownTables;
  }

  holdersOf(id: ExecutionId): readonly ExecutionId[] | undefined {
    return this.#stagedHolders.get(id) ?? this.holders.get(id);
  }

  stageHolders(id: ExecutionId, holders: readonly ExecutionId[]): void {
    this.#stagedHolders.set(id, holders);
  }

  get staged(): Added {
    return this.#stagedAdded;
  }

  keep(): void {
    for (const table of Object.values(this.tables)) table.keep();
    for (const [id, holders] of this.#stagedHolders) this.holders.set(id, holders);
    for (const name of ['holds', 'owners', 'rows', 'copies'] as const)
      this.added[name].push(...(this.#stagedAdded[name] as never[]));
    this.drop();
  }

  drop(): void {
    for (const table of Object.values(this.tables)) table.drop();
    this.#stagedHolders = new Map();
    this.#stagedAdded = nothingAdded();
  }

  /** Whether something that is not written yet is in one of these tables of the schema. */
  touch(tables: ReadonlySet<string>): boolean {
    const { holds, owners, rows, copies } = this.added;
    if (holds.length > 0 && tables.has('holds')) return true;
    if (owners.length > 0 && tables.has('turn_owners')) return true;
    if (rows.length + copies.length > 0 && tables.has('run_rows')) return true;
    return (Object.keys(this.tables) as TableName[]).some(
      (name) => this.tables[name].unwritten.size > 0 && tables.has(tableShapes[name].table),
    );
  }

  /** Everything was written. */
  written(): void {
    for (const table of Object.values(this.tables)) table.unwritten.clear();
    this.added = nothingAdded();
  }
}
