import type { TableName } from '../apply.ts';
import type { Cell, Connection, Param, Query } from '../sql/connection.ts';
import type { Dialect } from '../sql/dialect.ts';
import { parseDocument } from '../sql/text.ts';
import { postgresDialect, tablesIn, translated } from './dialect.ts';
import type { Ran } from './pool.ts';

/** A statement as it is sent. */
export interface Prepared {
  readonly text: string;
  /** What it looks at: what was changed there must be written before. */
  readonly tables: ReadonlySet<string>;
}

/** What code that answers at once came by and does not have: the result of a statement. */
export class WantedResult extends Error {
  readonly statement: Prepared;
  readonly params: readonly Param[];

  constructor(statement: Prepared, params: readonly Param[]) {
    super('not asked yet');
    this.statement = statement;
    this.params = params;
  }
}

/** Rows by their keys, or who holds these executions. */
export class WantedRows extends Error {
  readonly of: TableName | 'holders';
  readonly ids: readonly string[];

  constructor(of: TableName | 'holders', ids: readonly string[]) {
    super('not read yet');
    this.of = of;
    this.ids = ids;
  }
}

/** What code that answers at once sees of the transaction that it works for. */
export interface Work {
  /** The result of the next statement. Throws `WantedResult` when it has not been asked yet. */
  next(statement: Prepared, params: readonly Param[]): Ran;
}

/**
 * Answers at once, from what the transaction has fetched already. Where something is missing it throws what is wanted; the
 * transaction fetches it and the whole call is begun again, with the same answers as far as it came. So the code that asks is
 * the same as for a database in this process, and takes as many tries as it needs answers that depend on each other.
 */
export class ReplayedConnection<Of extends Work> implements Connection {
  readonly dialect: Dialect = postgresDialect;
  #work: Of | undefined;

  prepare(sql: string): Query {
    const text = translated(sql);
    return new ReplayedQuery(this, { text, tables: tablesIn(text) });
  }

  /** The transaction that is worked for now. */
  get work(): Of {
    if (!this.#work) throw new Error('a statement was run outside of a transaction');
    return this.#work;
  }

  /** Calls what must answer at once, for a transaction. */
  within<T>(work: Of, call: () => T): T {
    this.#work = work;
    try {
      return call();
    } finally {
      this.#work = undefined;
    }
  }
}

class ReplayedQuery implements Query {
  readonly #connection: ReplayedConnection<Work>;
  readonly #statement: Prepared;

  constructor(connection: ReplayedConnection<Work>, statement: Prepared) {
    this.#connection = connection;
    this.#statement = statement;
  }

  run(params: Param[]): { readonly changes: number } {
    return this.#next(params);
  }

  row(params: Param[]): Cell[] | undefined {
    return this.#next(params).rows[0];
  }

  rows(params: Param[]): Cell[][] {
    return this.#next(params).rows;
  }

  json(params: Param[]): unknown {
    const text = this.row(params)?.[0];
    return text === undefined || text === null ? undefined : parseDocument(String(text));
  }

  #next(params: Param[]): Ran {
    return this.#connection.work.next(this.#statement, params);
  }
}
