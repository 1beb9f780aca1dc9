/**
 * Runs every case of the conformance suite against every agent, and writes the table of the documents:
 *
 *   npm run conformance                  all of them
 *   npm run conformance -- gemini qwen   these; the others stay as they were
 *   npm run conformance -- qwen:signIn   one case of one; its other cells stay as they were
 *
 * Each row is kept as `test/real/conformance/AGENT.json`; `docs/drivers/conformance.md` is made from these. Agents whose
 * program is missing keep the row that they have. Exit code 1 when a case failed.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Asked, type ConformanceRow, ownRows, rowOf, type RowSource } from './conformance-rows.ts';
import { conformanceTable } from './conformance-table.ts';
import { findKits } from './kits.ts';

const rowsDirectory = fileURLToPath(new URL('./conformance/', import.meta.url));
const table = fileURLToPath(new URL('../../docs/drivers/conformance.md', import.meta.url));

const sources: readonly RowSource[] = [...ownRows, ...(await findKits()).map(rowOf)];
const wanted = process.argv.slice(2).map((text) => text.split(':'));
const names = sources.map(({ agent }) => agent);
const unknown = wanted.flatMap(([name = '']) => (names.includes(name) ? [] : [name]));
if (unknown.length > 0) {
  console.error(`no such agent: ${unknown.join(', ')}; there are ${names.join(', ')}`);
  process.exit(2);
}

// The timers of the product keep no process alive, and not every row has a server that does.
setInterval(() => undefined, 60_000);
mkdirSync(rowsDirectory, { recursive: true });
for (const source of sources) {
  const mine = wanted.filter(([name]) => name === source.agent);
  if (wanted.length > 0 && mine.length === 0) continue;
  const only = mine.flatMap(([, name]) => name ?? []);
  console.error(`== ${source.agent}`);
  const onCase: Asked['onCase'] = ({ name, outcome, tookMs, evidence }) => {
    const why = outcome.state === 'passed' ? '' : `: ${outcome.reason}`;
    console.error(`   ${outcome.state} ${name} (${tookMs} ms)${why}`);
    if (outcome.state === 'failed') for (const line of evidence.slice(-12)) console.error(`      ${line}`);
  };
  const row = await source.make({ only, onCase });
  if (row) keep(row, only);
}

const files = readdirSync(rowsDirectory).filter((name) => existsSync(rowsDirectory + name));
const rows = files.map((name) => JSON.parse(readFileSync(rowsDirectory + name, 'utf8')) as ConformanceRow);
rows.sort((one, other) => names.indexOf(one.agent) - names.indexOf(other.agent));
writeFileSync(table, conformanceTable(rows, process.versions.node));
const failed = rows.flatMap(({ agent, cases }) =>
  cases.flatMap(({ name, outcome }) => (outcome.state === 'failed' ? [`${agent} ${name}`] : [])),
);
console.error(failed.length === 0 ? 'no case failed' : `failed: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);

/** Writes a row, with the cells that were not run now as they were before. */
function keep(row: ConformanceRow, only: readonly string[]): void {
  const file = `${rowsDirectory}${row.agent}.json`;
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ConformanceRow).cases : [];
  const old = only.length === 0 ? [] : before.filter(({ name }) => !only.includes(name));
  writeFileSync(file, `${JSON.stringify({ ...row, cases: [...old, ...row.cases] }, undefined, 2)}\n`);
}
