import type { Wake } from './effects.ts';

/**
 * Durable, delayed, at-least-once calls of an idempotent handler. A wake-up is enqueued by an effect of the ledger's own
 * transaction and fires after the commit. Wake-ups of one target are merged while they wait; one that arrives while its
 * handler runs makes it run once more. Handlers of different targets run side by side.
 */
export interface Wakeups {
  /** Starts calling. `handle` may reject: the wake-up stays and is called again with back-off. */
  start(handle: HandleWake): Promise<void>;
  /** Starts nothing more, aborts the signal of what lasts, and resolves when no handler runs. What is due stays due. */
  stop(): Promise<void>;
}

/** Handles a wake-up. It is owed until this has resolved, and `lasts` of its answer too. `signal`: nothing may last any longer. */
export type HandleWake = (wake: Wake, signal: AbortSignal) => Promise<Lasting | void>;

/** What takes as long as it takes, as a process does: it is nothing that handlers of others wait behind. */
export interface Lasting {
  readonly lasts: Promise<void>;
}
