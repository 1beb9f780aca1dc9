import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readProblem, readTextFile } from './text-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-text-file-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a text in another encoding is refused, not read with gaps in it', async () => {
  const file = join(directory, 'stemma.yaml');
  writeFileSync(file, 'messages: [Grüße]\n');
  expect(await readTextFile(file)).toBe('messages: [Grüße]\n');
  writeFileSync(file, Buffer.from('messages: [Grüße]\n', 'latin1'));
  const problem = await readTextFile(file).catch(readProblem);
  expect(problem).toBe('it is not in UTF-8; save it as UTF-8');
});
