import type { Clock } from './clock.ts';

/** Resolves after `ms` milliseconds, or at once when `signal` is (or becomes) aborted. Never rejects, leaves no timer. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(ms, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** As `pause`, but an abort rejects, with the signal's reason. */
export async function pauseOrThrow(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  await pause(clock, ms, signal);
  signal?.throwIfAborted();
}

/**
 * What `work` gives within `ms` milliseconds, else `late`; an abort of `signal` counts as late. Rejects only as `work`
 * does. Leaves no timer. The work itself goes on and stays with whoever started it.
 */
export async function within<Value, Late>(
  clock: Clock,
  ms: number,
  work: Promise<Value>,
  late: Late,
  signal?: AbortSignal,
): Promise<Value | Late> {
  const over = new AbortController();
  const stop = signal ? AbortSignal.any([over.signal, signal]) : over.signal;
  try {
    return await Promise.race([work, pause(clock, ms, stop).then(() => late)]);
  } finally {
    over.abort();
  }
}

/**
 * Asks `condition` again and again, at first every few milliseconds, later every `longestStepMs`, until it says true or
 * `withinMs` have passed. The answer is the last one that the condition gave. An abort ends the wait early.
 */
export async function waitUntil(
  clock: Clock,
  condition: () => boolean,
  withinMs: number,
  signal?: AbortSignal,
  longestStepMs = 50,
): Promise<boolean> {
  const deadline = clock.monotonic() + withinMs;
  for (let stepMs = 2; ; stepMs = Math.min(stepMs * 2, longestStepMs)) {
    if (condition()) return true;
    const restMs = deadline - clock.monotonic();
    if (restMs <= 0 || signal?.aborted) return false;
    await pause(clock, Math.min(stepMs, restMs), signal);
  }
}
