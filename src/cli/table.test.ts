import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { printLine } from './print-line.ts';
import { tableLines } from './table.ts';

const style = { columns: Number.POSITIVE_INFINITY, colors: picocolors.createColors(false) };
const id = 'exe_01AAAAAAAAAAAA';

function table(columns: number, ...rows: string[][]): string[] {
  return tableLines(['ID', 'NAME', 'HELD BY'], rows, columns).map((line) => printLine(line, style));
}

describe('a table', () => {
  it('is as wide as what is in it, where there is room', () => {
    expect(table(80, [id, 'Run the checks.', 'tests'])).toEqual([
      'ID                  NAME             HELD BY',
      `${id}  Run the checks.  tests`,
    ]);
  });

  it('takes its room from the widest columns, and never from an id', () => {
    const [, row = ''] = table(62, [id, 'n'.repeat(30), 'h'.repeat(40)]);
    expect(row).toBe(`${id}  ${'n'.repeat(19)}…  ${'h'.repeat(19)}…`);
    expect(row.length).toBe(62);
  });
});
