import type { Clock } from '../../base/clock.ts';
import type { OpencodeApi } from './api.ts';
import { markName } from './read-event.ts';
import type { Waiters } from './waiters.ts';

/** How long a mark may take to come back, in milliseconds. */
export const markMs = 10_000;

/** What a session's marks are made with. */
export interface MarksParts {
  readonly api: OpencodeApi;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly waiters: Waiters;
}

/**
 * How far the stream was heard: a mark is put into the session's metadata and comes back on the stream at its place, so whatever
 * the server had said before it was asked for came before.
 */
export class Marks {
  readonly #parts: MarksParts;
  #made = 0;
  #heard = '';
  #taken = '';

  constructor(parts: MarksParts) {
    this.#parts = parts;
  }

  /** A mark came on the stream; what came before it may still be held. */
  hear(mark: string): void {
    this.#heard = mark;
    this.#parts.waiters.wake();
  }

  /** Everything before this mark was taken in. */
  take(mark: string): void {
    this.#taken = mark;
    this.#parts.waiters.wake();
  }

  /** Resolves with true once a new mark was heard; false when it cannot be had in time, or is no longer `isWanted`. */
  async heard(isWanted: () => boolean): Promise<boolean> {
    const mark = await this.#put();
    if (mark === undefined) return false;
    const read = (): boolean | undefined => (this.#heard === mark ? true : isWanted() ? undefined : false);
    return (await this.#parts.waiters.until(read, markMs)) ?? false;
  }

  /**
   * Resolves with true once all before a new mark was taken in and `isSettled` says that nothing of it is read again; false when
   * that takes longer.
   */
  async taken(withinMs: number, isSettled: () => boolean): Promise<boolean> {
    const { clock, waiters } = this.#parts;
    const deadline = clock.monotonic() + withinMs;
    const mark = await this.#put();
    if (mark === undefined) return false;
    const read = (): true | undefined => (this.#taken === mark && isSettled() ? true : undefined);
    return (await waiters.until(read, deadline - clock.monotonic())) ?? false;
  }

  async #put(): Promise<string | undefined> {
    const { api, sessionId, clock } = this.#parts;
    const mark = `${process.pid}-${Math.floor(clock.monotonic())}-${++this.#made}`;
    const answer = await api.call('PATCH', `/session/${sessionId}`, { metadata: { [markName]: mark } });
    return answer.outcome === 'ok' ? mark : undefined;
  }
}
