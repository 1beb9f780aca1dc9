import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { SentLog } from './sent-log.ts';

/** pi repeats everything it said so far with each piece of an answer, so its output grows fast. Bytes. */
const largeBytes = 32 * 1024 * 1024;

/**
 * The output file of one process, emptied between turns. The next text is the proof that everything before it was
 * processed for good.
 */
export class OutputFile {
  readonly #path: string;
  readonly #log: SentLog;
  #isEmptied = false;

  constructor(directory: string, log: SentLog) {
    this.#path = join(directory, 'out.log');
    this.#log = log;
  }

  /** Empties the file when it is large and was read to its end. `decided`: what is known of the texts so far. */
  emptyIfLarge(known: {
    readonly decided: readonly { id: string; fate: 'consumed' | 'absent' }[];
    readonly position: number;
  }): void {
    const { decided, position } = known;
    const { size } = statSync(this.#path);
    if (size < largeBytes || this.#log.base + size !== position) return;
    for (const { id, fate } of decided) this.#log.append({ t: 'fate', id, fate });
    this.#log.append({ t: 'emptied', base: position, bytes: size });
    truncateSync(this.#path, 0);
    this.#isEmptied = true;
  }

  /** Finishes what an earlier owner began: the file is still there, and everything in it was processed. */
  finishEmptying(): void {
    const { emptiedBytes } = this.#log;
    if (emptiedBytes !== undefined && statSync(this.#path).size >= emptiedBytes) truncateSync(this.#path, 0);
  }

  /** Whether this is what the reader of the file says about our emptying it. */
  wasEmptied(noise: string): boolean {
    const isOurs = this.#isEmptied && noise.startsWith('the output was truncated');
    if (isOurs) this.#isEmptied = false;
    return isOurs;
  }
}
