import { createHash } from 'node:crypto';
import { StemmaError } from '../../base/errors.ts';
import type { Database } from './driver.ts';
import { ledgerSchema } from './migrations/0001-ledger.ts';
import { recordsSchema } from './migrations/0002-records.ts';
import { spendingSchema } from './migrations/0003-spending.ts';
import { limitsSchema } from './migrations/0004-limits.ts';
import { schedulesSchema } from './migrations/0005-schedules.ts';
import { notificationsSchema } from './migrations/0006-notifications.ts';
import { attemptsSchema } from './migrations/0007-attempts.ts';
import { admissionSchema } from './migrations/0008-admission.ts';
import { graphsSchema } from './migrations/0009-graphs.ts';
import { closedWorkflowsSchema } from './migrations/0010-closed-workflows.ts';
import { batchesSchema } from './migrations/0011-batches.ts';
import { openScriptsSchema } from './migrations/0012-open-scripts.ts';
import { rowsSchema } from './migrations/0013-rows.ts';
import { runsOfWorkflowsSchema } from './migrations/0014-runs-of-workflows.ts';
import { workflowRunsSchema } from './migrations/0015-workflow-runs.ts';
import { requestedRunsSchema } from './migrations/0016-requested-runs.ts';
import { answersSchema } from './migrations/0017-answers.ts';
import { clocksSchema } from './migrations/0018-clocks.ts';

/** One step of the schema. Steps are only ever appended; one that was released is never edited. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** It makes a table anew that others refer to: what they refer to is looked at when all is done. */
  readonly rebuilds?: true;
}

/** Every step, in order. The version of a database is how many of them it has. */
export const migrations: readonly Migration[] = [
  { name: '0001-ledger', sql: ledgerSchema },
  { name: '0002-records', sql: recordsSchema },
  { name: '0003-spending', sql: spendingSchema },
  { name: '0004-limits', sql: limitsSchema },
  { name: '0005-schedules', sql: schedulesSchema },
  { name: '0006-notifications', sql: notificationsSchema },
  { name: '0007-attempts', sql: attemptsSchema },
  { name: '0008-admission', sql: admissionSchema },
  { name: '0009-graphs', sql: graphsSchema },
  { name: '0010-closed-workflows', sql: closedWorkflowsSchema },
  { name: '0011-batches', sql: batchesSchema },
  { name: '0012-open-scripts', sql: openScriptsSchema },
  { name: '0013-rows', sql: rowsSchema },
  { name: '0014-runs-of-workflows', sql: runsOfWorkflowsSchema },
  { name: '0015-workflow-runs', sql: workflowRunsSchema, rebuilds: true },
  { name: '0016-requested-runs', sql: requestedRunsSchema },
  { name: '0017-answers', sql: answersSchema },
  { name: '0018-clocks', sql: clocksSchema },
];

interface Applied {
  readonly version: number;
  readonly checksum: string;
}

const bookkeeping = `
CREATE TABLE IF NOT EXISTS migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`;

/**
 * Brings the schema up to date in one transaction. Throws `SCHEMA_TOO_NEW` for a database of a newer version and
 * `SCHEMA_DRIFT` when a step that was applied is not the one known here; nothing is changed then.
 */
export function migrate(db: Database, now: number, known: readonly Migration[] = migrations): void {
  // While they are on, a table that is dropped takes its rows from those that refer to it; they cannot be switched within a
  // transaction.
  const [areOn] = db.prepare('PRAGMA foreign_keys').row([]) ?? [];
  db.exec('PRAGMA foreign_keys = OFF');
  try {
    applyMissing(db, now, known);
  } finally {
    if (areOn === 1) db.exec('PRAGMA foreign_keys = ON');
  }
}

function applyMissing(db: Database, now: number, known: readonly Migration[]): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(bookkeeping);
    const applied = appliedTo(db);
    refuseUnknown(applied, known);
    const record = db.prepare(
      'INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)',
    );
    const missing = known.slice(applied.length);
    missing.forEach((step, i) => {
      db.exec(step.sql);
      record.run([applied.length + i + 1, step.name, checksumOf(step), now]);
    });
    if (missing.some((step) => step.rebuilds)) refuseDangling(db);
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function refuseDangling(db: Database): void {
  const dangling = db.prepare('PRAGMA foreign_key_check').rows([]);
  const [first] = dangling;
  if (first) throw new Error(`${dangling.length} rows refer to nothing, the first in ${String(first[0])}`);
}

function appliedTo(db: Database): Applied[] {
  const rows = db.prepare('SELECT version, checksum FROM migrations ORDER BY version').rows([]);
  return rows.map(([version, checksum]) => ({ version: Number(version), checksum: String(checksum) }));
}

function refuseUnknown(applied: readonly Applied[], known: readonly Migration[]): void {
  const found = applied.at(-1)?.version ?? 0;
  if (found > known.length) {
    const message = `The database has schema ${found}, this version knows ${known.length}: use the version that wrote it.`;
    throw new StemmaError('SCHEMA_TOO_NEW', message, { found, known: known.length });
  }
  applied.forEach(({ version, checksum }, i) => {
    const step = known[i];
    if (version === i + 1 && step && checksumOf(step) === checksum) return;
    const message = `Migration ${version} was applied as another text than this version has; restore a backup, or use the version that wrote it.`;
    throw new StemmaError('SCHEMA_DRIFT', message, { version });
  });
}

/** SHA-256 of a step's text, in hex. */
export function checksumOf(step: Migration): string {
  return createHash('sha256').update(step.sql).digest('hex');
}
