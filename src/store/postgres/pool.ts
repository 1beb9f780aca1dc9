import pg from 'pg';
import { escapeText, unescapeText } from '../sql/text.ts';
import type { Cell, Param } from '../sql/connection.ts';

/** Connections at most; one of them writes. */
const mostConnections = 8;
/** Limits, in milliseconds: to connect, of one statement, of waiting for a lock, and of a transaction that does nothing. */
const connectMs = 5_000;
const statementMs = 30_000;
const lockMs = 10_000;
const idleMs = 15_000;

/** Numbers that are 64 bits wide come as numbers: all of ours are safe integers. Everything else is text. */
const int2 = 21;
const int4 = 23;
const int8 = 20;
const asNumber = (value: string): number => Number(value);
const asText = (value: string): string => value;
const types = {
  getTypeParser: (oid: number) => (oid === int8 || oid === int2 || oid === int4 ? asNumber : asText),
} as unknown as pg.CustomTypesConfig;

/** What a statement came to. */
export interface Ran {
  readonly rows: Cell[][];
  readonly changes: number;
}

/** A value of a parameter: one, or an array that is a column of many rows. */
export type Value = Param | readonly Param[];

/** A bounded pool. Connections that break while nobody uses them leave it, and are told. */
export function openPool(url: string, onLost: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: mostConnections,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleMs,
    application_name: 'stemma',
    keepAlive: true,
    types,
  });
  pool.on('error', onLost);
  // One that is in use tells its user too, by the statement that fails.
  pool.on('connect', (client) => client.on('error', onLost));
  return pool;
}

/** The names of prepared statements, by their text: the same on every connection. */
const names = new Map<string, string>();

/** Runs one statement. Text is kept as the other database keeps it: NUL is escaped. */
export async function execute(
  client: pg.ClientBase | pg.Pool,
  text: string,
  values: readonly Value[] = [],
): Promise<Ran> {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `stemma_${names.size}`));
  const bound = values.map(bind);
  const found = await client.query<Cell[]>({ name, text, values: bound, rowMode: 'array' });
  for (const row of found.rows) unescapeCells(row);
  return { rows: found.rows, changes: found.rowCount ?? 0 };
}

function bind(value: Value): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (Array.isArray(value)) return value.map(bind);
  return value;
}

function unescapeCells(cells: Cell[]): void {
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i];
    if (typeof cell === 'string') cells[i] = unescapeText(cell);
  }
}
