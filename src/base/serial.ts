/**
 * Runs tasks one after the other, in the order in which they came. A task must never await another task of the same
 * queue. The queue itself has no bound: whoever fills it says how many tasks can wait.
 */
export class Serial {
  #tail: Promise<unknown> = Promise.resolve();

  /** Settles as the task does. A task that fails does not stop those behind it. */
  run<T>(task: () => Promise<T> | T): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
