import type { Column } from '../sql/columns.ts';
import { decode, encode } from '../sql/columns.ts';
import type { Cell, Param } from '../sql/connection.ts';
import type { Rows } from '../sql/rows.ts';
import type { TableShape } from '../sql/tables.ts';
import type { Database, Statement } from './driver.ts';

/** How many rows of a table are kept in memory. */
const cachedRows = 8_192;
/** How many insert statements of a table are kept: rows have few shapes. */
const keptInserts = 100;
/** Rows with a longer text than this, in characters, are not kept. */
const cachedTextLength = 4_096;

/**
 * Rows of one table by id, with a write-through cache: rules ask for the same few rows again and again, and on libsql a
 * wide row costs more to read than to write. The cache is right because this connection is the only writer; after a
 * rollback it must be cleared. Rows are never changed in place, since rules and callers hold on to them.
 */
export class Table<Row extends object> implements Rows<Row> {
  /** Makes one JSON array of a row's columns: the cheapest way out of both libraries. */
  readonly #selection: string;
  readonly #columnList: string;
  readonly #shape: TableShape<Row>;
  readonly #db: Database;
  readonly #fields: readonly (string & keyof Row)[];
  readonly #cells: readonly Column[];
  readonly #select: Statement;
  readonly #inserts = new Map<number, Statement>();
  readonly #patches = new Map<string, Statement>();
  readonly #cache = new Map<string, Row>();
  /** No stored id is greater. A rollback does not lower it, which costs a question at most. */
  #greatest: string;

  constructor(db: Database, shape: TableShape<Row>) {
    this.#db = db;
    this.#shape = shape;
    this.#fields = Object.keys(shape.columns) as (string & keyof Row)[];
    this.#cells = this.#fields.map((field) => shape.columns[field]);
    this.#columnList = this.#cells.map((cell) => cell.name).join(', ');
    this.#selection = `json_array(${this.#columnList})`;
    this.#select = db.prepare(`SELECT ${this.#selection} FROM ${shape.table} WHERE ${this.#keyColumn} = ?`);
    const greatest = db.prepare(`SELECT max(${this.#keyColumn}) FROM ${shape.table}`).row([]);
    this.#greatest = String(greatest?.[0] ?? '');
  }

  /** Whether there was never a row: nothing need be asked. */
  get isUnused(): boolean {
    return this.#greatest === '';
  }

  get #keyColumn(): string {
    return this.#shape.columns[this.#shape.key].name;
  }

  get(id: string): Row | undefined {
    const cached = this.#cache.get(id);
    if (cached) return cached;
    // Every registration asks whether it was made before; ids sort by birth, so the answer is nearly always here.
    if (id > this.#greatest) return undefined;
    const cells = this.#select.json([id]);
    if (cells === undefined) return undefined;
    const row = this.#decode(cells as Cell[]);
    this.keep(id, row);
    return row;
  }

  /** The rows of these ids, in that order. Throws when one is missing. */
  all(ids: readonly string[]): Row[] {
    return ids.map((id) => {
      const row = this.get(id);
      if (!row) throw new Error(`no row ${id} in ${this.#shape.table}`);
      return row;
    });
  }

  some(ids: readonly string[]): Row[] {
    return ids.map((id) => this.get(id)).filter((row) => row !== undefined);
  }

  where(where: string): (params: Param[]) => Row[] {
    const { table } = this.#shape;
    const rows = this.#db.prepare(
      `SELECT json_group_array(${this.#selection}) FROM (SELECT ${this.#columnList} FROM ${table} ${where})`,
    );
    return (params) => (rows.json(params) as Cell[][]).map((cells) => this.#decode(cells));
  }

  insert(row: Row): void {
    // Binding a value costs as much as storing it, so a row binds only what is unusual of it: a statement for each set of
    // unusual columns, numbered by its bits (a double has 53; no table has as many columns).
    const params: Param[] = [];
    let unusual = 0;
    for (let i = 0, bit = 1; i < this.#fields.length; i++, bit *= 2) {
      const cell = this.#cells[i] as Column;
      const value = row[this.#fields[i] as keyof Row];
      if (value === cell.usual) continue;
      unusual += bit;
      params.push(encode(cell, value));
    }
    this.#insertOf(unusual).writeOne(params);
    const id = String(row[this.#shape.key]);
    if (id > this.#greatest) this.#greatest = id;
    this.keep(id, row);
  }

  /** Throws when there is no such row. Fields that are undefined are left alone. */
  patch(id: string, set: Partial<Row>): void {
    const fields = Object.keys(set).filter((field) => set[field as keyof Row] !== undefined);
    if (fields.length === 0) return;
    const params = fields.map((field) => encode(this.#columnOf(field), set[field as keyof Row]));
    params.push(id);
    if (this.#patch(fields).run(params).changes !== 1)
      throw new Error(`no row ${id} in ${this.#shape.table}`);
    const row = this.#cache.get(id);
    if (!row) return;
    const patched = { ...row };
    for (const field of fields as (keyof Row)[]) patched[field] = set[field] as Row[keyof Row];
    this.keep(id, patched);
  }

  /** Remembers a row as it is in the database now. */
  keep(id: string, row: Row): void {
    const { longText } = this.#shape;
    const text = longText === undefined ? undefined : row[longText];
    if (typeof text === 'string' && text.length > cachedTextLength) {
      this.#cache.delete(id);
      return;
    }
    if (this.#cache.size >= cachedRows && !this.#cache.has(id)) {
      const oldest = this.#cache.keys().next();
      if (!oldest.done) this.#cache.delete(oldest.value);
    }
    this.#cache.set(id, row);
  }

  /** Whether the row is in memory. */
  isKept(id: string): boolean {
    return this.#cache.has(id);
  }

  forget(id: string): void {
    this.#cache.delete(id);
  }

  clear(): void {
    this.#cache.clear();
  }

  #decode(cells: readonly Cell[]): Row {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < this.#fields.length; i++) {
      row[this.#fields[i] as string] = decode(this.#cells[i] as Column, cells[i] ?? null);
    }
    return row as Row;
  }

  #columnOf(field: string): Column {
    const column = this.#shape.columns[field as keyof Row];
    if (!column) throw new Error(`${this.#shape.table} has no field ${field}`);
    return column;
  }

  #insertOf(unusual: number): Statement {
    const known = this.#inserts.get(unusual);
    if (known) return known;
    const isBound = (i: number): boolean => Math.floor(unusual / 2 ** i) % 2 === 1;
    const named = this.#cells.map((cell, i) => ({ cell, isBound: isBound(i) }));
    const needed = named.filter(({ cell, isBound: is }) => is || !cell.isDefault);
    const names = needed.map(({ cell }) => cell.name).join(', ');
    const values = needed.map(({ cell, isBound: is }) => (is ? '?' : `'${cell.usual}'`)).join(', ');
    const made = this.#db.prepare(`INSERT INTO ${this.#shape.table} (${names}) VALUES (${values})`);
    if (this.#inserts.size >= keptInserts) this.#inserts.clear();
    this.#inserts.set(unusual, made);
    return made;
  }

  #patch(fields: readonly string[]): Statement {
    const signature = fields.join(' ');
    const known = this.#patches.get(signature);
    if (known) return known;
    const assignments = fields.map((field) => `${this.#columnOf(field).name} = ?`).join(', ');
    const made = this.#db.prepare(
      `UPDATE ${this.#shape.table} SET ${assignments} WHERE ${this.#keyColumn} = ?`,
    );
    this.#patches.set(signature, made);
    return made;
  }
}
