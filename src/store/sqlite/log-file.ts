import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';

/** Bytes of a page in the log: the page and the header of its frame. */
const bytesOfPage = 4_096 + 24;
const chunk = Buffer.alloc(1_048_576);

/**
 * Makes the log as large as `pages`, by zeros after its end. A forced write that also makes a file longer waits for the
 * file system's own journal and took 1.7 times as long (ext4); SQLite never makes the log shorter while it is open, so
 * this is done once. Zeros are no frame to SQLite, now or after a kill: what is behind the last commit is not read.
 * To be called between two commits, by the one process that writes. Does nothing where there is no log.
 */
export function growLog(database: string, pages: number): void {
  let file: number;
  try {
    file = openSync(`${database}-wal`, 'r+');
  } catch {
    return;
  }
  try {
    const wanted = pages * bytesOfPage;
    for (let end = fstatSync(file).size; end < wanted; ) {
      end += writeSync(file, chunk, 0, Math.min(chunk.length, wanted - end), end);
    }
  } catch {
    // A disk that is full or failing will be told of by the next commit.
  } finally {
    closeSync(file);
  }
}
