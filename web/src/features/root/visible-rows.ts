import type { Trace } from './trace.ts';

/** What of a trace is not hidden below something collapsed. */
export interface VisibleRows {
  /** Rows of the trace, in order. */
  readonly rows: readonly number[];
  /** For each row of the trace its place among the visible ones; of a hidden one, that of what it is hidden below. */
  readonly places: Int32Array;
}

/** The visible rows, by the keys of what is collapsed. */
export function visibleRows({ rows }: Trace, collapsed: ReadonlySet<string>): VisibleRows {
  const visible: number[] = [];
  const places = new Int32Array(rows.length);
  for (let index = 0; index < rows.length; ) {
    const row = rows[index];
    if (!row) break;
    const place = visible.push(index) - 1;
    const behind = collapsed.has(row.key) ? row.end : index + 1;
    places.fill(place, index, behind);
    index = behind;
  }
  return { rows: visible, places };
}

/** The keys of everything above a row. */
export function keysAbove({ rows }: Trace, index: number): string[] {
  const keys: string[] = [];
  for (let at = rows[index]?.parent ?? -1; at >= 0; ) {
    const row = rows[at];
    if (!row) break;
    keys.push(row.key);
    at = row.parent;
  }
  return keys;
}

/** What a key on the keyboard does in a tree (the pattern of ARIA for a treegrid): the row to go to, or what to open or close. */
export type TreeMove = { readonly to: number } | { readonly toggle: string } | undefined;

/** The move that a key makes from a visible place. `page`: how many rows are on the screen. */
export function treeMove(
  key: string,
  from: number,
  {
    trace,
    visible,
    collapsed,
    page,
  }: {
    readonly trace: Trace;
    readonly visible: VisibleRows;
    readonly collapsed: ReadonlySet<string>;
    readonly page: number;
  },
): TreeMove {
  const last = visible.rows.length - 1;
  const index = visible.rows[from] ?? -1;
  const row = trace.rows[index];
  if (!row) return undefined;
  const hasBelow = row.end > index + 1;
  const isCollapsed = collapsed.has(row.key);
  switch (key) {
    case 'ArrowDown':
      return { to: Math.min(from + 1, last) };
    case 'ArrowUp':
      return { to: Math.max(from - 1, 0) };
    case 'PageDown':
      return { to: Math.min(from + page, last) };
    case 'PageUp':
      return { to: Math.max(from - page, 0) };
    case 'Home':
      return { to: 0 };
    case 'End':
      return { to: last };
    case 'ArrowRight':
      if (!hasBelow) return undefined;
      return isCollapsed ? { toggle: row.key } : { to: from + 1 };
    case 'ArrowLeft':
      if (hasBelow && !isCollapsed) return { toggle: row.key };
      return row.parent < 0 ? undefined : { to: visible.places[row.parent] ?? 0 };
    default:
      return undefined;
  }
}
