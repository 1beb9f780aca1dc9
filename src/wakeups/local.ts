import { setMaxListeners } from 'node:events';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { reach } from '../base/faults.ts';
import type { Wake } from '../ledger/effects.ts';
import type { HandleWake, Wakeups } from '../ledger/wakeups.ts';
import type { WakeRow, WakeRows } from './rows.ts';

/** What the wake-ups of one process need. */
export interface LocalWakeupsOptions {
  readonly store: WakeRows;
  readonly clock: Clock;
  /** Told of a handler that failed, as an alarm: `what` is `wakeup.failed`. Must not throw. */
  readonly report?: (what: string, data: Readonly<Record<string, unknown>>) => void;
  /** Handlers that run at once; more wait, first in first out. Default 64. */
  readonly concurrency?: number;
}

/** Back-off after the first failure, and the longest one, in milliseconds. */
const firstBackOffMs = 1_000;
const longestBackOffMs = 60_000;
/**
 * The timer is set again at least this often, in milliseconds, without asking the database: a machine that slept, or
 * whose clock was set, must not be late by as much.
 */
const longestSleepMs = 60_000;
const nothingTaken = Number.MIN_SAFE_INTEGER;

/**
 * Wake-ups on rows of the ledger's own database: due ones are called as soon as the commit that owes them has returned,
 * later ones by one timer for the earliest. Nothing is polled. The rows are the guarantee, this is the speed.
 */
export function localWakeups(options: LocalWakeupsOptions): Wakeups {
  return new LocalWakeups(options);
}

/** One wake-up that is in this process's hands. Later ones live in the database alone. */
interface Entry extends Wake {
  /** The newest revision heard of. */
  revision: number;
  state: 'ready' | 'running' | 'resting';
  /** The earliest instant asked for since its handler began. */
  again: number | null;
  /** Failures in a row. */
  failures: number;
  /** Until when it rests after a failure. */
  restsUntil: number;
}

class LocalWakeups implements Wakeups {
  readonly #store: WakeRows;
  readonly #clock: Clock;
  readonly #report: NonNullable<LocalWakeupsOptions['report']>;
  readonly #concurrency: number;
  readonly #entries = new Map<string, Entry>();
  #ready: Entry[] = [];
  readonly #running = new Set<Promise<void>>();
  /** What lasts: it has no part in `concurrency`. */
  readonly #lasting = new Set<Promise<void>>();
  #handle: HandleWake | undefined;
  #stopping = new AbortController();
  #unsubscribe: (() => void) | undefined;
  /** Rows due until here were taken into this process's hands. */
  #takenUntil = nothingTaken;
  #timer: { readonly at: number; readonly cancel: CancelTimer } | undefined;
  #pumps = false;
  #reading: Promise<void> = Promise.resolve();

  constructor({ store, clock, report, concurrency }: LocalWakeupsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report ?? ((): void => {});
    this.#concurrency = concurrency ?? 64;
  }

  async start(handle: HandleWake): Promise<void> {
    if (this.#handle) throw new Error('the wake-ups are started already');
    this.#handle = handle;
    this.#stopping = new AbortController();
    // As much listens as lasts.
    setMaxListeners(0, this.#stopping.signal);
    this.#unsubscribe = this.#store.onCommit(({ wakes }) => {
      for (const wake of wakes) this.#arrive(wake);
    });
    await this.#takeDue();
  }

