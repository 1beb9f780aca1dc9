import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRows } from './rows.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'rows-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** The rows of a file with this text, or why there are none. */
async function rowsOf(from: 'csv' | 'json', text: string): Promise<unknown> {
  writeFileSync(join(cwd, 'rows'), text);
  const read = await readRows({ from, path: 'rows' }, cwd, '');
  return read.ok ? read.rows : read.message;
}

describe('rows of CSV', () => {
  it('are named by the first line, whatever ends the lines and whatever is quoted', async () => {
    const text = '\uFEFFtitle, n \r\n"a, ""quoted""\r\nand broken",1\r\n\r\n ,\r\nlast,3';
    expect(await rowsOf('csv', text)).toEqual([
      { title: 'a, "quoted"\r\nand broken', n: '1' },
      { title: ' ', n: '' },
      { title: 'last', n: '3' },
    ]);
  });

  it('without a row are none', async () => {
    expect([await rowsOf('csv', 'a,b\n'), await rowsOf('csv', '')]).toEqual([[], []]);
  });

  it.each([
    ['a,b\n1,2\n3\n', 'line 3 has 1 fields, and line 1 has 2'],
    ['a,b\n1,2,3\n', 'line 2 has 3 fields, and line 1 has 2'],
    ['a,b\n"1,2\n3,4\n', 'a quote is never closed'],
    ['a,b\n1,x"y\n', 'a quote is found on field "b" at line 2'],
    ['a,,c\n1,2,3\n', 'Line 1 of rows has no name for column 2.'],
    ['a,a\n1,2\n', 'Line 1 of rows has two columns "a".'],
    ['name;size\nx;1\n', 'Line 1 of rows has a ";" in it and no comma: columns are separated by commas.'],
    ['name;size\nx;1,5\n', 'Line 1 of rows has a ";" in it and no comma'],
    ['name\tsize\nx\t1\n', 'Line 1 of rows has a tab in it and no comma'],
  ])('that are wrong say in which line: %j', async (text, why) => {
    expect(await rowsOf('csv', text)).toEqual(expect.stringContaining(why));
  });
});

describe('rows of JSON', () => {
  it.each([
    ['[{"a": 1}, {"a": {"b": []}}]', [{ a: 1 }, { a: { b: [] } }]],
    ['["x", 2, [3], null]', [{ value: 'x' }, { value: 2 }, { value: [3] }, { value: null }]],
    ['{"a": 1}\r\n\r\n{"a": 2}\n', [{ a: 1 }, { a: 2 }]],
    ['{"a": 1}', [{ a: 1 }]],
    ['', []],
  ])('are a list, or one value a line: %j', async (text, rows) => {
    expect(await rowsOf('json', text)).toEqual(rows);
  });

  it.each([
    ['{\n"a": 1\n}', 'The file rows is no list of rows'],
    ['{"a": 1}\n{"a": }\n', 'line 2 is no JSON'],
    [`${'['.repeat(5000)}${']'.repeat(5000)}`, 'The file rows is nested more than 500 deep'],
    ['[1, 2', 'The file rows is no JSON'],
  ])('that are wrong say where: %j', async (text, why) => {
    expect(await rowsOf('json', text)).toEqual(expect.stringContaining(why));
  });
});

describe('rows', () => {
  it('are what a command printed', async () => {
    expect(await readRows({ from: 'command', command: 'ls' }, cwd, '{"f":"a"}\n{"f":"b"}\n')).toEqual({
      ok: true,
      rows: [{ f: 'a' }, { f: 'b' }],
    });
  });

  it('come from no other directory', async () => {
    const read = await readRows({ from: 'csv', path: '../rows.csv' }, cwd, '');
    expect(read).toMatchObject({ ok: false });
  });

  it.each([
    [`[${'1,'.repeat(100_000)}1]`, 'There are 100001 rows, and at most 100000'],
    [`[1, "${'x'.repeat(100_001)}"]`, 'Row 2 has more than 100000 characters'],
  ])('are bounded', async (text, why) => {
    expect(await rowsOf('json', text)).toEqual(expect.stringContaining(why));
  });
});
