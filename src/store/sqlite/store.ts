import type { Clock } from '../../base/clock.ts';
import { StemmaError } from '../../base/errors.ts';
import type { Rule } from '../../ledger/decision.ts';
import type { LedgerEvent, Wake } from '../../ledger/effects.ts';
import type { Asking } from '../../ledger/questions.ts';
import { answerAll } from '../../ledger/questions.ts';
import type { Decided } from '../../ledger/store.ts';
import type { FinishedWake, WakeRow } from '../../wakeups/rows.ts';
import { applyEffects, mergeWakes } from '../apply.ts';
import { makeDatabaseId } from '../cursor.ts';
import type { Records } from '../records.ts';
import type { EventLog, RecoveryViews, Views } from '../views.ts';
import type { CommittedRows, WholeStore } from '../whole-store.ts';
import { SqlAnswers } from '../sql/answer.ts';
import { sqlRecords } from '../sql/records.ts';
import { sqlRecoveryViews, sqlViews } from '../sql/views.ts';
import type { WakeStatements } from '../sql/wake-statements.ts';
import { wakeStatements } from '../sql/wake-statements.ts';
import { largestLogPages } from './checkpoints.ts';
import { DatabaseError, isEnvironmental, toStoreError } from './database-error.ts';
import type { Database } from './driver.ts';
import { openDatabase } from './driver.ts';
import type { Commitment, Mark } from './group-commit.ts';
import { GroupCommit } from './group-commit.ts';
import type { EventStatements } from './event-statements.ts';
import { eventStatements } from './event-statements.ts';
import { migrate } from './migrate.ts';
import { SqliteTables } from './tables.ts';

/** How to open the one database of a data directory. */
export interface SqliteOptions {
  /** The file; its directory must exist. */
  readonly file: string;
  readonly clock: Clock;
  /** Values in [0, 1), for the id of a new database. */
  readonly random: () => number;
  /** Forces a library; else `STEMMA_SQLITE`, else what this Node has. */
  readonly library?: 'libsql' | 'node' | undefined;
}

/** Memory that SQLite may use for pages, in KiB. */
const pageCacheKib = 65_536;
/** How long to wait for another process that locks the file, in milliseconds. */
const busyTimeoutMs = 2_000;

/**
 * Opens, or makes, the database and brings its schema up to date. One process, one connection: the caller owns the lock
 * of the data directory. Rejects with `DATA_DIR_UNUSABLE`, `DISK_FULL`, `SCHEMA_TOO_NEW` or `SCHEMA_DRIFT`.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const { file, clock, random, library } = options;
  try {
    const db = await openDatabase(file, library);
    return openStoreOn(db, file, clock, random);
  } catch (error) {
    if (error instanceof DatabaseError) throw toStoreError(error, file);
    throw error;
  }
}

/** The store on an open connection, which it then owns; closed when this throws. */
export function openStoreOn(db: Database, file: string, clock: Clock, random: () => number): SqliteStore {
  try {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA synchronous = FULL');
    db.exec('PRAGMA foreign_keys = ON');
    db.exec(`PRAGMA wal_autocheckpoint = ${largestLogPages}`);
    db.exec(`PRAGMA cache_size = -${pageCacheKib}`);
    db.exec('PRAGMA temp_store = MEMORY');
    migrate(db, clock.now());
    return new SqliteStore(db, file, clock, databaseIdOf(db, random));
  } catch (error) {
    db.close();
    throw error;
  }
}

function databaseIdOf(db: Database, random: () => number): string {
  const [known] = db.prepare("SELECT value FROM meta WHERE key = 'database_id'").row([]) ?? [];
  if (known) return String(known);
  const made = makeDatabaseId(random);
  db.prepare("INSERT INTO meta (key, value) VALUES ('database_id', ?)").run([made]);
  return made;
}