  async stop(): Promise<void> {
    this.#handle = undefined;
    this.#unsubscribe?.();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#stopping.abort();
    await this.#reading;
    while (this.#running.size + this.#lasting.size > 0)
      await Promise.all([...this.#running, ...this.#lasting]);
    this.#entries.clear();
    this.#ready = [];
    // What this process had in its hands and did not handle is read again when it starts again.
    this.#takenUntil = nothingTaken;
  }

  #arrive(row: WakeRow): void {
    const entry = this.#entries.get(keyOf(row));
    if (!entry) {
      if (row.at <= this.#now()) this.#ready.push(this.#take(row));
      else this.#sleepUntil(row.at);
    } else {
      entry.revision = row.revision;
      if (entry.state === 'running') entry.again = Math.min(entry.again ?? row.at, row.at);
      else if (entry.state === 'resting' && row.at <= this.#now()) this.#makeReady(entry);
    }
    this.#pump();
  }

  #take(row: WakeRow): Entry {
    const entry: Entry = { ...row, state: 'ready', again: null, failures: 0, restsUntil: 0 };
    this.#entries.set(keyOf(row), entry);
    return entry;
  }

  #makeReady(entry: Entry): void {
    entry.state = 'ready';
    this.#ready.push(entry);
  }

  // After the commit's listeners, so that a handler never runs within one.
  #pump(): void {
    if (this.#pumps || this.#ready.length === 0) return;
    this.#pumps = true;
    queueMicrotask(() => {
      this.#pumps = false;
      let begun = 0;
      while (this.#handle && this.#running.size < this.#concurrency && begun < this.#ready.length) {
        this.#begin(this.#ready[begun++] as Entry);
      }
      if (begun > 0) this.#ready = this.#ready.slice(begun);
    });
  }

  #begin(entry: Entry): void {
    const work = this.#run(entry, this.#handle as HandleWake).finally(() => {
      this.#running.delete(work);
      this.#pump();
    });
    this.#running.add(work);
  }

  async #run(entry: Entry, handle: HandleWake): Promise<void> {
    entry.state = 'running';
    entry.again = null;
    const { kind, target, at } = entry;
    try {
      reach('wakeup.before');
      const answer = await handle({ kind, target, at }, this.#stopping.signal);
      if (answer) this.#last(entry, answer.lasts);
      else await this.#finish(entry);
    } catch (error) {
      this.#rest(entry, error);
    }
  }

  #last(entry: Entry, lasts: Promise<void>): void {
    const work = lasts
      .then(() => this.#finish(entry))
      .catch((error: unknown) => this.#rest(entry, error))
      .finally(() => {
        this.#lasting.delete(work);
        this.#pump();
      });
    this.#lasting.add(work);
  }

  /** Takes the row away unless it was owed again; what arrives while this waits for its commit is not lost either. */
  async #finish(entry: Entry): Promise<void> {
    entry.failures = 0;
    const { kind, target } = entry;
    for (;;) {
      const next = entry.again;
      if (next !== null && next <= this.#now()) return this.#makeReady(entry);
      const { revision } = entry;
      entry.again = null;
      const isDone = await this.#store.finishWake({ kind, target, revision }, next);
      const arrived: number | null = entry.again;
      if (isDone && next !== null && arrived === null) this.#sleepUntil(next);
      else if (isDone && arrived !== null && arrived > this.#now()) this.#sleepUntil(arrived);
      else if (isDone && arrived !== null) return this.#makeReady(entry);
      else if (!isDone && arrived !== null) {
        // The new revision was committed before this: what it asked for and what was asked before both count.
        entry.again = next === null ? arrived : Math.min(arrived, next);
        continue;
      }
      this.#entries.delete(keyOf(entry));
      return;
    }
  }

  #rest(entry: Entry, error: unknown): void {
    entry.failures++;
    const backOffMs = Math.min(longestBackOffMs, firstBackOffMs * 2 ** (entry.failures - 1));
    const { kind, target, failures } = entry;
    // What let go of something that lasts finds it again when it starts again.
    if (!this.#stopping.signal.aborted)
      this.#report('wakeup.failed', { kind, target, failures, backOffMs, error: String(error) });
    if (entry.again !== null && entry.again <= this.#now()) return this.#makeReady(entry);
    entry.state = 'resting';
    entry.restsUntil = this.#now() + backOffMs;
    this.#sleepUntil(entry.restsUntil);
  }

  #sleepUntil(at: number): void {
    if (!this.#handle) return;
    // The clock was set back: what was already looked at must be looked at again.
    if (at <= this.#takenUntil) this.#takenUntil = at - 1;
    if (this.#timer && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const cancel = this.#clock.after(Math.min(at - this.#now(), longestSleepMs), () => this.#ring());
    this.#timer = { at, cancel };
  }

  #ring(): void {
    const due = this.#timer?.at ?? 0;
    this.#timer = undefined;
    const now = this.#now();
    for (const entry of this.#entries.values()) {
      // What would rest for longer than any back-off was put off by a clock that was set back since.
      const isOver = entry.restsUntil <= now || entry.restsUntil > now + longestBackOffMs;
      if (entry.state === 'resting' && isOver) this.#makeReady(entry);
    }
    this.#pump();
    if (due > now) return this.#sleepUntil(due);
    this.#reading = this.#takeDue().catch((error: unknown) => {
      this.#report('wakeup.unread', { error: String(error) });
      this.#sleepUntil(this.#now() + firstBackOffMs);
    });
    this.#pump();
  }

  /** Takes every row that has become due, and sets the timer for what comes next. */
  async #takeDue(): Promise<void> {
    const until = this.#now();
    const rows = await this.#store.dueWakes(this.#takenUntil, until);
    this.#takenUntil = Math.max(this.#takenUntil, until);
    for (const row of rows) if (!this.#entries.has(keyOf(row))) this.#ready.push(this.#take(row));
    this.#pump();
    const next = await this.#store.nextWake(until);
    if (next !== undefined) this.#sleepUntil(next);
    for (const entry of this.#entries.values()) {
      if (entry.state === 'resting') this.#sleepUntil(entry.restsUntil);
    }
  }

  #now(): number {
    return this.#clock.now();
  }
}

function keyOf(wake: Pick<Wake, 'kind' | 'target'>): string {
  return `${wake.kind}:${wake.target}`;
}
