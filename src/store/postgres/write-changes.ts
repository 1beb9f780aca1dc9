import type { RowOf, TableName } from '../apply.ts';
import { tableShapes } from '../sql/tables.ts';
import type { Added, Changes, KnownRows } from './changes.ts';
import type { Change, Write } from './row-statements.ts';
import { changedFields, deletion, insertion, update } from './row-statements.ts';

/** A write, and how many rows it must change; where nothing is said, as many as there are. */
export interface CountedWrite extends Write {
  readonly count?: number;
}

/** Where a place that one row gives up may be taken by another: one by one, in the order in which they changed. */
const inOrder: ReadonlySet<TableName> = new Set<TableName>(['workspace', 'admission']);

/**
 * What has changed, as few statements: what goes, what is other than it was, what is new. Of executions the youngest come first, so
 * that two transactions that are about one tree lock child before parent and wait for each other instead of dying.
 */
export function writesOf(changes: Changes): CountedWrite[] {
  const names = Object.keys(tableShapes) as TableName[];
  const sorted = names.map((name) => ({
    name,
    ...sort(changes.tables[name] as KnownRows<RowOf[TableName]>),
  }));
  return [
    ...sorted.flatMap(({ name, gone }) =>
      gone.length === 0 ? [] : [{ ...deletion(name, gone), count: gone.length }],
    ),
    ...sorted.flatMap(({ name, changed }) => updates(name, changed)),
    ...sorted.flatMap(({ name, made }) => (made.length === 0 ? [] : [insertion(name, made)])),
    ...additions(changes.added),
  ];
}

interface Sorted<Row> {
  readonly gone: string[];
  readonly changed: Change<Row>[];
  readonly made: Row[];
}

function sort<Row>({ unwritten, now }: KnownRows<Row>): Sorted<Row> {
  const sorted: Sorted<Row> = { gone: [], changed: [], made: [] };
  for (const [id, from] of unwritten) {
    const to = now.get(id) ?? null;
    if (from === null && to !== null) sorted.made.push(to);
    else if (from !== null && to === null) sorted.gone.push(id);
    else if (from !== null && to !== null) sorted.changed.push({ from, to });
  }
  return sorted;
}

function updates<Name extends TableName>(
  name: Name,
  changed: readonly Change<RowOf[Name]>[],
): CountedWrite[] {
  const groups = new Map<string, { readonly fields: string[]; readonly rows: RowOf[Name][] }>();
  const alone: CountedWrite[] = [];
  for (const change of changed) {
    const fields = changedFields(change);
    if (fields.length === 0) continue;
    if (inOrder.has(name)) {
      alone.push({ ...update(name, fields, [change.to]), count: 1 });
      continue;
    }
    const key = fields.join(' ');
    const group = groups.get(key) ?? { fields, rows: [] };
    group.rows.push(change.to);
    groups.set(key, group);
  }
  const together = [...groups.values()].map(({ fields, rows }) => ({
    ...update(name, fields, name === 'execution' ? youngestFirst(rows) : rows),
    count: rows.length,
  }));
  return [...alone, ...together];
}

function youngestFirst<Row>(rows: readonly Row[]): Row[] {
  const idOf = (row: Row): string => (row as { readonly id: string }).id;
  return [...rows].sort((a, b) => (idOf(a) < idOf(b) ? 1 : -1));
}

function additions({ holds, owners, rows, copies }: Added): CountedWrite[] {
  const writes: CountedWrite[] = [];
  if (holds.length > 0)
    writes.push({
      text: 'INSERT INTO holds (execution_id, holder_id) SELECT * FROM unnest($1::TEXT[], $2::TEXT[])',
      values: [holds.map((hold) => hold.executionId), holds.map((hold) => hold.holderId)],
    });
  if (owners.length > 0)
    writes.push({
      text: `INSERT INTO turn_owners (turn_id, position, execution_id)
        SELECT * FROM unnest($1::TEXT[], $2::BIGINT[], $3::TEXT[])`,
      values: [
        owners.map((owner) => owner.turnId),
        owners.map((owner) => owner.position),
        owners.map((owner) => owner.executionId),
      ],
    });
  for (const { runId, rows: all } of rows)
    writes.push({
      text: `INSERT INTO run_rows (run_id, position, row)
        SELECT $1, place - 1, value FROM unnest($2::TEXT[]) WITH ORDINALITY AS given (value, place)`,
      values: [runId, all.map((row) => JSON.stringify(row))],
    });
  for (const { runId, from } of copies)
    writes.push({
      text: `INSERT INTO run_rows (run_id, position, row)
        SELECT $1, position, row FROM run_rows WHERE run_id = $2`,
      values: [runId, from],
    });
  return writes;
}
