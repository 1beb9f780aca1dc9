import type { Line } from '../words/line.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit.ts';
import { type Span, span } from '../words/line.ts';
import { clip, columnsOf, pad } from '../words/text.ts';

/** A cell of a table: a text, or a text that means something. */
export type Cell = string | Span;

/**
 * A table as lines: a dim heading, columns as wide as their widest cell. Where the screen is narrower than that, the
 * widest columns give way first, but the first one never: it names the thing.
 */
export function tableLines(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  columns: number,
): Line[] {
  const cells = [heading.map((text) => span(text, 'dim')), ...rows.map((row) => row.map(asSpan))];
  const wanted = heading.map((_, column) =>
    Math.max(...cells.map((row) => columnsOf(row[column]?.text ?? ''))),
  );
  const widths = fitted(wanted, columns - (heading.length - 1) * gap);
  return cells.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      const isLast = column === row.length - 1;
      const text = clip(cell.text, width);
      return { ...cell, text: isLast ? text : `${pad(text, width)}${' '.repeat(gap)}` };
    }),
  );
}

/** Columns between two cells. */
const gap = 2;
/** A cell is never made narrower than this to make room: an id still names one thing. */
const narrowest = 18;

function fitted(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted];
  for (let over = sum(widths) - room; over > 0; over--) {
    const widest = Math.max(...widths.slice(1));
    if (widest <= narrowest) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function asSpan(cell: Cell): Span {
  return typeof cell === 'string' ? span(cell) : cell;
}

/**
 * Prints one page of a list: the answer itself with `--json`, else a table; an empty one is said, not printed. Answers
 * the exit code, which is that of success also for an empty list.
 */
export function printPage(
  context: CliContext,
  page: { readonly items: readonly unknown[]; readonly nextCursor?: string | undefined },
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  whenEmpty: string,
): number {
  if (context.isJson) {
    context.document(page);
    return exitCodes.ok;
  }
  if (rows.length === 0) context.talk(whenEmpty);
  else context.lines(tableLines(heading, rows, context.style().columns));
  if (page.nextCursor !== undefined) context.talk(`There is more: --cursor ${page.nextCursor}`);
  return exitCodes.ok;
}
