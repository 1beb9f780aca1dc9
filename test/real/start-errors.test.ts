import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openDatabase } from '../../src/store/sqlite/driver.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { firstLine, stemma } from '../e2e/server-process.ts';
import { fill, withSmallDisk } from './small-disk.ts';

/* Why a server cannot start, or cannot write: each is an exit code and a sentence. Small disks take the right to mount. */

const root = mkdtempSync(join(tmpdir(), 'stemma-disk-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a full disk is an answer, not a crash, and over when there is room again', {
  timeout: 60_000,
}, async (context) => {
  await withSmallDisk(context, '8m', async (disk) => {
    const { line, process } = await firstLine(['up', '--data', join(disk, 'data'), '--port', '0', '--json'], {
      cwd: root,
    });
    const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
    const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const register = (): Promise<Response> =>
      fetch(`${url}/api/v1/executions`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: 'x'.repeat(100) }),
      });
    fill(join(disk, 'filler'));
    let full = await register();
    for (let i = 0; i < 500 && full.status === 201; i++) full = await register();
    expect({ status: full.status, body: await full.json() }).toMatchObject({
      status: 507,
      body: { code: 'DISK_FULL' },
    });
    expect((await fetch(`${url}/api/v1/monitor`, { headers })).status).toBe(200);
    rmSync(join(disk, 'filler'));
    expect((await register()).status).toBe(201);
    expect(await process.signal('SIGTERM')).toMatchObject({ code: 0 });
  });
});

test('a disk without room for a database is exit 5', { timeout: 60_000 }, async (context) => {
  await withSmallDisk(context, '64k', async (disk) => {
    const ended = await stemma(['up', '--data', join(disk, 'data'), '--port', '0', '--json'], { cwd: root });
    expect(ended.code).toBe(5);
    expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: 'DISK_FULL' } });
  });
});

test('a data directory on a read-only disk is exit 5', { timeout: 60_000 }, async (context) => {
  await withSmallDisk(context, '1m,ro', async (disk) => {
    const ended = await stemma(['up', '--data', join(disk, 'data'), '--port', '0', '--json'], { cwd: root });
    expect(ended.code).toBe(5);
    expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: 'DATA_DIR_UNUSABLE' } });
  });
});

test('a database of a newer version is refused unchanged, with exit 5', {
  timeout: 60_000,
}, async () => {
  const dataDir = join(root, 'newer');
  const file = join(dataDir, 'stemma.db');
  mkdirSync(dataDir);
  await (await openSqliteStore({ file, clock: systemClock, random: Math.random })).close();
  const db = await openDatabase(file);
  db.exec("INSERT INTO migrations VALUES (9999, '9999-later', 'x', 0)");
  db.close();
  const ended = await stemma(['up', '--data', dataDir, '--port', '0', '--json'], { cwd: root });
  expect(ended.code).toBe(5);
  const { error } = JSON.parse(ended.stderr) as { error: Record<string, unknown> };
  expect(error).toMatchObject({ code: 'SCHEMA_TOO_NEW', data: { found: 9999 } });
});

test('a port that is taken is exit 5 and named', { timeout: 60_000 }, async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const dataDir = join(root, 'port');
  const ended = await stemma(['up', '--data', dataDir, '--port', String(port)]);
  other.close();
  expect(ended).toMatchObject({ code: 5, stdout: '' });
  expect(ended.stderr).toContain(String(port));
  expect(existsSync(join(dataDir, 'server.json'))).toBe(false);
});

test('a data directory that cannot be is exit 5, and says where', {
  timeout: 60_000,
}, async () => {
  const file = join(root, 'a-file');
  writeFileSync(file, '');
  const ended = await stemma(['up', '--data', join(file, 'data'), '--port', '0', '--json'], { cwd: root });
  expect(ended).toMatchObject({ code: 5, stdout: '' });
  const { error } = JSON.parse(ended.stderr) as { error: { code: string; message: string } };
  expect(error).toMatchObject({ code: 'DATA_DIR_UNUSABLE', message: expect.stringContaining(file) });
});
