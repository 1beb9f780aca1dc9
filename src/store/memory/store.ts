import type { Clock } from '../../base/clock.ts';
import { StemmaError } from '../../base/errors.ts';
import { reach } from '../../base/faults.ts';
import type { Rule } from '../../ledger/decision.ts';
import type { LedgerEvent, Wake } from '../../ledger/effects.ts';
import type { Asking, Question } from '../../ledger/questions.ts';
import { answerAll } from '../../ledger/questions.ts';
import type { Decided, StoredEvent } from '../../ledger/store.ts';
import type { FinishedWake, WakeRow } from '../../wakeups/rows.ts';
import { applyEffects, mergeWakes } from '../apply.ts';
import type { Records } from '../records.ts';
import type { EventLog, RecoveryViews, Views } from '../views.ts';
import type { CommittedRows, WholeStore } from '../whole-store.ts';
import { answerFrom } from './answer.ts';
import { memoryRecords } from './records.ts';
import type { MemorySnapshot } from './state.ts';
import { emptySnapshot, MemoryState, wakeKey } from './state.ts';
import { MemoryTables } from './tables.ts';
import { memoryEventLog, memoryRecoveryViews, memoryViews } from './views.ts';

/** What a memory store needs from outside. */
export interface MemoryOptions {
  readonly clock: Clock;
  /** Part of every cursor. Default `MEMORY`. */
  readonly databaseId?: string;
}

/**
 * The ledger in memory, for simulations and tests: decisions are committed one by one, in the order in which they came,
 * each in a microtask of its own. It holds to every constraint of the SQL schema and dies with its process, unless it is
 * restored from a snapshot.
 */
export class MemoryStore implements WholeStore {
  readonly databaseId: string;
  readonly views: Views;
  readonly recovery: RecoveryViews;
  readonly events: EventLog;
  readonly records: Records;
  readonly #clock: Clock;
  readonly #state: MemoryState;
  readonly #tables: MemoryTables;
  readonly #answer = (question: Question): unknown => answerFrom(this.#state, question);
  #listeners: ((committed: CommittedRows) => void)[] = [];
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor({ clock, databaseId }: MemoryOptions, from?: MemorySnapshot) {
    this.#clock = clock;
    this.#state = new MemoryState(from ?? emptySnapshot(databaseId ?? 'MEMORY'));
    this.#tables = new MemoryTables(this.#state);
    this.databaseId = this.#state.databaseId;
    const read = <T>(query: () => T): Promise<T> => this.#reading(query);
    this.views = memoryViews(this.#state, read);
    this.recovery = memoryRecoveryViews(this.#state, read);
    this.events = memoryEventLog(this.#state, read);
    this.records = memoryRecords(this.#state, read, (write) => this.#writing(write));
  }

  /** A store that goes on from a snapshot, which stays as it is. */
  static restore(from: MemorySnapshot, options: MemoryOptions): MemoryStore {
    return new MemoryStore(options, from);
  }

  /** Everything that is committed now. Later commits do not change it. */
  snapshot(): MemorySnapshot {
    return this.#state.snapshot();
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
    return this.#reading(() =>
      [...this.#state.wakeups.values()]
        .filter((row) => row.at > after && row.at <= until)
        .sort((a, b) => a.at - b.at || (wakeKey(a) < wakeKey(b) ? -1 : 1)),
    );
  }

  nextWake(after: number): Promise<number | undefined> {
    return this.#reading(() => {
      const later = [...this.#state.wakeups.values()].map((row) => row.at).filter((at) => at > after);
      return later.length === 0 ? undefined : Math.min(...later);
    });
  }

  finishWake(wake: FinishedWake, next: number | null): Promise<boolean> {
    return this.#writing(() => {
      const row = this.#state.wakeups.get(wakeKey(wake));
      if (row?.revision !== wake.revision) return false;
      if (next === null) this.#state.removeWake(row);
      else this.#state.putWake({ ...row, at: next });
      this.#state.keep();
      return true;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#tail;
  }

  #decided<T>(rule: () => Rule<T>): Decided<T> {
    const decision = answerAll(rule(), this.#answer);
    if (!decision.ok) return decision;
    reach('commit.before');
    const journal = { events: [] as LedgerEvent[], wakes: [] as Wake[] };
    try {
      applyEffects(decision.effects, this.#tables, journal, this.#clock.now());
      this.#tables.finish();
    } catch (error) {
      this.#tables.forget();
      this.#state.takeBack();
      throw error;
    }
    const committed = {
      events: journal.events.map((event) => this.#append(event)),
      wakes: this.#owe(journal.wakes),
    };
    this.#state.keep();
    reach('commit.after');
    for (const listener of this.#listeners) listener(committed);
    return { ok: true, value: decision.value };
  }

  #append(event: LedgerEvent): StoredEvent {
    const stored = { ...event, sequence: (this.#state.events.at(-1)?.sequence ?? 0) + 1 };
    this.#state.events.push(stored);
    return stored;
  }

  #owe(wakes: readonly Wake[]): WakeRow[] {
    return mergeWakes(wakes).map((wake) => {
      const row = this.#state.wakeups.get(wakeKey(wake));
      const revision = (row?.revision ?? 0) + 1;
      this.#state.putWake({ ...wake, at: Math.min(wake.at, row?.at ?? wake.at), revision });
      return { ...wake, revision };
    });
  }

  #writing<T>(write: () => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(closedError());
    const done = this.#tail.then(write);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  async #reading<T>(query: () => T): Promise<T> {
    if (this.#isClosed) throw closedError();
    return query();
  }
}

function closedError(): StemmaError {
  return new StemmaError('STOPPING', 'The store is closed; nothing more is taken.');
}
