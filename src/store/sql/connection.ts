import type { Dialect } from './dialect.ts';

/** What may be bound. Numbers are safe integers: every number column holds integers. */
export type Param = string | number | boolean | null;

/** What a column may hold. Flags are 0 and 1. */
export type Cell = string | number | null;

/**
 * A statement of a connection, prepared once and kept by who prepared it. Each call takes its array of parameters over. All of
 * them answer at once: a database in another process is asked between two tries of the caller (`store/postgres/replay.ts`), so
 * what calls them must do the same each time and catch nothing.
 */
export interface Query {
  run(params: Param[]): { readonly changes: number };
  /** The first row, or undefined. */
  row(params: Param[]): Cell[] | undefined;
  rows(params: Param[]): Cell[][];
  /** The first column of the first row, which must be JSON, parsed. Undefined when there is no row. */
  json(params: Param[]): unknown;
}

/** Where the statements that both databases understand are prepared. */
export interface Connection {
  readonly dialect: Dialect;
  /** Parameters are `?`, or `?1`, `?2` where one is used twice. */
  prepare(sql: string): Query;
}

/** Prepares what selects a column `id`, and answers a way to its values, in order. */
export function listOf(db: Connection, sql: string): (...params: Param[]) => readonly string[] {
  const statement = db.prepare(db.dialect.ids(sql));
  return (...params) => statement.json(params) as readonly string[];
}
