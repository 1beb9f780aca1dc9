import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingsFacts } from './settings-facts.ts';

test('what is kept is counted by its kind, and no secret of a target is told', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stemma-settings-'));
  try {
    writeFileSync(join(dataDir, 'stemma.db'), 'x'.repeat(10_000));
    writeFileSync(join(dataDir, 'stemma.db-wal'), 'x'.repeat(10_000));
    mkdirSync(join(dataDir, 'runs', 'a'), { recursive: true });
    writeFileSync(join(dataDir, 'runs', 'a', 'result'), 'x'.repeat(5_000));
    const notify = { targets: { ops: { slack: 'https://hooks.example/secret' } }, always: ['ops'] };
    const told = await settingsFacts({
      version: '1',
      dataDir,
      publicUrl: undefined,
      notify: notify as never,
      lowBytes: undefined,
    }).read();
    expect(told.targets).toEqual([{ name: 'ops', kind: 'slack', always: true }]);
    expect(JSON.stringify(told)).not.toContain('secret');
    const [database, runs, sessions] = told.storage.parts;
    expect(database?.bytes).toBeGreaterThanOrEqual(20_000);
    expect(runs?.bytes).toBeGreaterThanOrEqual(5_000);
    expect(sessions).toMatchObject({ name: 'sessions', bytes: 0 });
    expect(told.storage.freeBytes).toBeGreaterThan(0);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
