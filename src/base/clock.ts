/** Cancels a timer. Cancelling twice is harmless. */
export type CancelTimer = () => void;

/**
 * The only source of time outside this folder.
 * `now` is UTC milliseconds; `monotonic` never jumps and is for deadlines of waits inside one process.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Calls `fire` once after `delayMs`; delays beyond 24 days are re-armed by the clock itself. */
  after(delayMs: number, fire: () => void): CancelTimer;
}

const longestTimerMs = 2_000_000_000;

/** The machine's own clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, fire) {
    let timer: NodeJS.Timeout;
    const arm = (restMs: number): void => {
      const stepMs = Math.min(Math.max(restMs, 0), longestTimerMs);
      timer = setTimeout(() => (restMs > stepMs ? arm(restMs - stepMs) : fire()), stepMs);
      timer.unref();
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};
