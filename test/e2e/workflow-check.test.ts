import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Ended, StemmaProcess } from './server-process.ts';

/* `stemma workflow check` as whoever writes files, or a pipeline, runs it: without a server. */

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-check-'));
  mkdirSync(join(directory, 'workflows'));
  writeFileSync(join(directory, 'stemma.yaml'), 'project: shop\n');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function check(...more: string[]): Promise<Ended> {
  return new StemmaProcess(['workflow', 'check', ...more], { cwd: directory }).ended;
}

const broken = `agent: demo
steps:
  fetch: { run: "echo {{inputs.day}}" }
  fix:
    needs: [fetsh]
    promt: Fix it.
`;

test('tells all mistakes of a file with line and key, and exits with 5', async () => {
  writeFileSync(join(directory, 'workflows', 'broken.yaml'), broken);
  writeFileSync(join(directory, 'workflows', 'good.yaml'), 'steps: { a: { run: "true" } }\n');
  const { code, stdout } = await check();
  expect(code).toBe(5);
  for (const line of ['broken.yaml:3:', 'broken.yaml:6:']) expect(stdout).toContain(line);
  for (const said of ['steps.fetch.run', '$INPUT_DAY', 'Did you mean "prompt"?', 'good: 1 step, no mistakes'])
    expect(stdout).toContain(said);
  const { items } = JSON.parse((await check('--json')).stdout) as {
    items: { name: string; problems: { line: number; key: string }[] }[];
  };
  expect(items.map(({ name, problems }) => [name, problems.length > 1])).toEqual([
    ['broken', true],
    ['good', false],
  ]);
  expect(items[0]?.problems).toContainEqual(expect.objectContaining({ line: 3, key: 'steps.fetch.run' }));
});

test('exits with 0 where there are none, and with 3 for a workflow that is not there', async () => {
  writeFileSync(join(directory, 'workflows', 'good.yaml'), 'steps: { a: { run: "true" } }\n');
  expect(await check('good')).toMatchObject({ code: 0, stdout: 'good: 1 step, no mistakes\n' });
  const missing = await check('goood');
  expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('"good"')]);
});
