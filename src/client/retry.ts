import type { Clock } from '../base/clock.ts';
import { type ErrorCode, StemmaError } from '../base/errors.ts';
import { pauseOrThrow } from '../base/pause.ts';

/** How long a wait or a stream goes on asking a server that went away: a restart takes a few seconds; milliseconds. */
const patienceMs = 30_000;

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** The errors after which the same request may succeed a little later: a server restarts, or finds its agents again. */
const passing: ReadonlySet<string> = new Set(['UNREACHABLE', 'RECOVERING', 'STOPPING'] satisfies ErrorCode[]);

/**
 * Counts the time since a server was last heard of, and pauses longer from try to try. `failed` throws the error it is
 * given when that is not a passing one, or when the patience is used up; `succeeded` starts over. A server that was never
 * reached at all gets no patience: most likely there is none.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #limitMs: number;
  #since: number | undefined;
  #answered = false;
  #pauseMs = firstPauseMs;

  constructor(clock: Clock, limitMs = patienceMs) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  succeeded(): void {
    this.#answered = true;
    this.#since = undefined;
    this.#pauseMs = firstPauseMs;
  }

  /** Whether `failed` would pause for this error, not throw it. */
  hasPatience(thrown: unknown): boolean {
    const { code, data } = thrown instanceof StemmaError ? thrown : new StemmaError('INTERNAL', '');
    this.#answered ||= code !== 'UNREACHABLE' || data['wasReached'] === true;
    const now = this.#clock.monotonic();
    const isUsedUp = now - (this.#since ?? now) >= this.#limitMs;
    return passing.has(code) && this.#answered && !isUsedUp;
  }

  async failed(thrown: unknown, signal?: AbortSignal, atLeastMs = 0): Promise<void> {
    signal?.throwIfAborted();
    this.#since ??= this.#clock.monotonic();
    if (!this.hasPatience(thrown)) throw thrown;
    const pauseMs = Math.max(this.#pauseMs, atLeastMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    await pauseOrThrow(this.#clock, pauseMs, signal);
  }
}

/** Does what a server that was heard of a moment ago is asked for, over a restart of it. `ask` may be called again. */
export async function askPatiently<T>(clock: Clock, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const patience = new Patience(clock);
  patience.succeeded();
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      await patience.failed(thrown, signal);
    }
  }
}
