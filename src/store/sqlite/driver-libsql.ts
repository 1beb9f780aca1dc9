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

/**
 * A statement that failed answers its old error again when it is next asked by `get`, and does nothing, so it is
 * prepared anew.
 */
function prepare(connection: Database.Database, sql: string): RawStatement {
  const make = (): Database.Statement<unknown[]> => {
    const made = connection.prepare<unknown[]>(sql);
    return made.reader ? made.raw(true) : made;
  };
  let statement = make();
  let hasFailed = false;
  const calling = <T>(call: () => T): T => {
    if (hasFailed) statement = make();
    hasFailed = true;
    const answer = call();
    hasFailed = false;
    return answer;
  };
  return {
    // Numbers, not bigints: safe integers are not switched on.
    run: (params) => calling(() => statement.run(params) as Ran),
    // `run` measures the time and makes an object of its answer, which is a third of what a small statement costs.
    execute: (params) => calling(() => void statement.get(params)),
    get: (params) => calling(() => statement.get(params) as Cell[] | undefined),
    all: (params) => calling(() => statement.all(params) as Cell[][]),
  };
}
