import Database from 'libsql';
import type { Cell } from '../sql/connection.ts';
import type { Ran, RawDatabase, RawStatement } from './raw-database.ts';

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

type Libsql = Database.Statement<unknown[]>;

/**
 * `get` does not begin by resetting the statement. After `run` or `all` it silently repeats their parameters, and after
 * an error it answers that error again; neither does what it was asked. So it has a statement of its own, and one that
 * failed is not used again. Each is prepared when it is first needed, one of them at once, to tell of wrong SQL.
 */
function prepare(connection: Database.Database, sql: string): RawStatement {
  const make = (): Libsql => {
    const made = connection.prepare<unknown[]>(sql);
    return made.reader ? made.raw(true) : made;
  };
  let spare: Libsql | undefined = make();
  const take = (): Libsql => {
    const taken = spare ?? make();
    spare = undefined;
    return taken;
  };
  let getting: Libsql | undefined;
  let running: Libsql | undefined;
  const get = (params: unknown[]): unknown => {
    const statement = getting ?? take();
    getting = undefined;
    const answer = statement.get(params);
    getting = statement;
    return answer;
  };
  return {
    // Numbers, not bigints: safe integers are not switched on.
    run: (params) => (running ??= take()).run(params) as Ran,
    // `run` measures the time and makes an object of its answer, which is a third of what a small statement costs.
    execute: (params) => void get(params as unknown[]),
    get: (params) => get(params as unknown[]) as Cell[] | undefined,
    all: (params) => (running ??= take()).all(params) as Cell[][],
  };
}
