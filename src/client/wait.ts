import type { WaitAnswer } from '../contract/execution.ts';
import { defaultWaitMs } from '../contract/requests.ts';
import { pauseOrThrow } from '../base/pause.ts';
import { Patience } from './retry.ts';
import type { StemmaClient } from './stemma-client.ts';

/** One call asks for at most this, in milliseconds: proxies and NATs drop connections that are silent for longer. */
const oneCallMs = defaultWaitMs;
/** Whoever hears what still holds it is told of news this soon; milliseconds. */
const newsMs = 5_000;
/** A server that answers "not closed" sooner than asked is not asked again at once; milliseconds. */
const shortestCallMs = 250;

/** How long to wait in all (milliseconds; absent: for ever), and what ends it early. */
export interface WaitOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal;
  /** The server does not answer, and is asked again; heard once for each time that it is gone. */
  readonly onGone?: () => void;
  /** Hears what still holds it: at once, then every few seconds. */
  readonly onStillOpen?: (answer: WaitAnswer) => void;
}

/**
 * Waits until an execution is closed, by long polls, over restarts of the server. When the time is up, answers the last
 * "not closed" with what holds it. Throws as `requestJson` does; a server that stays away is `UNREACHABLE`.
 */
export async function waitUntilClosed(
  client: StemmaClient,
  id: string,
  options: WaitOptions = {},
): Promise<WaitAnswer> {
  const { clock } = client;
  const { signal } = options;
  const deadline = clock.monotonic() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
  const patience = new Patience(clock);
  let isGone = false;
  let callMs = options.onStillOpen ? 0 : oneCallMs;
  for (;;) {
    const began = clock.monotonic();
    const timeoutMs = Math.round(Math.max(0, Math.min(callMs, deadline - began)));
    const answer = await client
      .call('waitExecution', { id, query: { timeoutMs }, signal })
      .catch(async (thrown) => {
        if (clock.monotonic() >= deadline) throw thrown;
        if (!isGone && patience.hasPatience(thrown)) options.onGone?.();
        isGone = true;
        await patience.failed(thrown, signal);
      });
    if (!answer) continue;
    patience.succeeded();
    isGone = false;
    if (answer.closed || clock.monotonic() >= deadline) return answer;
    options.onStillOpen?.(answer);
    callMs = options.onStillOpen ? newsMs : oneCallMs;
    const shortMs = Math.min(shortestCallMs, timeoutMs) - (clock.monotonic() - began);
    if (shortMs > 0) await pauseOrThrow(clock, shortMs, signal);
  }
}
