import type { RowOf, TableName } from '../apply.ts';
import type { Column } from '../sql/columns.ts';
import { decode, encode } from '../sql/columns.ts';
import type { Cell, Param } from '../sql/connection.ts';
import { tableShapes } from '../sql/tables.ts';
import { derivedColumns } from './derived.ts';
import type { Value } from './pool.ts';

/** A column as it is written: what makes it of a row, and what else changes when it does. */
interface WrittenColumn {
  readonly name: string;
  readonly type: 'TEXT' | 'BIGINT' | 'SMALLINT';
  /** It is written when this field changes. */
  readonly field: string;
  readonly valueOf: (row: never) => Param;
}

/** A statement with its parameters. */
export interface Write {
  readonly text: string;
  readonly values: readonly Value[];
}

const types = { text: 'TEXT', json: 'TEXT', integer: 'BIGINT', flag: 'SMALLINT' } as const;

interface TableStatements {
  readonly table: string;
  readonly key: WrittenColumn;
  readonly columns: readonly WrittenColumn[];
  readonly read: readonly { readonly field: string; readonly column: Column }[];
}

const statements = Object.fromEntries(
  (Object.keys(tableShapes) as TableName[]).map((name) => [name, statementsOf(name)]),
) as unknown as { readonly [Name in TableName]: TableStatements };

function statementsOf(name: TableName): TableStatements {
  const { table, key, columns } = tableShapes[name];
  const read = Object.entries(columns as unknown as Record<string, Column>).map(([field, column]) => ({
    field,
    column,
  }));
  const own = read.map(
    ({ field, column }): WrittenColumn => ({
      name: column.name,
      type: types[column.type],
      field,
      valueOf: (row: Record<string, unknown>) => encode(column, row[field]),
    }),
  );
  const derived = (derivedColumns[name] ?? []).map(
    ({ name: column, of, value }): WrittenColumn => ({
      name: column,
      type: 'TEXT',
      field: of,
      valueOf: value,
    }),
  );
  const keyColumn = own.find((column) => column.field === key) as WrittenColumn;
  return { table, key: keyColumn, columns: [...own, ...derived], read };
}

/** The columns of a row, in the order in which `rowOf` takes them. */
export function columnListOf(name: TableName): string {
  return statements[name].read.map(({ column }) => column.name).join(', ');
}

/** A row of its cells. */
export function rowOf<Name extends TableName>(name: Name, cells: readonly Cell[]): RowOf[Name] {
  const { read } = statements[name];
  const row: Record<string, unknown> = {};
  for (let i = 0; i < read.length; i++) {
    const { field, column } = read[i] as (typeof read)[number];
    row[field] = decode(column, cells[i] ?? null);
  }
  return row as unknown as RowOf[Name];
}

/** Reads rows by their keys. */
export function selection(name: TableName, ids: readonly string[]): Write {
  const { table, key } = statements[name];
  return { text: `SELECT ${columnListOf(name)} FROM ${table} WHERE ${key.name} = ANY ($1)`, values: [ids] };
}

/**
 * Reads executions, the parent of each, and whatever is above them and would close with it: what has ended and has nothing open
 * but that.
 */
export function upward(ids: readonly string[]): Write {
  const columns = columnListOf('execution');
  return {
    text: `
      WITH RECURSIVE up AS (
        SELECT id, parent_id, state, open, true AS is_given FROM executions WHERE id = ANY ($1)
        UNION
        SELECT e.id, e.parent_id, e.state, e.open, false FROM up JOIN executions e ON e.id = up.parent_id
        WHERE up.is_given OR (up.open <= 1 AND up.state NOT IN ('queued', 'running')))
      SELECT ${columns} FROM executions WHERE id IN (SELECT id FROM up)`,
    values: [ids],
  };
}

/** Inserts rows, all at once. */
export function insertion<Name extends TableName>(name: Name, rows: readonly RowOf[Name][]): Write {
  const { table, columns } = statements[name];
  const names = columns.map((column) => column.name).join(', ');
  const arrays = columns.map((column, i) => `$${i + 1}::${column.type}[]`).join(', ');
  return {
    text: `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays})`,
    values: columns.map((column) => rows.map((row) => column.valueOf(row as never))),
  };
}

/** A row as the database has it, and as it should be. */
export interface Change<Row> {
  readonly from: Row;
  readonly to: Row;
}

/** The names of the fields in which they differ. */
export function changedFields<Row>({ from, to }: Change<Row>): string[] {
  return Object.keys(to as object).filter((field) => from[field as keyof Row] !== to[field as keyof Row]);
}

/** Updates rows of which the same fields have changed, all at once. */
export function update<Name extends TableName>(
  name: Name,
  fields: readonly string[],
  rows: readonly RowOf[Name][],
): Write {
  const { table, key, columns } = statements[name];
  const changed = columns.filter((column) => fields.includes(column.field));
  const given = [key, ...changed];
  const arrays = given.map((column, i) => `$${i + 1}::${column.type}[]`).join(', ');
  const sets = changed.map((column, i) => `${column.name} = given.c${i + 1}`).join(', ');
  const names = given.map((_, i) => `c${i}`).join(', ');
  return {
    text: `UPDATE ${table} SET ${sets} FROM unnest(${arrays}) AS given (${names}) WHERE ${table}.${key.name} = given.c0`,
    values: given.map((column) => rows.map((row) => column.valueOf(row as never))),
  };
}

/** Deletes rows by their keys. */
export function deletion(name: TableName, ids: readonly string[]): Write {
  const { table, key } = statements[name];
  return { text: `DELETE FROM ${table} WHERE ${key.name} = ANY ($1)`, values: [ids] };
}
