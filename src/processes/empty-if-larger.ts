import { statSync, truncateSync } from 'node:fs';

/**
 * Empties a file that a program appends to once it is larger than this, so that no program fills the disk with what
 * nobody reads but its end. The program goes on at the new end, since it has the file open for appending.
 */
export function emptyIfLarger(path: string, mostBytes: number): void {
  try {
    if (statSync(path).size > mostBytes) truncateSync(path);
  } catch {
    // It is not there yet, or not any more.
  }
}
