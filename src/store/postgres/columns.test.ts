import { describe, expect, it } from 'vitest';
import type { TableName } from '../apply.ts';
import type { Column } from '../sql/columns.ts';
import { tableShapes } from '../sql/tables.ts';
import { derivedColumns } from './derived.ts';
import { migrations } from './migrate.ts';

const schema = migrations.map((step) => step.sql).join('\n');
const names = Object.keys(tableShapes) as TableName[];

/** The names of the columns that the schema gives a table. */
function columnsOf(table: string): string[] {
  const made = new RegExp(`CREATE TABLE ${table} \\(\\n([\\s\\S]*?)\\n\\);`).exec(schema)?.[1] ?? '';
  const added = [...schema.matchAll(new RegExp(`ALTER TABLE ${table} ADD COLUMN (\\w+)`, 'g'))];
  const lines = made.split('\n').map((line) => /^ {2}([a-z_]+) /.exec(line)?.[1]);
  return [...lines, ...added.map((match) => match[1])].filter((name) => name !== undefined);
}

describe('the schema of PostgreSQL', () => {
  it.each(names)('has a column for each field of %s, and no other', (name) => {
    const { table, columns } = tableShapes[name];
    const fields = Object.values(columns as unknown as Record<string, Column>).map((column) => column.name);
    const derived = (derivedColumns[name] ?? []).map((column) => column.name);
    expect(columnsOf(table).sort()).toEqual([...fields, ...derived].sort());
  });
});
