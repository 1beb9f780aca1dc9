import { reach } from '../../base/faults.ts';
import { Checkpoints } from './checkpoints.ts';
import type { DatabaseError } from './database-error.ts';
import { isEnvironmental } from './database-error.ts';
import type { Database, Statement } from './driver.ts';

/**
 * What a group commit needs of the store around it. `Told` is what a commit has to tell: events and wake-ups.
 * None of these may await anything.
 */
export interface Commitment<Told> {
  /** Where the next operation's journal begins, to cut it back to when that operation fails. */
  mark(): Mark;
  /** Drops what operations since `mark` had to tell, or all had, and whatever is remembered of rows. */
  cutBack(mark?: Mark): void;
  /** Writes what is to be told as part of the transaction, and answers it. */
  write(): Told;
  /** Called after COMMIT returned, before any caller is answered. */
  tell(told: Told): void;
  /** What a caller is told when the environment fails. */
  describe(error: DatabaseError): unknown;
}

/** Operations of a commit from which its writes are checked together. */
const checkedTogether = 8;

/** How much there was to tell. */
export interface Mark {
  readonly events: number;
  readonly wakes: number;
}

interface Pending {
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * One BEGIN IMMEDIATE … COMMIT for all operations of an event-loop turn, so that they share one fsync.
 *
 * Operations run plain, without a savepoint each, since they hardly ever fail. A constraint error aborts only its
 * statement, and COMMIT would keep the half of an operation that came before it; so after any error the whole batch is
 * rolled back and replayed once with a savepoint an operation, and only those that fail are refused. Operations are pure
 * functions of the state for that reason. When the environment fails (a full disk, an I/O error) all are refused.
 *
 * The queue is not bounded here: each caller waits for its own answer, so it is as long as there are callers.
 */
export class GroupCommit<Told> {
  readonly #db: Database;
  readonly #store: Commitment<Told>;
  readonly #checkpoints: Checkpoints;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #savepoint: Statement;
  readonly #release: Statement;
  readonly #rollbackTo: Statement;
  #queue: Pending[] = [];
  #isScheduled = false;
  #rests = false;
  #idle: (() => void)[] = [];

  constructor(db: Database, store: Commitment<Told>, file: string) {
    this.#db = db;
    this.#store = store;
    this.#checkpoints = new Checkpoints(db, file);
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
    this.#savepoint = db.prepare('SAVEPOINT operation');
    this.#release = db.prepare('RELEASE operation');
    this.#rollbackTo = db.prepare('ROLLBACK TO operation');
  }

  /** Runs `operation` within the next commit. It may be run twice, and must not await. */
  submit<T>(operation: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run: operation, resolve: resolve as (value: unknown) => void, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => this.#flush());
    });
  }

  /** Resolves when nothing is waiting to be committed. */
  drained(): Promise<void> {
    if (!this.#isScheduled && !this.#rests) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #flush(): void {
    const batch = this.#queue;
    this.#queue = [];
    this.#isScheduled = false;
    let outcomes: Outcome[];
    try {
      outcomes = this.#commitBatch(batch);
    } catch (error) {
      outcomes = batch.map(() => ({ error }));
    }
    batch.forEach((pending, i) => answer(pending, outcomes[i] as Outcome));
    this.#checkpoints.committed(batch.length);
    // Callers that go on at once have put their next operation into the queue by then.
    if (this.#rests) return;
    this.#rests = true;
    setImmediate(() => this.#rest());
  }

  #rest(): void {
    this.#rests = false;
    if (this.#isScheduled) return;
    this.#checkpoints.pause();
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  #commitBatch(batch: readonly Pending[]): Outcome[] {
    try {
      return this.#attempt(batch, (pending) => ({ value: pending.run() }));
    } catch (error) {
      if (isEnvironmental(error)) throw this.#store.describe(error);
      if (batch.length === 1) return [{ error }];
    }
    try {
      return this.#attempt(batch, (pending) => this.#inSavepoint(pending));
    } catch (error) {
      if (isEnvironmental(error)) throw this.#store.describe(error);
    }
    // A reference that is checked at COMMIT only: nothing but a commit of its own tells whose it is.
    return batch.map((pending) => this.#alone(pending));
  }

  #alone(pending: Pending): Outcome {
    try {
      return this.#attempt([pending], (one) => ({ value: one.run() }))[0] as Outcome;
    } catch (error) {
      return { error: isEnvironmental(error) ? this.#store.describe(error) : error };
    }
  }

  #attempt(batch: readonly Pending[], run: (pending: Pending) => Outcome): Outcome[] {
    let told: Told;
    const outcomes: Outcome[] = [];
    try {
      this.#begin.run([]);
      this.#db.checkEach(batch.length < checkedTogether);
      for (const pending of batch) outcomes.push(run(pending));
      told = this.#store.write();
      this.#db.checkWrites();
      reach('commit.before');
      this.#commit.run([]);
    } catch (error) {
      this.#abort();
      throw error;
    }
    this.#publish(told);
    return outcomes;
  }

  // What is committed is never undone or replayed: a listener that throws is a bug that surfaces by itself.
  #publish(told: Told): void {
    try {
      reach('commit.after');
      this.#store.tell(told);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #inSavepoint(pending: Pending): Outcome {
    const mark = this.#store.mark();
    this.#savepoint.run([]);
    try {
      const value = pending.run();
      this.#db.checkWrites();
      this.#release.run([]);
      return { value };
    } catch (error) {
      // A full disk has rolled the whole transaction back: there is no savepoint any more.
      if (isEnvironmental(error) || !this.#db.inTransaction) throw error;
      this.#rollbackTo.run([]);
      this.#release.run([]);
      this.#store.cutBack(mark);
      return { error };
    }
  }

  #abort(): void {
    try {
      if (this.#db.inTransaction) this.#rollback.run([]);
    } finally {
      this.#store.cutBack();
    }
  }
}

function answer(pending: Pending, outcome: Outcome): void {
  if ('error' in outcome) pending.reject(outcome.error);
  else pending.resolve(outcome.value);
}
