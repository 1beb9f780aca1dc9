import type pg from 'pg';
import type { Clock } from '../../base/clock.ts';
import { reach } from '../../base/faults.ts';
import { pause } from '../../base/pause.ts';
import type { CommittedRows } from '../whole-store.ts';
import { isEnvironmental, toStoreError, troubleOf, unknownOutcome } from './database-error.ts';
import { execute } from './pool.ts';
import type { TransactionTools } from './transaction.ts';
import { Transaction } from './transaction.ts';

/** What a group commit needs of the store around it. */
export interface Commitment extends TransactionTools {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  /** Values in [0, 1), so that two that were in each other's way do not meet again. */
  readonly random: () => number;
  /** Names the database in sentences. */
  readonly place: string;
  /** Called after the commit, before any caller is answered. */
  readonly tell: (told: CommittedRows) => void;
}

/** One thing to do within a transaction. It may be done twice. */
export type Operation<T> = (transaction: Transaction) => Promise<T>;

interface Pending {
  readonly run: Operation<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A commit of which nobody knows yet whether it took place. */
interface Unsure {
  readonly id: string;
  readonly told: CommittedRows;
}

/** How often the same batch is tried again because others were faster, and the longest pause before, in milliseconds. */
const mostConflicts = 12;
const longestPauseMs = 250;
/** How often it is tried again on another connection, when one broke before the commit. */
const mostLost = 1;
/** How often one asks for the fate of a commit before its callers are told that it is unknown; the pauses double. */
const mostQuestions = 5;
const firstQuestionMs = 100;

/**
 * One serializable transaction for all operations that came while the last one was under way, so that they share a commit.
 *
 * Operations run one after another, without a savepoint each. After an error of the database everything is rolled back and done again
 * with a savepoint an operation, so that only those that fail are refused. What others were faster with (40001, 40P01) is tried again
 * after a pause, a bounded number of times. One batch at a time, so the commits of a process are told in their order.
 */
export class GroupCommit {
  readonly #store: Commitment;
  #queue: Pending[] = [];
  #working: Promise<void> | undefined;
  #unsure: Unsure | undefined;

  constructor(store: Commitment) {
    this.#store = store;
  }

