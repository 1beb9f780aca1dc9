import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownDataDirectory } from './data-directory.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stemma-data-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('everything in it is for its owner only, also what an earlier version left open', async () => {
  const path = join(root, 'a', 'b');
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'stemma.db'), '', { mode: 0o644 });
  const directory = await ownDataDirectory(path);
  for (const name of readdirSync(path)) {
    const found = statSync(join(path, name));
    expect([name, found.mode & 0o077]).toEqual([name, 0]);
  }
  await directory.release();
});

test.each(['token', 'server.json', 'stemma.db', 'stemma.log', 'secret'])(
  'a directory in the place of %s is told before anything is started, and nobody owns it then',
  async (name) => {
    mkdirSync(join(root, name));
    await expect(ownDataDirectory(root)).rejects.toMatchObject({ code: 'DATA_DIR_UNUSABLE' });
    expect(existsSync(join(root, 'lock.1'))).toBe(false);
  },
);

test.each(['sessions', 'commands'])('a file in the place of %s is told too', async (name) => {
  writeFileSync(join(root, name), '');
  await expect(ownDataDirectory(root)).rejects.toMatchObject({ code: 'DATA_DIR_UNUSABLE' });
});

test('a file, and a place where nothing can be made, are no data directory', async () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below'), '/proc/stemma/data', '/dev/null'])
    await expect(ownDataDirectory(path)).rejects.toMatchObject({ code: 'DATA_DIR_UNUSABLE' });
});
