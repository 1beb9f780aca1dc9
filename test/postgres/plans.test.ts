import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { ReplayedConnection } from '../../src/store/postgres/replay.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import type { ChangingWork } from '../../src/store/postgres/tables.ts';
import { PostgresTables } from '../../src/store/postgres/tables.ts';
import { translated } from '../../src/store/postgres/dialect.ts';
import { SqlAnswers } from '../../src/store/sql/answer.ts';
import type { Query } from '../../src/store/sql/connection.ts';
import { eventReader } from '../../src/store/sql/event-rows.ts';
import { sqlRecords } from '../../src/store/sql/records.ts';
import { sqlRecoveryViews, sqlViews } from '../../src/store/sql/views.ts';
import { wakeStatements } from '../../src/store/sql/wake-statements.ts';
import { makeDatabase } from './cluster.ts';

const server = process.env['STEMMA_TEST_POSTGRES'];

/** Tables that may be walked whole, each with why it is small. */
const small: Readonly<Record<string, string>> = {
  tokens: 'a handful of rows',
  admissions: 'who waits for a turn slot now',
};

/** Remembers the text of every statement. */
class Recording extends ReplayedConnection<ChangingWork> {
  readonly texts = new Set<string>();

  override prepare(sql: string): Query {
    this.texts.add(translated(sql));
    return super.prepare(sql);
  }
}

describe.skipIf(server === undefined)('the plans of PostgreSQL', () => {
  let client: pg.Client;
  const connection = new Recording();
  beforeAll(async () => {
    const url = await makeDatabase(server ?? '', `plans_${process.pid}`);
    await (await openPostgresStore({ url, clock: systemClock, random: Math.random })).close();
    const tables = new PostgresTables(connection);
    const never = (): Promise<never> => Promise.reject(new Error('nothing is read here'));
    new SqlAnswers(connection, tables);
    sqlViews(connection, tables, never);
    sqlRecoveryViews(connection, tables, never);
    sqlRecords(connection, never, never);
    eventReader(connection);
    wakeStatements(connection);
    client = new pg.Client({ connectionString: url });
    await client.connect();
    // Where an index can be used, it is: the tables are empty here, and a walk of an empty table is the cheapest.
    await client.query('SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan');
  });
  afterAll(() => client.end());

  it('find what they look for by an index', async () => {
    const walks: string[] = [];
    let searches = 0;
    for (const text of connection.texts) {
      const count = Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, digits]) => Number(digits)));
      await client.query(`PREPARE it AS ${text}`);
      const values = count === 0 ? '' : `(${Array.from({ length: count }, () => 'NULL').join(', ')})`;
      const plan = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE it ${values}`);
      await client.query('DEALLOCATE it');
      for (const { 'QUERY PLAN': step } of plan.rows) {
        if (/Index (Only )?Scan/.test(step)) searches++;
        const walked = /Seq Scan on (\w+)/.exec(step)?.[1];
        if (walked !== undefined && !(walked in small)) walks.push(`${walked}   in   ${text.trim()}`);
      }
    }
    expect(walks).toEqual([]);
    expect(connection.texts.size).toBeGreaterThan(100);
    expect(searches).toBeGreaterThan(connection.texts.size / 2);
  });
});
