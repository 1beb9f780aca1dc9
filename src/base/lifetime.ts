import { setMaxListeners } from 'node:events';

/**
 * Owns what outlives the call that started it. Cancellation comes from here, never from the caller: ending an HTTP
 * request, a tool call or a turn cannot end what an owner runs. The identity of the caller is kept, since asynchronous
 * context is copied when the work starts.
 */
export class Owner {
  readonly name: string;
  readonly #controller = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #onError: (name: string, error: unknown) => void;

  /** `onError` hears of work that failed, also because of an abort; it must not throw. */
  constructor(name: string, onError: (name: string, error: unknown) => void) {
    this.name = name;
    this.#onError = onError;
    // As much listens as runs.
    setMaxListeners(0, this.#controller.signal);
  }

  /** Aborted by `stop`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts work that this owner joins on stop. Throws when it is stopping: whoever starts it then has a bug. */
  start(work: (signal: AbortSignal) => Promise<void>): void {
    if (this.signal.aborted) throw new Error(`${this.name} is stopping and starts nothing more`);
    const task: Promise<void> = work(this.signal)
      .catch((error: unknown) => this.#onError(this.name, error))
      .finally(() => this.#running.delete(task));
    this.#running.add(task);
  }

  /** Asks everything to end and resolves when nothing runs. A second call waits for the same end. */
  async stop(): Promise<void> {
    this.#controller.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
