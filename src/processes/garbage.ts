const mostLines = 10_000;
/** So much in a row that nobody understands, or can read in time, and no agent is behind it any more. Bytes. */
export const mostUnheardBytes = 256 * 1024 * 1024;
/** So many lines in a row are told one by one; a log is no place for the rest. */
const toldLines = 100;

/** What to do about a line that nobody understands. */
export type GarbageVerdict = 'told' | 'silent' | 'flood';

/**
 * Counts what an agent prints and nobody understands. A program that prints without end would fill the disk, and the
 * server would read it without end, so past a bound it is ended. A line that is understood begins the count anew.
 */
export class Garbage {
  #lines = 0;
  #bytes = 0;

  /** A line was understood. */
  understood(): void {
    this.#lines = 0;
    this.#bytes = 0;
  }

  /** A line was not. `flood` once the bound is passed, and ever after. */
  hear(bytes: number): GarbageVerdict {
    this.#lines++;
    this.#bytes += bytes;
    if (this.#lines > mostLines || this.#bytes > mostUnheardBytes) return 'flood';
    return this.#lines > toldLines ? 'silent' : 'told';
  }

  /** Why the agent was ended, for a person. `protocol`: what it should have spoken. */
  sentence(protocol: string): string {
    return `it printed ${this.#lines} lines (${this.#bytes} bytes) in a row that are no messages of ${protocol}`;
  }
}
