import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-crash-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const crash = new URL('./crash.ts', import.meta.url).href;

/** Runs a program that breaks; `argv` are its words. */
function run(code: string, ...argv: string[]): Promise<{ code: number | null; err: string }> {
  const program = `import pino from 'pino';\nimport { tellCrashes } from '${crash}';\n${code}`;
  const words = ['--import', 'tsx', '--input-type=module', '-e', program, '--', ...argv];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, words, (_error, _out, err) =>
      resolve({ code: child.exitCode, err }),
    );
  });
}

const tell = 'const { logTo } = tellCrashes(process.argv);\n';

it('a rejection that nobody handles ends a command with a sentence, its stack behind it', async () => {
  const { code, err } = await run(`${tell}setInterval(() => {}, 1e6); Promise.reject(new Error('no way'));`);
  expect(code).toBe(1);
  expect(err).toMatch(/^stemma: A bug of Stemma ended it: no way\. \[INTERNAL\]\nError: no way\n {4}at /);
});

it('a server says where its log is, which has the stack, and that its agents live on', async () => {
  const file = join(directory, 'stemma.log');
  const log = `logTo({ log: pino(pino.destination({ dest: '${file}', sync: true })), file: '${file}' });\n`;
  const { code, err } = await run(`${tell}${log}setTimeout(() => { throw new Error('no way'); });`);
  expect(code).toBe(1);
  expect(err.trim().split('\n')).toEqual([
    `stemma: A bug of Stemma ended the server: no way. Agents live on, and the next start goes on with them; the details are in ${file}. [INTERNAL]`,
  ]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    level: 60,
    err: { message: 'no way', stack: expect.stringContaining('at ') },
  });
});

it('where JSON was asked for, the sentence is JSON', async () => {
  const { err } = await run(`${tell}Promise.reject('no way');`, '--json');
  expect(JSON.parse(err)).toEqual({
    error: { code: 'INTERNAL', message: 'A bug of Stemma ended it: no way.', data: {} },
  });
});
