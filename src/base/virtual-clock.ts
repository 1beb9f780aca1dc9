import type { CancelTimer, Clock } from './clock.ts';

/**
 * A clock that moves only when told to: the simulator and the tests live on it. Its timers go by monotonic time, as those
 * of the machine do; the wall clock can be set, and the machine can sleep or stall.
 */
export class VirtualClock implements Clock {
  #monotonic: number;
  /** What the wall clock shows beyond the monotonic one. */
  #setBy = 0;
  #sequence = 0;
  #timers: { at: number; order: number; fire: () => void }[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#monotonic = startMs;
  }

  /** UTC milliseconds: the start, whatever passed since, and whatever the wall clock was set by. */
  now(): number {
    return this.#monotonic + this.#setBy;
  }

  /** Milliseconds that no setting of the wall clock moves, and that stand still while the machine sleeps. */
  monotonic(): number {
    return this.#monotonic;
  }

  /** Somebody sets the wall clock, forward or (negative) back. No time passes and no timer fires. */
  jump(byMs: number): void {
    this.#setBy += byMs;
  }

  /** The machine sleeps, as Linux does: the wall clock goes on, monotonic time and every timer stand still. */
  sleep(ms: number): void {
    this.jump(Math.max(0, ms));
  }

  /** Time passes in which nothing runs, as when macOS sleeps or a process is stopped: then what fell due fires, late. */
  stall(ms: number): void {
    this.#monotonic += Math.max(0, ms);
    this.advance(0);
  }

  /** Timers of one instant fire in the order in which they were set. */
  after(delayMs: number, fire: () => void): CancelTimer {
    const timer = { at: this.#monotonic + Math.max(0, delayMs), order: this.#sequence++, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** When, by the wall clock as it is set now, the next timer is due; undefined when none is armed. */
  nextAt(): number | undefined {
    const at = this.#next()?.at;
    return at === undefined ? undefined : at + this.#setBy;
  }

  /** Moves to the next timer and fires it; false when none is armed. */
  step(): boolean {
    const next = this.#next();
    if (!next) return false;
    this.#timers = this.#timers.filter((other) => other !== next);
    this.#monotonic = Math.max(this.#monotonic, next.at);
    next.fire();
    return true;
  }

  /** Moves forward by `ms`, firing whatever falls due on the way, in order. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) this.step();
    this.#monotonic = Math.max(this.#monotonic, end);
  }

  #next(): { at: number; order: number; fire: () => void } | undefined {
    return this.#timers.reduce<{ at: number; order: number; fire: () => void } | undefined>(
      (best, t) => (!best || t.at < best.at || (t.at === best.at && t.order < best.order) ? t : best),
      undefined,
    );
  }
}
