import type pg from 'pg';
import type { Clock } from '../../base/clock.ts';
import { StemmaError } from '../../base/errors.ts';
import type { Rule } from '../../ledger/decision.ts';
import type { Asking, Question } from '../../ledger/questions.ts';
import type { Decided } from '../../ledger/store.ts';
import type { FinishedWake, WakeRow } from '../../wakeups/rows.ts';
import { makeDatabaseId } from '../cursor.ts';
import type { Records } from '../records.ts';
import { SqlAnswers } from '../sql/answer.ts';
import { eventReader } from '../sql/event-rows.ts';
import { sqlRecords } from '../sql/records.ts';
import { sqlRecoveryViews, sqlViews } from '../sql/views.ts';
import type { WakeStatements } from '../sql/wake-statements.ts';
import { wakeStatements } from '../sql/wake-statements.ts';
import type { EventLog, RecoveryViews, Views } from '../views.ts';
import type { CommittedRows, WholeStore } from '../whole-store.ts';
import { cannotOpen, isEnvironmental, toStoreError, troubleOf } from './database-error.ts';
import type { Operation } from './group-commit.ts';
import { GroupCommit } from './group-commit.ts';
import { migrate } from './migrate.ts';
import { execute, openPool } from './pool.ts';
import { ReplayedConnection } from './replay.ts';
import { SoleServer } from './sole-server.ts';
import type { ChangingWork } from './tables.ts';
import { PostgresTables } from './tables.ts';
import type { TransactionTools } from './transaction.ts';
import { Transaction } from './transaction.ts';

