import { createRequire } from 'node:module';
import type { Cell } from '../sql/connection.ts';
import type { Ran, RawDatabase, RawStatement } from './raw-database.ts';

type Values = readonly (string | number | null)[];

/** The part of node:sqlite used here; the types of Node 20 do not know the module. */
interface NodeStatement {
  run(...params: Values): Ran;
  get(...params: Values): Cell[] | Record<string, Cell> | undefined;
  all(...params: Values): (Cell[] | Record<string, Cell>)[];
  setReturnArrays?(enabled: boolean): void;
}

interface NodeDatabase {
  readonly isTransaction?: boolean;
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  close(): void;
}

/**
 * node:sqlite. It is experimental on Node 22 and says so on stderr once; that one warning is kept quiet, since stderr is
 * for people.
 */
export function openRaw(file: string): RawDatabase {
  const { DatabaseSync } = loadQuietly();
  const connection = new DatabaseSync(file);
  const transaction = new TransactionState(connection);
  return {
    library: 'node',
    inTransaction: () => transaction.isOpen(),
    prepare: (sql) => transaction.watch(sql, prepare(connection, sql)),
    exec: (sql) => connection.exec(sql),
    close: () => connection.close(),
  };
}

function prepare(connection: NodeDatabase, sql: string): RawStatement {
  const statement = connection.prepare(sql);
  statement.setReturnArrays?.(true);
  return {
    run: (params) => statement.run(...params),
    execute: (params) => void statement.run(...params),
    get: (params) => {
      const row = statement.get(...params);
      return row === undefined ? undefined : cellsOf(row);
    },
    all: (params) => statement.all(...params).map(cellsOf),
  };
}

// Nodes before 22.16 have no arrays: then the order of the properties is the order of the columns.
function cellsOf(row: Cell[] | Record<string, Cell>): Cell[] {
  return Array.isArray(row) ? row : Object.values(row);
}

/** `isTransaction` came with 22.16; before that, the statements that begin and end one tell. */
class TransactionState {
  readonly #connection: NodeDatabase;
  #open = false;

  constructor(connection: NodeDatabase) {
    this.#connection = connection;
  }

  isOpen(): boolean {
    return this.#connection.isTransaction ?? this.#open;
  }

  watch(sql: string, statement: RawStatement): RawStatement {
    if (this.#connection.isTransaction !== undefined) return statement;
    const after = /^\s*BEGIN/i.test(sql) ? true : /^\s*(COMMIT|ROLLBACK\s*$)/i.test(sql) ? false : undefined;
    if (after === undefined) return statement;
    const run = (params: Values): Ran => {
      const result = statement.run(params);
      this.#open = after;
      return result;
    };
    return { ...statement, run, execute: (params) => void run(params) };
  }
}

function loadQuietly(): { DatabaseSync: new (file: string) => NodeDatabase } {
  const emit = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    const text = typeof warning === 'string' ? warning : warning.message;
    if (!/SQLite is an experimental feature/.test(text)) Reflect.apply(emit, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return createRequire(import.meta.url)('node:sqlite') as ReturnType<typeof loadQuietly>;
  } finally {
    process.emitWarning = emit;
  }
}
