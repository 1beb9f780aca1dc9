import type { Clock } from '../../base/clock.ts';
import type { DriverEvent } from '../port.ts';
import type { Missed } from './catch-up.ts';
import { type Floor, isNews } from './floor.ts';
import { type Reduced, reduce } from './reduce.ts';
import type { ThreadState } from './thread-state.ts';
import type { Context } from './turn-changes.ts';
import type { Signal } from './wire.ts';

/** What a stream needs from around it. None of it may throw. */
export interface StreamHost {
  readonly clock: Clock;
  readonly emit: (event: DriverEvent) => void;
  /** Called before the events of a change are emitted. */
  readonly onChange: (before: ThreadState, after: ThreadState) => void;
  /** Which commands run in the background of these threads; undefined when that cannot be learned. */
  readonly look: (threadIds: readonly string[]) => Promise<ReadonlySet<string> | undefined>;
  /** More was heard than can be kept while waiting: what is kept is gone, and the record has to be read. */
  readonly onOverflow: () => void;
}

type Entry =
  | { readonly signal: Signal; readonly context: Context }
  /** Something that has its place in the order of what was heard, such as a question. */
  | { readonly run: () => void };

interface Waiter {
  readonly look: () => boolean;
}

const longestQueue = 100_000;

/**
 * Reduces what is heard of one thread, strictly in order, and emits what it means. While the record is read (`hold`) and
 * while a turn's end waits for a look at its background work, whatever follows waits as well.
 */
export class ThreadStream {
  readonly #host: StreamHost;
  #state: ThreadState;
  #queue: Entry[] = [];
  #isHeld = false;
  #isLooking = false;
  #isClosed = false;
  #waiters: Waiter[] = [];

  constructor(state: ThreadState, host: StreamHost) {
    this.#state = state;
    this.#host = host;
  }

  /** The state after everything that was reduced so far. */
  get state(): ThreadState {
    return this.#state;
  }

  /** Takes in one signal, behind everything that was heard before. */
  push(signal: Signal, context: Context = {}): void {
    this.#add({ signal, context });
  }

  /** Runs something behind everything that was heard before. */
  inOrder(run: () => void): void {
    this.#add({ run });
  }

  /** Changes the state at once, for what we do ourselves. */
  update(change: (state: ThreadState) => Reduced | ThreadState): void {
    if (this.#isClosed) return;
    const changed = change(this.#state);
    this.#accept('events' in changed ? changed : { state: changed, events: [] });
    this.#wake();
  }

  /** Keeps what is heard from now on until `release`. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Takes in what was missed, before what was heard meanwhile. `floor`: only for the first reading of a thread. */
  release(missed: Missed | undefined, floor?: Floor): void {
    const heard = this.#queue;
    if (missed) {
      if (floor) this.#takeBoundary(missed, floor);
      const signals = floor ? missed.signals : [...missed.boundary, ...missed.signals];
      this.#queue = signals.map((signal): Entry => ({ signal, context: { isReplay: true } }));
      // What was read and what was heard overlap.
      for (const entry of heard)
        this.#queue.push('run' in entry ? entry : { ...entry, context: { isReplay: true } });
    }
    this.#isHeld = false;
    this.#pump();
  }

  /** Resolves with what `read` gives as soon as it is defined, or with undefined at the deadline or when closed. */
  until<Value>(
    read: (state: ThreadState) => Value | undefined,
    timeoutMs: number,
  ): Promise<Value | undefined> {
    return new Promise((resolve) => {
      const finish = (value: Value | undefined): void => {
        cancel();
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        resolve(value);
      };
      const cancel = this.#host.clock.after(timeoutMs, () => finish(undefined));
      const waiter: Waiter = {
        look: () => {
          const value = read(this.#state);
          if (value === undefined && !this.#isClosed) return false;
          finish(value);
          return true;
        },
      };
      this.#waiters.push(waiter);
      waiter.look();
    });
  }

  /** Resolves when everything heard so far was reduced, or at the deadline; says which. */
  async flushed(timeoutMs: number): Promise<boolean> {
    let isThrough = false;
    this.inOrder(() => {
      isThrough = true;
    });
    return (await this.until(() => (isThrough ? true : undefined), timeoutMs)) ?? false;
  }

  /** Emits nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#wake();
  }

  #add(entry: Entry): void {
    if (this.#isClosed) return;
    if (this.#queue.length >= longestQueue) {
      this.#queue = [];
      return this.#host.onOverflow();
    }
    this.#queue.push(entry);
    this.#pump();
  }

  #pump(): void {
    while (!this.#isHeld && !this.#isLooking && !this.#isClosed) {
      const entry = this.#queue.shift();
      if (!entry) break;
      if ('run' in entry) entry.run();
      else if (this.#needsLook(entry.signal)) void this.#reduceAfterLook(entry.signal, entry.context);
      else this.#accept(reduce(this.#state, entry.signal, entry.context));
    }
    this.#wake();
  }

  /** At a turn's end, commands that were started and not ended either live on or were lost; only Codex knows. */
  #needsLook(signal: Signal): boolean {
    if (signal.type !== 'turnCompleted' || isKnownEnd(this.#state, signal.turnId)) return false;
    const isOwn = signal.threadId === this.#state.threadId;
    return [...this.#state.commands.values()].some(
      (command) => isOwn || command.threadId === signal.threadId,
    );
  }

  async #reduceAfterLook(signal: Signal, context: Context): Promise<void> {
    this.#isLooking = true;
    const { commands } = this.#state;
    const living = await this.#host.look([
      ...new Set([...commands.values()].map((command) => command.threadId)),
    ]);
    // What ends while we look was alive at the turn's end: it is a task, and its end is the next thing to be heard.
    const endedSince = new Set(
      this.#queue.flatMap((entry) =>
        'signal' in entry && entry.signal.type === 'itemCompleted' ? [entry.signal.item.id] : [],
      ),
    );
    const isDead = (itemId: string): boolean =>
      living !== undefined && !living.has(itemId) && !endedSince.has(itemId);
    this.#isLooking = false;
    if (this.#isClosed) return;
    const deadCommands = new Set([...commands.keys()].filter(isDead));
    this.#accept(reduce(this.#state, signal, { ...context, deadCommands }));
    this.#pump();
  }

  #accept({ state, events }: Reduced): void {
    const before = this.#state;
    this.#state = state;
    if (state !== before) this.#host.onChange(before, state);
    for (const event of events) if (!this.#isClosed) this.#host.emit(event);
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter.look();
  }

  /** Positions within the boundary turn say which of its events were processed; a text of ours is never left out. */
  #takeBoundary(missed: Missed, floor: Floor): void {
    let state: ThreadState = { ...this.#state, position: 0, ended: [...missed.ended, ...this.#state.ended] };
    const events: DriverEvent[] = [];
    for (const signal of missed.boundary) {
      const reduced = reduce(state, signal, { isReplay: true });
      state = reduced.state;
      const news = reduced.events.filter((event) => isNews(event, floor));
      events.push(...news.map((event) => ({ ...event, position: Math.max(event.position, floor.position) })));
    }
    this.#accept({ state: { ...state, position: Math.max(state.position, floor.position) }, events });
  }
}

function isKnownEnd(state: ThreadState, turnId: string): boolean {
  return state.ended.includes(turnId) || state.endedAgentTurns.includes(turnId);
}