/** The durable ledger on SQLite, with the views, records and wake-up rows of the same database. */
export class SqliteStore implements WholeStore {
  readonly databaseId: string;
  readonly views: Views;
  readonly recovery: RecoveryViews;
  readonly events: EventLog;
  readonly records: Records;
  /** Which library it runs on. */
  readonly library: 'libsql' | 'node';
  readonly #db: Database;
  readonly #file: string;
  readonly #clock: Clock;
  readonly #tables: SqliteTables;
  readonly #answers: SqlAnswers;
  readonly #eventLog: EventStatements;
  readonly #wakes: WakeStatements;
  readonly #commits: GroupCommit<CommittedRows>;
  readonly #journal: { events: LedgerEvent[]; wakes: Wake[] } = { events: [], wakes: [] };
  readonly #answer = (question: Parameters<SqlAnswers['answer']>[0]): unknown =>
    this.#answers.answer(question);
  #listeners: ((committed: CommittedRows) => void)[] = [];
  #closing: Promise<void> | undefined;

  constructor(db: Database, file: string, clock: Clock, databaseId: string) {
    this.#db = db;
    this.#file = file;
    this.#clock = clock;
    this.library = db.library;
    this.databaseId = databaseId;
    this.#tables = new SqliteTables(db);
    this.#answers = new SqlAnswers(db, this.#tables);
    this.#eventLog = eventStatements(db);
    this.#wakes = wakeStatements(db);
    this.#commits = new GroupCommit(db, this.#commitment(), file);
    const read = <T>(query: () => T): Promise<T> => this.#reading(query);
    this.views = sqlViews(db, this.#tables, read);
    this.recovery = sqlRecoveryViews(db, this.#tables, read);
    this.events = {
      databaseId,
      eventsSince: (sequence, filter, limit) => read(() => this.#eventLog.since(sequence, filter, limit)),
      lastSequence: () => read(() => this.#eventLog.last()),
    };
    this.records = sqlRecords(db, read, (write) => this.#writing(write));
  }

  decide<T>(rule: () => Rule<T>): Promise<Decided<T>> {
    return this.#writing(() => this.#decided(rule));
  }

  read<T>(asking: () => Asking<T>): Promise<T> {
    return this.#reading(() => answerAll(asking(), this.#answer));
  }

  onCommit(listener: (committed: CommittedRows) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  dueWakes(after: number, until: number): Promise<WakeRow[]> {
    return this.#reading(() => this.#wakes.due(after, until));
  }

  nextWake(after: number): Promise<number | undefined> {
    return this.#reading(() => this.#wakes.next(after));
  }

  finishWake(wake: FinishedWake, next: number | null): Promise<boolean> {
    const { remove, postpone } = this.#wakes;
    return this.#writing(() => (next === null ? remove(wake) : postpone(wake, next)));
  }

  close(): Promise<void> {
    this.#closing ??= this.#commits.drained().then(() => this.#db.close());
    return this.#closing;
  }

  #decided<T>(rule: () => Rule<T>): Decided<T> {
    const decision = answerAll(rule(), this.#answer);
    if (!decision.ok) return decision;
    applyEffects(decision.effects, this.#tables, this.#journal, this.#clock.now());
    return { ok: true, value: decision.value };
  }

  #commitment(): Commitment<CommittedRows> {
    return {
      mark: (): Mark => ({ events: this.#journal.events.length, wakes: this.#journal.wakes.length }),
      cutBack: (mark) => {
        this.#journal.events.length = mark?.events ?? 0;
        this.#journal.wakes.length = mark?.wakes ?? 0;
        this.#tables.clear();
        this.#eventLog.forget();
      },
      write: () => this.#write(),
      tell: (told) => this.#tell(told),
      describe: (error) => toStoreError(error, this.#file),
    };
  }

  #write(): CommittedRows {
    const { events, wakes } = this.#journal;
    return {
      events: events.length === 0 ? [] : this.#eventLog.append(events),
      wakes: wakes.length === 0 ? [] : mergeWakes(wakes).map((wake) => this.#wakes.owe(wake)),
    };
  }

  #tell(told: CommittedRows): void {
    this.#journal.events.length = 0;
    this.#journal.wakes.length = 0;
    for (const listener of this.#listeners) listener(told);
  }

  #writing<T>(write: () => T): Promise<T> {
    if (this.#closing) return Promise.reject(closedError());
    return this.#commits.submit(write);
  }

  async #reading<T>(query: () => T): Promise<T> {
    if (this.#closing) throw closedError();
    try {
      return query();
    } catch (error) {
      throw isEnvironmental(error) ? toStoreError(error, this.#file) : error;
    }
  }
}

function closedError(): StemmaError {
  return new StemmaError('STOPPING', 'The store is closed; nothing more is taken.');
}
