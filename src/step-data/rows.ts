import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import type { Json } from '../base/json.ts';
import type { RunRow } from '../ledger/plan.ts';
import type { RowsPlan } from '../ledger/step-plan.ts';
import type { RowsRead } from '../runs/step-ports.ts';
import { readBelow } from './below.ts';
import { readJson } from './output-values.ts';

/** The largest file of rows, in bytes. */
const largestFile = 16_000_000;
/** How many rows there may be, and how long one of them, in UTF-16 units of JSON. */
const mostRows = 100_000;
const longestRow = 100_000;

/**
 * Reads the rows of a `foreach`. `printed`: what its command printed, whole. A list of anything but objects gives rows with one
 * column, `value`. Never rejects.
 */
export async function readRows(from: RowsPlan, cwd: string, printed: string): Promise<RowsRead> {
  if (from.from === 'command') return bounded(jsonRows(printed, 'what the command printed'));
  const read = await readBelow(cwd, from.path, largestFile);
  if (!read.ok) return no(`The file ${from.path} ${read.why}.`);
  return bounded(
    from.from === 'csv' ? csvRows(read.value, from.path) : jsonRows(read.value, `the file ${from.path}`),
  );
}

function bounded(read: RowsRead): RowsRead {
  if (!read.ok) return read;
  const { rows } = read;
  if (rows.length > mostRows)
    return no(`There are ${rows.length} rows, and at most ${mostRows} are gone through.`);
  const long = rows.findIndex((row) => JSON.stringify(row).length > longestRow);
  if (long >= 0)
    return no(`Row ${long + 1} has more than ${longestRow} characters; name a file in it instead.`);
  return read;
}

/** A list, or one value a line. */
function jsonRows(text: string, what: string): RowsRead {
  if (text.trim() === '') return { ok: true, rows: [] };
  const whole = readJson(text, what);
  if ('value' in whole) {
    if (Array.isArray(whole.value)) return { ok: true, rows: (whole.value as readonly Json[]).map(rowOf) };
    // One line with one object is a list of lines too.
    if (text.trim().includes('\n'))
      return no(`${capital(what)} is no list of rows: it must be a list, or one value a line.`);
    return { ok: true, rows: [rowOf(whole.value)] };
  }
  const lines = text.split(/\r?\n/);
  const rows: RunRow[] = [];
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const read = readJson(line, `line ${i + 1}`);
    // Where already the first line is none, a list was meant.
    if (!('value' in read))
      return no(capital(rows.length > 0 ? `${what}: ${read.mistakes.join(' ')}` : whole.mistakes.join(' ')));
    rows.push(rowOf(read.value));
  }
  return { ok: true, rows };
}

function rowOf(value: Json): RunRow {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as RunRow) : { value };
}

/** The first line has the names of the columns. */
function csvRows(text: string, path: string): RowsRead {
  let wrong: string | undefined;
  const columns = (names: readonly string[]): string[] => {
    const all = names.map((name) => name.trim());
    const empty = all.indexOf('');
    const twice = all.find((name, i) => all.indexOf(name) !== i);
    if (empty >= 0) wrong = `Line 1 of ${path} has no name for column ${empty + 1}.`;
    else if (all.length === 1 && /[;\t]/.test(all[0] ?? '')) wrong = asOneColumn(path, all[0] ?? '');
    else if (twice !== undefined) wrong = `Line 1 of ${path} has two columns "${twice}".`;
    return all;
  };
  try {
    const rows: RunRow[] = parse(text, {
      bom: true,
      columns,
      skip_empty_lines: true,
      skip_records_with_empty_values: false,
    });
    return wrong === undefined ? { ok: true, rows } : no(wrong);
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    return no(wrong ?? `${path} is no CSV as it should be: ${wordsOf(thrown)}`);
  }
}

/** Some programs write other separators into what they call CSV: every row would be one text. */
function asOneColumn(path: string, line: string): string {
  const mark = line.includes(';') ? 'a ";"' : 'a tab';
  return `Line 1 of ${path} has ${mark} in it and no comma: columns are separated by commas. Write them so, or use JSON.`;
}

function wordsOf(error: CsvError): string {
  const { code, message } = error;
  const { lines } = error as { readonly lines?: number };
  if (code === 'CSV_RECORD_INCONSISTENT_COLUMNS') {
    const [, wanted, got] = /columns length is (\d+), got (\d+)/.exec(message) ?? [];
    return `line ${lines} has ${got} fields, and line 1 has ${wanted}; quote a field that has a comma in it.`;
  }
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `a quote is never closed; it opens in line ${lines} or before.`;
  return `${message.slice(0, 300)}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function no(message: string): RowsRead {
  return { ok: false, message };
}
