import { Serial } from '../base/serial.ts';

/** A queue for each key; one that is empty is forgotten. */
export class Serials {
  readonly #queues = new Map<string, { readonly serial: Serial; waiting: number }>();

  /** Settles as the task does, behind every earlier one of the same key. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? { serial: new Serial(), waiting: 0 };
    this.#queues.set(key, queue);
    queue.waiting++;
    try {
      return await queue.serial.run(task);
    } finally {
      if (--queue.waiting === 0) this.#queues.delete(key);
    }
  }
}
