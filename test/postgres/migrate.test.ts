import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Migration } from '../../src/store/postgres/migrate.ts';
import { migrate, migrations } from '../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { makeDatabase } from './cluster.ts';

const server = process.env['STEMMA_TEST_POSTGRES'];
const names = migrations.map((step) => step.name);

describe.skipIf(server === undefined)('migrations of PostgreSQL', () => {
  let url: string;
  let made = 0;
  beforeEach(async () => {
    url = await makeDatabase(server ?? '', `migrate_${process.pid}_${++made}`);
  });

  const migrated = async (options: Parameters<typeof migrate>[2] = {}): Promise<string[]> => {
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    const client = await pool.connect();
    try {
      return await migrate(client, 1, options);
    } finally {
      client.release();
      await pool.end();
    }
  };

  it('a dry run does everything, says what was missing, and changes nothing', async () => {
    expect(await migrated({ dryRun: true })).toEqual(names);
    expect(await migrated({ dryRun: true })).toEqual(names);
    expect(await migrated()).toEqual(names);
    expect(await migrated()).toEqual([]);
  });

  it('two servers that begin at once make the schema once', async () => {
    const open = () => openPostgresStore({ url, clock: systemClock, random: Math.random });
    const [one, two] = await Promise.all([open(), open()]);
    expect(one.databaseId).toBe(two.databaseId);
    await Promise.all([one.close(), two.close()]);
  });

  it('a step that fails leaves the schema as it was', async () => {
    const broken: Migration = {
      name: 'broken',
      sql: 'CREATE TABLE half (id INTEGER); CREATE TABLE half (id INTEGER)',
    };
    await expect(migrated({ known: [...migrations, broken] })).rejects.toThrow(/half/);
    expect(await migrated({ dryRun: true })).toEqual(names);
  });

  it('refuses a database of a newer version, and one whose steps are others', async () => {
    await migrated();
    await expect(migrated({ known: migrations.slice(0, -1) })).rejects.toMatchObject({
      code: 'SCHEMA_TOO_NEW',
    });
    const [first, ...rest] = migrations as [Migration, ...Migration[]];
    const edited = [{ ...first, sql: `${first.sql} ` }, ...rest];
    await expect(migrated({ known: edited })).rejects.toMatchObject({
      code: 'SCHEMA_DRIFT',
      data: { version: 1 },
    });
  });
});
