import type { CancelTimer, Clock } from '../../base/clock.ts';

/** How long pi may take to load the conversation again. Milliseconds. */
const patienceMs = 20_000;
/** pi takes up its queue within a moment of a compaction's end. Milliseconds. */
const stallMs = 1000;

/** What the dropping of a queue needs from its conversation. */
export interface LeftoverOwner {
  /** Whether this drop was asked for, by us or by who had the conversation before us. */
  readonly wasAsked: (at: number) => boolean;
  /** Makes pi load the conversation again; `at` is the position of the end that left the queue. */
  readonly ask: (at: number) => void;
  /** Asks whether pi is still idle at this end. */
  readonly look: (at: number) => void;
  /** Ends the process: a dead one takes up nothing, so that is the last way to be certain. */
  readonly end: (why: string) => void;
}

/**
 * Texts that no run took up stay in pi's queue for its next run. Loading the conversation again makes pi forget them. It is
 * asked for once at each end, since a second one could hit the next turn.
 */
export class Leftover {
  readonly #clock: Clock;
  readonly #owner: LeftoverOwner;
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock, owner: LeftoverOwner) {
    this.#clock = clock;
    this.#owner = owner;
  }

  /** Something is queued at this end. */
  drop(at: number): void {
    if (this.#owner.wasAsked(at)) return;
    this.#watch();
    this.#owner.ask(at);
  }

  /** Something is queued at this end, which pi should take up by itself. */
  lookAgain(at: number): void {
    if (this.#owner.wasAsked(at)) return;
    this.stop();
    this.#cancel = this.#clock.after(stallMs, () => this.#owner.look(at));
  }

  /** Whether an earlier owner asked for it already; then the answer is waited for. */
  resume(at: number): boolean {
    const wasAsked = this.#owner.wasAsked(at);
    if (wasAsked) this.#watch();
    return wasAsked;
  }

  /** It cannot be had. */
  giveUp(why: string): void {
    this.stop();
    this.#owner.end(why);
  }

  /** Nothing is waited for any more. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #watch(): void {
    this.stop();
    this.#cancel = this.#clock.after(patienceMs, () => this.giveUp('it does not load the conversation'));
  }
}
