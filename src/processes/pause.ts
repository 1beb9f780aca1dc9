import type { Clock } from '../base/clock.ts';

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
