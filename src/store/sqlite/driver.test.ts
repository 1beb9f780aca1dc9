import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Param } from '../sql/connection.ts';
import { escapeText, unescapeText } from '../sql/text.ts';
import { DatabaseError } from './database-error.ts';
import type { Database } from './driver.ts';
import { countParameters, hasNodeSqlite, openDatabase } from './driver.ts';

const libraries = hasNodeSqlite() ? (['libsql', 'node'] as const) : (['libsql'] as const);

describe.each(libraries)('the driver on %s', (library) => {
  let directory: string;
  let db: Database;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-driver-'));
    db = await openDatabase(join(directory, 'test.db'), library);
    db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, s TEXT CHECK (s <> 'bad')) STRICT");
  });
  afterEach(() => {
    db.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const kindOf = (call: () => unknown): string => {
    try {
      call();
    } catch (error) {
      return error instanceof DatabaseError ? error.kind : String(error);
    }
    return 'nothing thrown';
  };

  it('is the library that was asked for', () => expect(db.library).toBe(library));

  it.each([
    '',
    'plain',
    'a\u0000b',
    '\u0000',
    '\u0010',
    '\u00100',
    '\u0000\u0010\u00001',
    'é漢🦊',
    '\\u0010',
    "it's",
  ])('gives back the text %j as it was, by row, by rows and by JSON', (text) => {
    db.prepare('INSERT INTO t (s) VALUES (?)').run([text]);
    expect(db.prepare('SELECT s FROM t WHERE s = ?').row([text])).toEqual([text]);
    expect(db.prepare('SELECT s, n FROM t').rows([])).toEqual([[text, null]]);
    expect(db.prepare('SELECT json_array(s) FROM t').json([])).toEqual([text]);
    expect(db.prepare('SELECT json_group_array(json_array(s, n)) FROM t').json([])).toEqual([[text, null]]);
  });

  it('binds booleans as 0 and 1, and safe integers exactly', () => {
    const insert = db.prepare('INSERT INTO t (n) VALUES (?)');
    for (const value of [true, false, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0])
      insert.run([value]);
    expect(db.prepare('SELECT n, typeof(n) FROM t ORDER BY id').rows([])).toEqual([
      [1, 'integer'],
      [0, 'integer'],
      [Number.MAX_SAFE_INTEGER, 'integer'],
      [Number.MIN_SAFE_INTEGER, 'integer'],
      [0, 'integer'],
    ]);
  });

  it.each([
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 60,
    undefined,
    {},
    [],
    new Date(0),
    Buffer.from('x'),
    5n,
    Symbol('x'),
  ])('refuses to bind %s instead of taking the process down', (value) => {
    const statement = db.prepare('SELECT ?');
    for (const call of ['run', 'row', 'rows', 'json'] as const) {
      expect(kindOf(() => statement[call]([value as Param]))).toBe('misuse');
    }
  });

  it('refuses too few and too many parameters', () => {
    const statement = db.prepare("SELECT ?, '?', ?");
    expect(kindOf(() => statement.row([1]))).toBe('misuse');
    expect(kindOf(() => statement.row([1, 2, 3]))).toBe('misuse');
    expect(statement.row([1, 2])).toEqual([1, '?', 2]);
    expect([countParameters('SELECT ?1, ?3, ?1'), countParameters('SELECT 1')]).toEqual([3, 0]);
  });

  it('answers undefined for no row, and nothing beside the columns', () => {
    expect(db.prepare('SELECT * FROM t').row([])).toBeUndefined();
    expect(db.prepare('SELECT json_array(s) FROM t').json([])).toBeUndefined();
    expect(db.prepare('SELECT * FROM t').rows([])).toEqual([]);
    expect(db.prepare('INSERT INTO t (n) VALUES (1), (2)').run([])).toMatchObject({
      changes: 2,
      lastInsertRowid: 2,
    });
    expect(db.prepare('SELECT id, n FROM t').row([])).toEqual([1, 1]);
    expect(db.prepare('UPDATE t SET n = 5 WHERE id = ? RETURNING n').row([2])).toEqual([5]);
    expect(db.inTransaction).toBe(false);
  });

  it('unifies errors', async () => {
    expect(kindOf(() => db.prepare('INSERT INTO t (s) VALUES (?)').run(['bad']))).toBe('constraint');
    db.prepare('INSERT INTO t (id) VALUES (1)').run([]);
    expect(kindOf(() => db.prepare('INSERT INTO t (id) VALUES (1)').run([]))).toBe('constraint');
    expect(kindOf(() => db.prepare('SELECT nonsense'))).toBe('other');
    expect(kindOf(() => db.exec('nonsense'))).toBe('other');
    db.exec('PRAGMA max_page_count = 10');
    const big = 'x'.repeat(100_000);
    expect(kindOf(() => db.prepare('INSERT INTO t (s) VALUES (?)').run([big]))).toBe('full');
    await expect(openDatabase(join(directory, 'no', 'such', 'directory.db'), library)).rejects.toMatchObject({
      kind: 'io',
    });
  });

  it('waits a bounded time for another writer, then says busy', async () => {
    const other = await openDatabase(join(directory, 'test.db'), library);
    db.exec('PRAGMA busy_timeout = 10');
    other.exec('BEGIN IMMEDIATE');
    expect(kindOf(() => db.exec('BEGIN IMMEDIATE'))).toBe('busy');
    other.exec('ROLLBACK');
    other.close();
  });

  it('a statement that failed works again, however it is called', () => {
    const insert = db.prepare('INSERT INTO t (s) VALUES (?)');
    const returning = db.prepare('INSERT INTO t (s) VALUES (?) RETURNING s');
    for (const call of ['run', 'writeOne'] as const) {
      expect(kindOf(() => insert[call](['bad']))).toBe('constraint');
      expect(kindOf(() => insert.writeOne(['good']))).toBe('nothing thrown');
    }
    for (const call of ['row', 'rows'] as const) {
      expect(kindOf(() => returning[call](['bad']))).toBe('constraint');
      expect(returning.row(['good'])).toEqual(['good']);
    }
    expect(db.prepare('SELECT count(*) FROM t').row([])).toEqual([4]);
    db.checkWrites();
  });

  it('a statement may be called in every way, in any order, and does what it is asked', () => {
    const calls = ['run', 'writeOne', 'row', 'rows', 'json'] as const;
    const insert = db.prepare('INSERT INTO t (n) VALUES (?)');
    const returning = db.prepare('INSERT INTO t (n) VALUES (?) RETURNING n');
    const select = db.prepare('SELECT ?');
    const expected: number[] = [];
    for (const first of calls) {
      for (const second of calls) {
        for (const call of [first, second, first]) {
          const n = expected.push(expected.length);
          insert[call]([n - 1]);
          if (call === 'row') expect(select.row([n])).toEqual([n]);
          if (call === 'rows') expect(select.rows([n])).toEqual([[n]]);
          if (call === 'json') expect(select.json([n])).toBe(n);
        }
      }
    }
    expect(db.prepare('SELECT n FROM t ORDER BY id').rows([])).toEqual(expected.map((n) => [n]));
    expect([returning.rows([1]), returning.row([2]), returning.rows([3])]).toEqual([[[1]], [2], [[3]]]);
  });

  it('tells of a write that changed no row, or several', () => {
    const update = db.prepare('UPDATE t SET n = 1 WHERE s = ?');
    const insert = db.prepare('INSERT INTO t (s) VALUES (?)');
    const uncertain = (): string => kindOf(() => db.checkWrites());
    insert.writeOne(['a']);
    insert.run(['b']);
    update.writeOne(['a']);
    update.run(['nobody']);
    db.exec("UPDATE t SET n = 2; INSERT INTO t (s) VALUES ('b')");
    expect(uncertain()).toBe('nothing thrown');
    update.writeOne(['nobody']);
    expect([uncertain(), uncertain()]).toEqual(['other', 'nothing thrown']);
    update.writeOne(['b']);
    expect([uncertain(), uncertain()]).toEqual(['other', 'nothing thrown']);
    db.checkEach(true);
    update.writeOne(['a']);
    expect([kindOf(() => update.writeOne(['nobody'])), kindOf(() => update.writeOne(['b']))]).toEqual([
      'other',
      'other',
    ]);
    db.checkEach(false);
    expect(uncertain()).toBe('nothing thrown');
  });

  it('knows whether a transaction is open', () => {
    const run = (sql: string): unknown => db.prepare(sql).run([]);
    run('BEGIN IMMEDIATE');
    expect(db.inTransaction).toBe(true);
    run('ROLLBACK');
    run('BEGIN');
    run('SAVEPOINT operation');
    run('ROLLBACK TO operation');
    run('RELEASE operation');
    expect(db.inTransaction).toBe(true);
    run('COMMIT');
    expect(db.inTransaction).toBe(false);
  });
});

describe('the choice of the library', () => {
  it('takes node:sqlite where it needs no flag', () => {
    expect(['20.20.2', '22.12.0', '22.13.0', '23.0.0', '24.1.0'].map((v) => hasNodeSqlite(v))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it('escapes without loss', () => {
    for (const text of ['', '\u0000', '\u0010', '\u00100', '\u00101', '\u0010\u0000\u0010']) {
      const escaped = escapeText(text);
      expect(escaped).not.toContain('\u0000');
      expect(unescapeText(escaped)).toBe(text);
    }
  });
});
