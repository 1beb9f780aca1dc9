import { createHash } from 'node:crypto';
import type pg from 'pg';
import { StemmaError } from '../../base/errors.ts';
import { execute } from './pool.ts';
import { ledgerSchema } from './migrations/0001-ledger.ts';
import { schedulesSchema } from './migrations/0002-schedules.ts';
import { guardsSchema } from './migrations/0003-guards.ts';
import { answersSchema } from './migrations/0004-answers.ts';
import { clocksSchema } from './migrations/0005-clocks.ts';

/** One step of the schema. Steps are only ever appended; one that was released is never edited. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Every step, in order. The version of a database is how many of them it has. */
export const migrations: readonly Migration[] = [
  { name: '0001-ledger', sql: ledgerSchema },
  { name: '0002-schedules', sql: schedulesSchema },
  { name: '0003-guards', sql: guardsSchema },
  { name: '0004-answers', sql: answersSchema },
  { name: '0005-clocks', sql: clocksSchema },
];

const bookkeeping = `
CREATE TABLE IF NOT EXISTS migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at BIGINT NOT NULL
)`;

/** How long to wait for another server that is at it, in milliseconds. */
const lockMs = 60_000;

/**
 * Brings the schema up to date in one transaction, under a lock that one server has at a time, and answers the names of the steps
 * that were missing. `dryRun`: does all of it, and takes it back. Throws `SCHEMA_TOO_NEW` for a database of a newer version and
 * `SCHEMA_DRIFT` when a step that was applied is not the one known here; nothing is changed then.
 */
export async function migrate(
  client: pg.PoolClient,
  now: number,
  options: { readonly dryRun?: boolean; readonly known?: readonly Migration[] } = {},
): Promise<string[]> {
  const known = options.known ?? migrations;
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${lockMs}`);
    await client.query('SELECT pg_advisory_xact_lock(7305805, 2)');
    await client.query(bookkeeping);
    const { rows } = await execute(client, 'SELECT version, checksum FROM migrations ORDER BY version');
    refuseUnknown(
      rows.map(([version, checksum]) => [Number(version), String(checksum)]),
      known,
    );
    const missing = known.slice(rows.length);
    for (const [i, step] of missing.entries()) {
      await client.query(step.sql);
      const values = [rows.length + i + 1, step.name, checksumOf(step), now];
      await execute(
        client,
        'INSERT INTO migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)',
        values,
      );
    }
    await client.query(options.dryRun ? 'ROLLBACK' : 'COMMIT');
    return missing.map((step) => step.name);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function refuseUnknown(applied: readonly (readonly [number, string])[], known: readonly Migration[]): void {
  const found = applied.at(-1)?.[0] ?? 0;
  if (found > known.length) {
    const message = `The database has schema ${found}, this version knows ${known.length}: use the version that wrote it.`;
    throw new StemmaError('SCHEMA_TOO_NEW', message, { found, known: known.length });
  }
  applied.forEach(([version, checksum], i) => {
    const step = known[i];
    if (version === i + 1 && step && checksumOf(step) === checksum) return;
    const message = `Migration ${version} was applied as another text than this version has; restore a backup, or use the version that wrote it.`;
    throw new StemmaError('SCHEMA_DRIFT', message, { version });
  });
}

function checksumOf(step: Migration): string {
  return createHash('sha256').update(step.sql).digest('hex');
}
