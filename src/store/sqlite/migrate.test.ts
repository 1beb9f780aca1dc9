import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StemmaError } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import type { Database } from './driver.ts';
import { openDatabase } from './driver.ts';
import { checksumOf, migrate, migrations } from './migrate.ts';
import { openSqliteStore } from './store.ts';

describe('migrations', () => {
  let directory: string;
  let db: Database;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-migrate-'));
    db = await openDatabase(join(directory, 'test.db'));
  });
  afterEach(() => {
    db.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const applied = (): unknown[][] =>
    db.prepare('SELECT version, name, checksum, applied_at FROM migrations').rows([]);
  const refusal = (steps: typeof migrations): StemmaError => {
    try {
      migrate(db, 1, steps);
    } catch (error) {
      return error as StemmaError;
    }
    throw new Error('nothing was refused');
  };

  it('apply once, and say when and what', () => {
    migrate(db, 5);
    migrate(db, 6);
    expect(applied()).toEqual(migrations.map((step, i) => [i + 1, step.name, checksumOf(step), 5]));
  });

  it('apply what is new, in order', () => {
    const steps = [
      { name: '1', sql: 'CREATE TABLE a (x INTEGER)' },
      { name: '2', sql: 'ALTER TABLE a ADD COLUMN y INTEGER' },
    ];
    migrate(db, 1, steps.slice(0, 1));
    migrate(db, 2, steps);
    expect(applied().map((row) => row[3])).toEqual([1, 2]);
    db.exec('INSERT INTO a (x, y) VALUES (1, 2)');
  });

  it('leave nothing behind when one fails', () => {
    const steps = [
      { name: '1', sql: 'CREATE TABLE a (x INTEGER)' },
      { name: '2', sql: 'CREATE TABLE b (x INTEGER); CREATE TABLE a (x INTEGER)' },
    ];
    expect(() => migrate(db, 1, steps)).toThrow(/already exists/);
    expect(db.inTransaction).toBe(false);
    expect(db.prepare("SELECT count(*) FROM sqlite_master WHERE type = 'table'").row([])).toEqual([0]);
  });

  it('refuse a database of a newer version', () => {
    migrate(db, 1);
    const refused = refusal(migrations.slice(0, -1));
    expect(refused.code).toBe('SCHEMA_TOO_NEW');
    expect(refused.data).toEqual({ found: migrations.length, known: migrations.length - 1 });
  });

  it('refuse a database whose steps were others', () => {
    migrate(db, 1);
    const refused = refusal(migrations.map((step, i) => (i === 0 ? { ...step, sql: `${step.sql} ` } : step)));
    expect(refused.code).toBe('SCHEMA_DRIFT');
    expect(refused.data).toEqual({ version: 1 });
  });

  it('are applied when a store is opened, which keeps its id over openings', async () => {
    const file = join(directory, 'store.db');
    const options = { file, clock: systemClock, random: Math.random };
    const first = await openSqliteStore(options);
    await first.close();
    const second = await openSqliteStore(options);
    expect(second.databaseId).toBe(first.databaseId);
    await second.close();
    await expect(openSqliteStore({ ...options, file: directory })).rejects.toMatchObject({
      code: 'DATA_DIR_UNUSABLE',
    });
  });
});
