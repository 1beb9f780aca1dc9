import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { minimalEnvironment, resolveProgram } from './command.ts';

let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-command-'));
  mkdirSync(join(directory, 'a'));
  mkdirSync(join(directory, 'b'));
  writeFileSync(join(directory, 'a', 'tool'), '');
  writeFileSync(join(directory, 'b', 'tool'), '');
  writeFileSync(join(directory, 'a', 'text'), '');
  chmodSync(join(directory, 'b', 'tool'), 0o755);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('a program is the first executable file of its name on the path', async () => {
  const env = { PATH: `${directory}/a:${directory}/b` };
  expect(await resolveProgram('tool', env, '/')).toEqual({ ok: true, path: join(directory, 'b', 'tool') });
});

test('a name with a slash is looked up from the working directory only', async () => {
  expect(await resolveProgram('./b/tool', {}, directory)).toEqual({
    ok: true,
    path: join(directory, 'b', 'tool'),
  });
});

test('a missing program and one that may not be executed are told apart', async () => {
  const env = { PATH: `${directory}/a` };
  expect(await resolveProgram('no-such-tool', env, '/')).toMatchObject({ ok: false, reason: 'missing' });
  expect(await resolveProgram('', env, '/')).toMatchObject({ ok: false, reason: 'missing' });
  expect(await resolveProgram('text', env, '/')).toMatchObject({ ok: false, reason: 'notExecutable' });
  expect(await resolveProgram(directory, env, '/')).toMatchObject({ ok: false, reason: 'notExecutable' });
});

test('of our environment only what every program needs is passed on', () => {
  const ours = { PATH: '/bin', HOME: '/home/x', STEMMA_TOKEN: 'secret', LANG: 'C' };
  expect(minimalEnvironment({ LANG: 'de', MORE: '1' }, ours)).toEqual({
    PATH: '/bin',
    HOME: '/home/x',
    LANG: 'de',
    MORE: '1',
  });
});