  /** Runs `operation` within the next commit. */
  submit<T>(operation: Operation<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run: operation, resolve: resolve as (value: unknown) => void, reject });
      this.#working ??= this.#work();
    });
  }

  /** Resolves when nothing is waiting to be committed. */
  async drained(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #work(): Promise<void> {
    // Everything that this turn of the event loop submits.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      const outcomes = await this.#commit(batch);
      batch.forEach((pending, i) => answer(pending, outcomes[i] as Outcome));
      // Callers that go on at once have put their next operation into the queue by then.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#working = undefined;
  }

  async #commit(batch: readonly Pending[]): Promise<Outcome[]> {
    let isCareful = false;
    for (let conflicts = 0, lost = 0; ; ) {
      try {
        return await this.#attempt(batch, isCareful);
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble === 'conflict' && conflicts < mostConflicts) await this.#backOff(conflicts++);
        else if (trouble === 'lost' && lost < mostLost) lost++;
        else if (isEnvironmental(error) || trouble === 'conflict')
          return failing(batch, toStoreError(error as Error, this.#store.place));
        else if (isCareful || batch.length === 1) return failing(batch, error);
        else isCareful = true;
      }
    }
  }

  #backOff(conflicts: number): Promise<void> {
    const { clock, random } = this.#store;
    return pause(clock, random() * Math.min(longestPauseMs, 5 * 2 ** conflicts));
  }

  async #attempt(batch: readonly Pending[], isCareful: boolean): Promise<Outcome[]> {
    const client = await this.#store.pool.connect();
    let broken: Error | undefined;
    try {
      await this.#settle(client);
      await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
      const transaction = new Transaction(client, this.#store);
      const outcomes: Outcome[] = [];
      for (const pending of batch)
        outcomes.push(
          await (isCareful ? inSavepoint(client, transaction, pending) : plainly(transaction, pending)),
        );
      const { told, id } = await transaction.finish();
      reach('commit.before');
      const error = await this.#end(client, id, told);
      if (error) return failing(batch, error);
      this.#tell(told);
      return outcomes;
    } catch (error) {
      broken = await rolledBack(client, error);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Commits. When the connection breaks meanwhile, finds out what came of it; answers what callers are told when it cannot. */
  async #end(client: pg.PoolClient, id: string | null, told: CommittedRows): Promise<unknown> {
    try {
      await client.query('COMMIT');
      return undefined;
    } catch (error) {
      if (troubleOf(error) !== 'lost' || id === null) throw error;
      this.#unsure = { id, told };
      for (let question = 0; question < mostQuestions; question++) {
        await pause(this.#store.clock, firstQuestionMs * 2 ** question);
        const isCommitted = await this.#fateOf(id).catch(() => undefined);
        if (isCommitted === undefined) continue;
        this.#unsure = undefined;
        if (isCommitted) return undefined;
        throw error;
      }
      return unknownOutcome(this.#store.place, error);
    }
  }

  /** Tells what was committed while nobody could hear that it was, before anything else is decided. */
  async #settle(client: pg.PoolClient): Promise<void> {
    if (!this.#unsure) return;
    const { id, told } = this.#unsure;
    const isCommitted = await fate(client, id);
    if (isCommitted === undefined) throw new Error('Connection terminated: its last transaction still ends');
    this.#unsure = undefined;
    if (isCommitted) this.#tell(told);
  }

  async #fateOf(id: string): Promise<boolean | undefined> {
    return fate(this.#store.pool, id);
  }

  // What is committed is never undone or replayed: a listener that throws is a bug that surfaces by itself.
  #tell(told: CommittedRows): void {
    try {
      reach('commit.after');
      this.#store.tell(told);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** What PostgreSQL says of a transaction that a server which died had begun, and of which nothing had reached the disk. */
const isInTheFuture = '22023';

/** Whether a transaction was committed; undefined while it is under way. */
async function fate(client: pg.Pool | pg.PoolClient, id: string): Promise<boolean | undefined> {
  const asked = execute(client, 'SELECT pg_xact_status($1::TEXT::xid8)', [id]);
  const { rows } = await asked.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === isInTheFuture)
      return { rows: [['aborted']] };
    throw error;
  });
  const [status] = rows[0] ?? [];
  return status === 'in progress' ? undefined : status === 'committed';
}

/** A bug of an operation that asked nothing wrong of the database leaves the transaction as it was. */
async function plainly(transaction: Transaction, pending: Pending): Promise<Outcome> {
  try {
    return { value: await pending.run(transaction) };
  } catch (error) {
    if (transaction.isBroken) throw error;
    return { error };
  }
}

async function inSavepoint(
  client: pg.PoolClient,
  transaction: Transaction,
  pending: Pending,
): Promise<Outcome> {
  const mark = transaction.mark();
  await client.query('SAVEPOINT operation');
  try {
    const value = await pending.run(transaction);
    await transaction.write();
    await client.query('RELEASE SAVEPOINT operation');
    return { value };
  } catch (error) {
    if (isEnvironmental(error) || troubleOf(error) === 'conflict') throw error;
    await client.query('ROLLBACK TO SAVEPOINT operation');
    transaction.cutBack(mark);
    return { error };
  }
}

/** Rolls back. Answers the error when the connection is of no use any more. */
async function rolledBack(client: pg.PoolClient, error: unknown): Promise<Error | undefined> {
  if (troubleOf(error) === 'lost') return error as Error;
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (failure) {
    return failure as Error;
  }
}

function failing(batch: readonly Pending[], error: unknown): Outcome[] {
  return batch.map(() => ({ error }));
}

function answer(pending: Pending, outcome: Outcome): void {
  if ('error' in outcome) pending.reject(outcome.error);
  else pending.resolve(outcome.value);
}
