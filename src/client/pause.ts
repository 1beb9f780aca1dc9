import type { Clock } from '../base/clock.ts';
import { pauseOrThrow } from '../base/pause.ts';

/** A pause of a client: an abort ends it, and rejects with the signal's reason. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return pauseOrThrow(clock, ms, signal);
}
