import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StemmaError } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import type { Database } from './driver.ts';
import { openDatabase } from './driver.ts';
import type { Migration } from './migrate.ts';
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

  it('make a table anew, and keep its rows and what refers to them', () => {
    const rebuilds = migrations.findIndex((step) => step.rebuilds);
    migrate(db, 1, migrations.slice(0, rebuilds));
    db.exec(`
      PRAGMA foreign_keys = ON;
      INSERT INTO sessions (id, project, agent, cwd, state, epoch, node, position, created_at, last_activity_at)
      VALUES ('ses_1', 'p', 'demo', '/', 'live', 0, 'local', 0, 1, 1);
      INSERT INTO runs (
        id, project, name, session_id, plan, cursor, state, outcome, cancel_requested, created_at, ended_at, budget,
        tries, retry_at, moves, row_count, repairs)
      VALUES
        ('run_1', 'p', 'one', 'ses_1', '[{"text":"a"}]', 1, 'running', NULL, 0, 1, NULL, '{"usd":1}', 2, NULL, 7, 3, 1),
        ('run_2', 'p', 'two', 'ses_1', '[]', 0, 'ended', 'cancelled', 1, 2, 3, NULL, 0, NULL, 0, NULL, 0);
      INSERT INTO executions (
        id, root_id, parent_source, depth, kind, name, project, mode, run_id, run_index, created_at, state)
      VALUES ('exe_1', 'exe_1', 'none', 0, 'message', 'a', 'p', 'none', 'run_1', 0, 1, 'running');
      UPDATE runs SET current_id = 'exe_1' WHERE id = 'run_1';
      INSERT INTO workspaces (run_id, how, from_path, path, is_held) VALUES ('run_1', 'shared', '/', '/', 0)`);
    const columns = `id, project, name, session_id, plan, cursor, current_id, state, outcome, cancel_requested,
      created_at, ended_at, budget, tries, retry_at, moves, row_count, repairs, todo, schedule_id, instant`;
    const rows = (): unknown[][] => db.prepare(`SELECT ${columns} FROM runs ORDER BY id`).rows([]);
    const before = rows();
    expect(before).toHaveLength(2);
    migrate(db, 2);
    expect(rows()).toEqual(before);
    expect(db.prepare('PRAGMA foreign_keys').row([])).toEqual([1]);
    expect(db.prepare('PRAGMA foreign_key_check').rows([])).toEqual([]);
    // What refers to the table refers to the new one, and it has its constraints and its indexes.
    db.exec(
      "INSERT INTO runs (id, project, name, plan, cursor, state, cancel_requested, created_at) VALUES ('run_3', 'p', 'x', '[]', 0, 'running', 0, 1)",
    );
    expect(() =>
      db.exec(
        "INSERT INTO workspaces (run_id, how, from_path, path, is_held) VALUES ('run_9', 'shared', '/', '/', 0)",
      ),
    ).toThrow(/FOREIGN KEY/);
    expect(() => db.exec("UPDATE runs SET owner_id = 'exe_1' WHERE id = 'run_3'")).toThrow(/CHECK/);
    const indexes = db.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'runs' AND sql IS NOT NULL ORDER BY name",
    );
    expect(indexes.rows([]).flat()).toEqual([
      'runs_ended',
      'runs_occurrence',
      'runs_owner',
      'runs_running',
      'runs_schedule',
      'runs_workflow',
    ]);
  });

  it('make no table anew that would leave something referring to nothing', () => {
    const steps: Migration[] = [
      { name: '1', sql: 'CREATE TABLE a (id TEXT PRIMARY KEY); CREATE TABLE b (a TEXT REFERENCES a (id))' },
      { name: '2', sql: 'DROP TABLE a; CREATE TABLE a (id TEXT PRIMARY KEY)', rebuilds: true },
    ];
    migrate(db, 1, steps.slice(0, 1));
    db.exec("INSERT INTO a VALUES ('x'); INSERT INTO b VALUES ('x')");
    expect(() => migrate(db, 2, steps)).toThrow('1 rows refer to nothing, the first in b');
    expect(db.prepare('SELECT id FROM a').rows([])).toEqual([['x']]);
    expect(applied()).toHaveLength(1);
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
