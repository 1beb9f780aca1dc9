import { DatabaseError, toDatabaseError } from './database-error.ts';
import type { Cell, Connection, Param, Query } from '../sql/connection.ts';
import type { Dialect } from '../sql/dialect.ts';
import { escapeText, parseDocument, unescapeText } from '../sql/text.ts';
import { sqliteDialect } from './dialect.ts';
import type { Ran, RawDatabase, RawStatement } from './raw-database.ts';

/**
 * A prepared statement of the one connection. Every call throws `DatabaseError` and nothing else, and takes its array of
 * parameters over: it is not copied, and may be changed.
 */
export interface Statement extends Query {
  run(params: Param[]): Ran;
  /** Runs what must write exactly one row. Whether it did is checked as `Database.checkEach` says. */
  writeOne(params: Param[]): void;
}

/** One SQLite connection, whichever library is behind it. Statements are prepared once and kept by who prepares them. */
export interface Database extends Connection {
  readonly library: 'libsql' | 'node';
  readonly inTransaction: boolean;
  prepare(sql: string): Statement;
  /**
   * Whether each `writeOne` is checked when it is made, or all of them by `checkWrites`. Asking each is a third of what
   * it costs; asking once is a statement more, which is dear where there are few.
   */
  checkEach(isEach: boolean): void;
  /** Throws when a `writeOne` since the last check, or since the last error, wrote no row, or more than one. */
  checkWrites(): void;
  /** Runs a script without parameters. */
  exec(sql: string): void;
  close(): void;
}

/**
 * Opens the file with node:sqlite where Node has it (22.13 and later), else with libsql; `STEMMA_SQLITE=libsql|node`
 * forces one. Throws `DatabaseError` when the file cannot be opened.
 */
export async function openDatabase(
  file: string,
  forced: string | undefined = process.env['STEMMA_SQLITE'],
): Promise<Database> {
  const library = forced === 'libsql' || forced === 'node' ? forced : hasNodeSqlite() ? 'node' : 'libsql';
  const { openRaw } =
    library === 'node' ? await import('./driver-node.ts') : await import('./driver-libsql.ts');
  return new GuardedDatabase(guarded(() => openRaw(file)));
}

/** Whether this Node has node:sqlite without a flag. */
export function hasNodeSqlite(version = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 13);
}

const notOne = 'a row is not what it was remembered to be: a statement did not change exactly one';

/** How many rows the connection should have changed by now, against how many it says it has. */
class Writes {
  expected = 0;
  isEachChecked = false;
  readonly #total: RawStatement;

  constructor(raw: RawDatabase) {
    this.#total = raw.prepare('SELECT total_changes()');
  }

  /** After a script or an error: nobody knows how many rows it changed. */
  begin(): void {
    this.expected = this.#changed();
  }

  areAsExpected(): boolean {
    const changed = this.#changed();
    const isRight = changed === this.expected;
    this.expected = changed;
    return isRight;
  }

  #changed(): number {
    return Number(this.#total.get([])?.[0]);
  }
}

class GuardedDatabase implements Database {
  readonly dialect: Dialect = sqliteDialect;
  readonly library: 'libsql' | 'node';
  readonly #raw: RawDatabase;
  readonly #writes: Writes;

  constructor(raw: RawDatabase) {
    this.#raw = raw;
    this.#writes = new Writes(raw);
    this.library = raw.library;
  }

  get inTransaction(): boolean {
    return this.#raw.inTransaction();
  }

