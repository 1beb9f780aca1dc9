import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { deciding, execution, registering } from '../conformance/rows.ts';
import { hasNodeSqlite } from './driver.ts';
import { growLog } from './log-file.ts';
import type { SqliteStore } from './store.ts';
import { openSqliteStore } from './store.ts';

const libraries = hasNodeSqlite() ? (['libsql', 'node'] as const) : (['libsql'] as const);

describe.each(libraries)('the log of %s', (library) => {
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-log-'));
    file = join(directory, 'stemma.db');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const open = (of = file): Promise<SqliteStore> =>
    openSqliteStore({ file: of, clock: systemClock, random: Math.random, library });
  const register = (store: SqliteStore, n: number): Promise<unknown> =>
    store.decide(deciding(registering(execution(n))));
  const logBytes = (): number => statSync(`${file}-wal`).size;
  const count = async (store: SqliteStore): Promise<number> =>
    (await store.views.liveRoots({ limit: 1_000 })).items.length;

  it('made longer, keeps what was committed before and after, also when the process is killed', async () => {
    const store = await open();
    await register(store, 1);
    growLog(file, 300);
    expect(logBytes()).toBe(300 * 4_120);
    for (let n = 2; n <= 20; n++) await register(store, n);
    growLog(file, 200);
    expect(logBytes()).toBe(300 * 4_120);
    // What a killed process leaves: the files as they are now.
    const left = join(directory, 'left');
    mkdirSync(left);
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, join(left, `stemma.db${end}`));
    const next = await open(join(left, 'stemma.db'));
    expect(await count(next)).toBe(20);
    await register(next, 21);
    expect(await count(next)).toBe(21);
    await next.close();
    await store.close();
    const again = await open();
    expect(await count(again)).toBe(20);
    await again.close();
  });

  it('becomes as large as it may be when much is written, and does not care where there is none', async () => {
    growLog(join(directory, 'nothing.db'), 10);
    const store = await open();
    const small = logBytes();
    for (let n = 1; n <= 60; n++) await register(store, n);
    expect(small).toBeLessThan(4_000 * 4_120);
    expect(logBytes()).toBe(4_000 * 4_120);
    await store.close();
  });
});
