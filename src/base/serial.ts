/**
 * Runs tasks one after the other, in the order in which they came. A task that fails does not stop those behind it; its
 * error goes to whoever awaits it. A task must never await another task of the same queue.
 */
export class Serial {
  #tail: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** Number of tasks that have not finished. */
  get pending(): number {
    return this.#pending;
  }

  run<T>(task: () => Promise<T> | T): Promise<T> {
    this.#pending++;
    const result = this.#tail.then(task).finally(() => {
      this.#pending--;
    });
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything accepted so far has finished. */
  async idle(): Promise<void> {
    while (this.#pending > 0) await this.#tail;
  }
}