  prepare(sql: string): Statement {
    return new GuardedStatement(
      guarded(() => this.#raw.prepare(sql)),
      sql,
      this.#writes,
    );
  }

  checkEach(isEach: boolean): void {
    this.#writes.isEachChecked = isEach;
  }

  checkWrites(): void {
    if (this.#writes.isEachChecked || guarded(() => this.#writes.areAsExpected())) return;
    throw new DatabaseError('other', notOne);
  }

  exec(sql: string): void {
    try {
      guarded(() => this.#raw.exec(sql));
    } finally {
      guarded(() => this.#writes.begin());
    }
  }

  close(): void {
    guarded(() => this.#raw.close());
  }
}

/**
 * Refuses what the libraries would get wrong: libsql aborts the whole process on a boolean or on an object as the only
 * argument, binds NULL for what is missing, ignores what is too many, and cuts text at NUL.
 */
class GuardedStatement implements Statement {
  readonly #raw: RawStatement;
  readonly #sql: string;
  readonly #count: number;
  readonly #writes: Writes;
  readonly #isWriting: boolean;

  constructor(raw: RawStatement, sql: string, writes: Writes) {
    this.#raw = raw;
    this.#sql = sql;
    this.#count = countParameters(sql);
    this.#writes = writes;
    this.#isWriting = /^\s*(INSERT|UPDATE|DELETE)\b/i.test(sql);
  }

  run(params: Param[]): Ran {
    const bound = this.#bind(params);
    try {
      const ran = this.#raw.run(bound);
      if (this.#isWriting) this.#writes.expected += ran.changes;
      return ran;
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  writeOne(params: Param[]): void {
    if (this.#writes.isEachChecked) {
      if (this.run(params).changes !== 1) throw new DatabaseError('other', `${notOne}: ${this.#sql}`);
      return;
    }
    const bound = this.#bind(params);
    try {
      this.#raw.execute(bound);
      this.#writes.expected++;
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  row(params: Param[]): Cell[] | undefined {
    const bound = this.#bind(params);
    try {
      const cells = this.#raw.get(bound);
      if (this.#isWriting && cells) this.#writes.expected++;
      return cells && unescapeCells(cells);
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  rows(params: Param[]): Cell[][] {
    const bound = this.#bind(params);
    try {
      const rows = this.#raw.all(bound).map(unescapeCells);
      if (this.#isWriting) this.#writes.expected += rows.length;
      return rows;
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  json(params: Param[]): unknown {
    const bound = this.#bind(params);
    let cells: Cell[] | undefined;
    try {
      cells = this.#raw.get(bound);
    } catch (thrown) {
      throw this.#failed(thrown);
    }
    const text = cells?.[0];
    if (text === undefined || text === null) return undefined;
    return parseDocument(String(text));
  }

  #failed(thrown: unknown): DatabaseError {
    const error = toDatabaseError(thrown, this.#sql);
    if (this.#isWriting) this.#writes.begin();
    return error;
  }

  #bind(params: Param[]): (string | number | null)[] {
    if (params.length !== this.#count) {
      throw new DatabaseError(
        'misuse',
        `needs ${this.#count} parameters, got ${params.length}: ${this.#sql}`,
      );
    }
    for (let i = 0; i < params.length; i++) {
      const value = params[i];
      if (value === null) continue;
      params[i] = typeof value === 'string' ? escapeText(value) : bindable(value, this.#sql);
    }
    return params as (string | number | null)[];
  }
}

function bindable(value: unknown, sql: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const what = typeof value === 'number' ? `the number ${value}` : `a value of type ${typeof value}`;
  throw new DatabaseError('misuse', `cannot bind ${what}: ${sql}`);
}

function unescapeCells(cells: Cell[]): Cell[] {
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i];
    if (typeof cell === 'string') cells[i] = unescapeText(cell);
  }
  return cells;
}

/** How many parameters a statement takes: the greatest `?N`, or the number of plain `?`. Text literals do not count. */
export function countParameters(sql: string): number {
  let plain = 0;
  let greatest = 0;
  for (const [, digits] of sql.replace(/'(?:[^']|'')*'/g, '').matchAll(/\?(\d*)/g)) {
    if (digits) greatest = Math.max(greatest, Number(digits));
    else plain++;
  }
  return greatest + plain;
}

function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw toDatabaseError(thrown);
  }
}
