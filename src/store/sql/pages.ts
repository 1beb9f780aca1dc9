import type { Page } from '../views.ts';
import { examinedRows } from '../views.ts';
import type { Connection, Param } from './connection.ts';
import { listOf } from './connection.ts';

type Value = string | boolean | undefined;

interface Paging {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** Sorts after every id: the cursor of the first page. */
const beforeAll = '~';

/**
 * One way through a table, newest first, by the place after the last row (keyset). `access` selects the id and the
 * filtered columns by an index and ends in `id < ?`; `rest` are columns that are compared row by row, where a value is
 * given. A call looks at a bounded number of rows, so that a rare value costs a short page and never a walk of the table.
 */
export function pagesOf<Row extends { readonly id: string }>(
  db: Connection,
  rowsOf: (ids: readonly string[]) => Row[],
  rest: readonly string[],
): (
  access: string,
) => (
  keys: readonly Param[],
  values: readonly Value[],
  paging: Paging,
  also?: (row: Row) => boolean,
) => Page<Row> {
  return (access) => {
    const walk = `SELECT * FROM (${access} ORDER BY id DESC LIMIT ${examinedRows}) AS examined`;
    const given = rest.map((name) => `(? IS NULL OR ${name} = ?)`).join(' AND ');
    const page = listOf(db, `SELECT id FROM (${walk}) AS walked WHERE ${given} LIMIT ?`);
    const extent = db.prepare(`SELECT min(id), count(*) FROM (${walk}) AS walked`);
    return (keys, values, { cursor, limit }, also) => {
      const place = [...keys, cursor ?? beforeAll];
      const filters = values.flatMap((value) => [value ?? null, value ?? null]);
      const ids = page(...place, ...filters, limit + 1);
      const shown = ids.slice(0, limit);
      const items = also ? rowsOf(shown).filter(also) : rowsOf(shown);
      const last = shown.at(-1);
      if (ids.length > limit && last !== undefined) return { items, next: last };
      const [lowest, count] = extent.row(place) ?? [];
      return Number(count) < examinedRows ? { items } : { items, next: String(lowest) };
    };
  };
}
