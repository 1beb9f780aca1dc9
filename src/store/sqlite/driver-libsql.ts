import Database from 'libsql';
import type { Cell, Ran, RawDatabase, RawStatement } from './raw-database.ts';

/**
 * libsql. Rows come as arrays (`raw`), which also leaves out the `_metadata` that it adds to objects; parameters go in
 * as exactly one array, because any other single object aborts the process. Its `transaction()` is never used: it keeps
 * the rows of an async function that failed.
 */
export function openRaw(file: string): RawDatabase {
  const connection = new Database(file);
  return {
    library: 'libsql',
    inTransaction: () => connection.inTransaction,
    prepare: (sql) => prepare(connection, sql),
    exec: (sql) => void connection.exec(sql),
    close: () => void connection.close(),
  };
}

function prepare(connection: Database.Database, sql: string): RawStatement {
  const statement = connection.prepare<unknown[]>(sql);
  if (statement.reader) statement.raw(true);
  return {
    // Numbers, not bigints: safe integers are not switched on.
    run: (params) => statement.run(params) as Ran,
    get: (params) => statement.get(params) as Cell[] | undefined,
    all: (params) => statement.all(params) as Cell[][],
  };
}
