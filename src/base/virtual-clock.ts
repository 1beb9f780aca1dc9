import type { CancelTimer, Clock } from './clock.ts';

/** A clock that moves only when told to: the simulator and the tests live on it. */
export class VirtualClock implements Clock {
  #now: number;
  #sequence = 0;
  #timers: { at: number; order: number; fire: () => void }[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  /** UTC milliseconds: the start, and whatever was moved since. */
  now(): number {
    return this.#now;
  }

  /** The same time: a virtual clock is never set. */
  monotonic(): number {
    return this.#now;
  }

  /** Timers of one instant fire in the order in which they were set. */
  after(delayMs: number, fire: () => void): CancelTimer {
    const timer = { at: this.#now + Math.max(0, delayMs), order: this.#sequence++, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** When the next timer is due, or undefined when none is armed. */
  nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** Moves to the next timer and fires it; false when none is armed. */
  step(): boolean {
    const next = this.#next();
    if (!next) return false;
    this.#timers = this.#timers.filter((other) => other !== next);
    this.#now = Math.max(this.#now, next.at);
    next.fire();
    return true;
  }

  /** Moves forward by `ms`, firing whatever falls due on the way, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let at = this.nextAt(); at !== undefined && at <= end; at = this.nextAt()) this.step();
    this.#now = Math.max(this.#now, end);
  }

  #next(): { at: number; order: number; fire: () => void } | undefined {
    return this.#timers.reduce<{ at: number; order: number; fire: () => void } | undefined>(
      (best, t) => (!best || t.at < best.at || (t.at === best.at && t.order < best.order) ? t : best),
      undefined,
    );
  }
}
