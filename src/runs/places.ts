import { StemmaError } from '../base/errors.ts';

/** So many of something at once; more wait, first in first out. */
export class Places {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Does it when there is a place. Rejects with `STOPPING` instead when that comes too late. */
  async with(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    try {
      if (signal.aborted) throw new StemmaError('STOPPING', 'The server stops; nothing more begins.');
      await work();
    } finally {
      const next = this.#line.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
