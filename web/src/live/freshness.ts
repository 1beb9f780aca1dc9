import type { Query, QueryClient } from '@tanstack/react-query';
import type { Event } from '../../../src/contract/events.ts';

/** Whether an event may have changed what a query answered. */
export type TouchedBy = (event: Event) => boolean;

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { touchedBy?: TouchedBy };
  }
}

const shortestPauseMs = 200;
/** A query that takes long is asked again only after this many times as long. */
const pausesPerRequest = 2;

/**
 * Keeps what is shown as new as the ledger: an event marks the queries that it may have changed, and those that are looked at
 * are asked again, each once at a time and with a pause that grows with what it costs. The server's answers are the truth; an
 * event only says that it is time to ask, so that one which is lost or repeated never shows something that is not so.
 */
export class Freshness {
  readonly #client: QueryClient;
  readonly #waiting = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #running = new Set<string>();
  readonly #again = new Set<string>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  /** Marks what the event may have changed. */
  hear(event: Event): void {
    for (const query of this.#client.getQueryCache().getAll())
      if (query.meta?.touchedBy?.(event)) this.#touch(query);
  }

  /** Marks everything. */
  rereadAll(): void {
    for (const query of this.#client.getQueryCache().getAll()) if (query.meta?.touchedBy) this.#touch(query);
  }

  #touch(query: Query): void {
    query.invalidate();
    const key = query.queryHash;
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    if (query.isActive() && !this.#waiting.has(key)) this.#soon(query, shortestPauseMs);
  }

  #soon(query: Query, pauseMs: number): void {
    const run = (): void => {
      this.#waiting.delete(query.queryHash);
      void this.#refetch(query);
    };
    this.#waiting.set(query.queryHash, setTimeout(run, pauseMs));
  }

  async #refetch(query: Query): Promise<void> {
    if (!query.isActive()) return;
    const key = query.queryHash;
    const began = performance.now();
    this.#running.add(key);
    // One that is under way was sent before the event: its answer may be too old.
    await query.fetch(undefined, { cancelRefetch: true }).catch(() => undefined);
    this.#running.delete(key);
    if (!this.#again.delete(key)) return;
    query.invalidate();
    this.#soon(query, Math.max(shortestPauseMs, (performance.now() - began) * pausesPerRequest));
  }
}
