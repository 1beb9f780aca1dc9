import { endOf } from './bars.ts';
import type { Handling, Trace, TraceRow } from './trace.ts';
import type { VisibleRows } from './visible-rows.ts';

/** From the end of what owed a result to the beginning of the continuation that handles it; places of visible rows, UTC milliseconds. */
export interface Arrow {
  readonly key: string;
  readonly from: { readonly place: number; readonly at: number };
  readonly to: { readonly place: number; readonly at: number };
  /** Whether the result was handled; else it is on its way. */
  readonly isHandled: boolean;
  readonly isChosen: boolean;
}

/** More than this many make a picture that nobody can read. */
const most = 300;

/** The arrows that have an end among the visible places from `first` to `last`; those of what is chosen (a key) first. */
export function arrowsAmong(
  trace: Trace,
  { places }: VisibleRows,
  {
    first,
    last,
    now,
    chosen,
  }: {
    readonly first: number;
    readonly last: number;
    readonly now: number;
    readonly chosen?: string | undefined;
  },
): Arrow[] {
  const isAmong = (place: number): boolean => place >= first && place <= last;
  const chosenRow = chosen === undefined ? -1 : (trace.at.get(chosen) ?? -1);
  const found: Arrow[] = [];
  const add = ({ from, to, notice }: Handling): void => {
    const [fromPlace, toPlace] = [places[from] ?? 0, places[to] ?? 0];
    // Both are hidden below one row: there is nothing to point at.
    if (fromPlace === toPlace || !(isAmong(fromPlace) || isAmong(toPlace))) return;
    const [begins, ends] = [trace.rows[from], trace.rows[to]];
    if (!begins || !ends) return;
    found.push({
      key: notice.id,
      from: { place: fromPlace, at: endOfRow(begins, now) },
      to: { place: toPlace, at: beginOfRow(ends, now) },
      isHandled: notice.state === 'handled',
      isChosen: from === chosenRow || to === chosenRow,
    });
  };
  if (chosenRow >= 0)
    for (const handling of trace.handlings)
      if (handling.from === chosenRow || handling.to === chosenRow) add(handling);
  for (const handling of trace.handlings) {
    if (found.length >= most) break;
    if (handling.from !== chosenRow && handling.to !== chosenRow) add(handling);
  }
  return found.slice(0, most);
}

function endOfRow(row: TraceRow, now: number): number {
  return row.kind === 'execution' ? endOf(row.node.execution, now) : now;
}

function beginOfRow(row: TraceRow, now: number): number {
  if (row.kind === 'step') return now;
  const { startedAt, createdAt } = row.node.execution;
  return Date.parse(startedAt ?? createdAt);
}
