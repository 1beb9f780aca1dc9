import type { Line } from './line.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit.ts';
import { type Span, span } from './line.ts';
import { columnsOf, pad } from './text.ts';

/** A cell of a table: a text, or a text that means something. */
export type Cell = string | Span;

/** A table as lines: a dim heading, columns as wide as their widest cell, the last one free. */
function tableLines(heading: readonly string[], rows: readonly (readonly Cell[])[]): Line[] {
  const cells = [heading.map((text) => span(text, 'dim')), ...rows.map((row) => row.map(asSpan))];
  const widths = heading.map((_, column) =>
    Math.max(...cells.map((row) => columnsOf(row[column]?.text ?? ''))),
  );
  return cells.map((row) =>
    row.map((cell, column) => {
      const isLast = column === row.length - 1;
      return isLast ? cell : { ...cell, text: `${pad(cell.text, widths[column] ?? 0)}  ` };
    }),
  );
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
  else context.lines(tableLines(heading, rows));
  if (page.nextCursor !== undefined) context.talk(`There is more: --cursor ${page.nextCursor}`);
  return exitCodes.ok;
}
