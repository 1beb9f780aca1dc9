import type { Database, Statement } from './driver.ts';
import { growLog } from './log-file.ts';

/** Pages of the log at which SQLite itself copies it into the database, within the commit that reaches them: 16 MiB. */
export const largestLogPages = 4_000;
/** Pages of the log, as estimated, at which it is copied when nothing waits to be committed. */
const idleLogPages = 400;

/**
 * When the log is copied into the database. That blocks the process: 16 to 20 ms for the largest log, 1 or 2 for a small
 * one. A page that is written again and again is copied once, so under a load that never pauses a large log is best; but
 * under one that does, a call must not wait behind it. So a small log is copied in each pause, and a large one only if
 * there was none.
 */
export class Checkpoints {
  readonly #copy: Statement;
  readonly #file: string;
  #pages = 0;
  #isGrown = false;

  constructor(db: Database, file: string) {
    this.#file = file;
    this.#copy = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** A commit of so many operations was made: it wrote about ten pages, and one more for every four. */
  committed(operations: number): void {
    this.#pages += 10 + operations / 4;
    if (!this.#isGrown && this.#pages >= idleLogPages) {
      // Who writes this much will write more. Who does not is spared the time and the space.
      this.#isGrown = true;
      growLog(this.#file, largestLogPages);
    }
    if (this.#pages > largestLogPages) this.#pages = 0;
  }

  /** Nothing waits to be committed. */
  pause(): void {
    if (this.#pages < idleLogPages) return;
    this.#pages = 0;
    try {
      this.#copy.row([]);
    } catch {
      // Everything is in the log, where it is safe; a disk that is full or failing will be told of by the next commit.
    }
  }
}
