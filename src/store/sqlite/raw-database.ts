import type { Cell } from '../sql/connection.ts';

/** How many rows a statement changed, and the place of the one inserted last. */
export interface Ran {
  readonly changes: number;
  readonly lastInsertRowid: number;
}

/** What both libraries have in common once their calls are made alike. */
export interface RawStatement {
  run(params: readonly (string | number | null)[]): Ran;
  /** Runs it and answers nothing, in the cheapest way that the library has. */
  execute(params: readonly (string | number | null)[]): void;
  get(params: readonly (string | number | null)[]): Cell[] | undefined;
  all(params: readonly (string | number | null)[]): Cell[][];
}

/** A connection of either library, before values are guarded. */
export interface RawDatabase {
  readonly library: 'libsql' | 'node';
  inTransaction(): boolean;
  prepare(sql: string): RawStatement;
  exec(sql: string): void;
  close(): void;
}