/** How to open a database. */
export interface PostgresOptions {
  /** `postgres://…`, with what the driver understands of it. */
  readonly url: string;
  readonly clock: Clock;
  /** Values in [0, 1), for the id of a new database and for pauses. */
  readonly random: () => number;
  /** No other server may work on it as long as it is open: rejects with `DATABASE_IN_USE` when one does. Default false. */
  readonly isSole?: boolean;
  /** Told of a connection that broke, and of another server. Must not throw. */
  readonly report?: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** The oldest server whose transactions can be asked for later. */
const oldestVersion = 130_000;

/**
 * Opens the database and brings its schema up to date. Rejects with `DATABASE_UNAVAILABLE`, `DISK_FULL`, `SCHEMA_TOO_NEW`,
 * `SCHEMA_DRIFT`, or `INVALID_CONFIG` for one that cannot be used at all.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { url, clock, random, report = () => undefined } = options;
  const place = placeOf(url);
  const pool = openPool(url, (error) => report('database.lost', { database: place, error: error.message }));
  let sole: SoleServer | undefined;
  try {
    if (options.isSole) sole = await SoleServer.claim({ url, place, clock, report });
    const client = await pool.connect();
    try {
      await refuseUnfit(client, place);
      await migrate(client, clock.now());
      const databaseId = await databaseIdOf(client, random);
      return new PostgresStore({ pool, place, databaseId, clock, random, sole });
    } finally {
      client.release();
    }
  } catch (error) {
    await sole?.release();
    await pool.end();
    throw error instanceof StemmaError || !(error instanceof Error) ? error : cannotOpen(error, place);
  }
}

/** The database for people: without password and without options. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

async function refuseUnfit(client: pg.PoolClient, place: string): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding",
  );
  const { version = '0', encoding = '' } = rows[0] ?? {};
  const why =
    Number(version) < oldestVersion
      ? 'its server is older than PostgreSQL 13'
      : encoding === 'UTF8'
        ? undefined
        : `its encoding is ${encoding}: make one with ENCODING 'UTF8'`;
  if (why === undefined) return;
  throw new StemmaError('INVALID_CONFIG', `The database ${place} cannot be used: ${why}.`, {
    database: place,
  });
}

async function databaseIdOf(client: pg.PoolClient, random: () => number): Promise<string> {
  const insert = "INSERT INTO meta (key, value) VALUES ('database_id', $1) ON CONFLICT DO NOTHING";
  await execute(client, insert, [makeDatabaseId(random)]);
  const { rows } = await execute(client, "SELECT value FROM meta WHERE key = 'database_id'");
  return String(rows[0]?.[0]);
}

interface Parts {
  readonly pool: pg.Pool;
  readonly place: string;
  readonly databaseId: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly sole: SoleServer | undefined;
}

/** The durable ledger on PostgreSQL, with the views, records and wake-up rows of the same database. */
export class PostgresStore implements WholeStore {
  readonly databaseId: string;
  readonly views: Views;
  readonly recovery: RecoveryViews;
  readonly events: EventLog;
  readonly records: Records;
  readonly #parts: Parts;
  readonly #tools: TransactionTools;
  readonly #answers: SqlAnswers;
  readonly #wakes: WakeStatements;
  readonly #commits: GroupCommit;
  #listeners: ((committed: CommittedRows) => void)[] = [];
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.databaseId = parts.databaseId;
    const connection = new ReplayedConnection<ChangingWork>();
    const tables = new PostgresTables(connection);
    this.#tools = { connection, tables };
    this.#answers = new SqlAnswers(connection, tables);
    this.#wakes = wakeStatements(connection);
    this.#commits = new GroupCommit({
      ...parts,
      ...this.#tools,
      tell: (told) => {
        for (const listener of this.#listeners) listener(told);
      },
    });
    const read = <T>(query: () => T): Promise<T> =>
      this.#reading((transaction) => transaction.perform(query));
    const write = <T>(call: () => T): Promise<T> => this.#writing((transaction) => transaction.perform(call));
    this.views = sqlViews(connection, tables, read);
    this.recovery = sqlRecoveryViews(connection, tables, read);
    this.records = sqlRecords(connection, read, write);
    const events = eventReader(connection);
    const last = connection.prepare('SELECT max(sequence) FROM events');
    this.events = {
      databaseId: parts.databaseId,
      eventsSince: (sequence, filter, limit) => read(() => events.since(sequence, filter, limit)),
      lastSequence: () => read(() => Number(last.row([])?.[0] ?? 0)),
    };
  }

  decide<T>(rule: () => Rule<T>): Promise<Decided<T>> {
    return this.#writing(async (transaction) => {
      const decision = await this.#answered(transaction, rule());
      if (!decision.ok) return decision;
      await transaction.apply(decision.effects, this.#parts.clock.now());
      return { ok: true, value: decision.value };
    });
  }

  read<T>(asking: () => Asking<T>): Promise<T> {
    return this.#reading((transaction) => this.#answered(transaction, asking()));
  }

  onCommit(listener: (committed: CommittedRows) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  dueWakes(after: number, until: number): Promise<WakeRow[]> {
    return this.#reading((transaction) => transaction.perform(() => this.#wakes.due(after, until)));
  }

  nextWake(after: number): Promise<number | undefined> {
    return this.#reading((transaction) => transaction.perform(() => this.#wakes.next(after)));
  }

  finishWake(wake: FinishedWake, next: number | null): Promise<boolean> {
    const { remove, postpone } = this.#wakes;
    return this.#writing((transaction) =>
      transaction.perform(() => (next === null ? remove(wake) : postpone(wake, next))),
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#commits.drained().then(async () => {
      await this.#parts.sole?.release();
      await this.#parts.pool.end();
    });
    return this.#closing;
  }

  async #answered<T>(transaction: Transaction, asking: Asking<T>): Promise<T> {
    let step = asking.next();
    while (!step.done) {
      const question: Question = step.value;
      step = asking.next(await transaction.perform(() => this.#answers.answer(question)));
    }
    return step.value;
  }

  #writing<T>(operation: Operation<T>): Promise<T> {
    if (this.#closing) return Promise.reject(closedError());
    const refusal = this.#parts.sole?.refusal;
    return refusal ? Promise.reject(refusal) : this.#commits.submit(operation);
  }

  async #reading<T>(query: Operation<T>): Promise<T> {
    if (this.#closing) throw closedError();
    try {
      // A connection that broke while nobody used it is found out by whoever takes it next.
      return await this.#readingOnce(query).catch((error: unknown) => {
        if (troubleOf(error) !== 'lost') throw error;
        return this.#readingOnce(query);
      });
    } catch (error) {
      throw isEnvironmental(error) ? toStoreError(error, this.#parts.place) : error;
    }
  }

  async #readingOnce<T>(query: Operation<T>): Promise<T> {
    const client = await this.#parts.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      return await query(new Transaction(client, this.#tools));
    } finally {
      await client.query('COMMIT').catch((error: Error) => {
        broken = error;
      });
      client.release(broken);
    }
  }
}

function closedError(): StemmaError {
  return new StemmaError('STOPPING', 'The store is closed; nothing more is taken.');
}
