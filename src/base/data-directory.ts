import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StemmaError } from './errors.ts';

/**
 * Makes a data directory and those above it, as far as they are missing; only its owner may look into them. Rejects with
 * `DATA_DIR_UNUSABLE` or `DISK_FULL`.
 */
export async function makeDataDirectory(path: string): Promise<void> {
  try {
    await make(path);
    if (!(await stat(path)).isDirectory()) throw new Error('it is not a directory');
  } catch (error) {
    throw dataDirectoryError(path, error);
  }
}

/** What the operating system said about a data directory, as an error for people; one of ours stays as it is. */
export function dataDirectoryError(path: string, error: unknown): StemmaError {
  if (error instanceof StemmaError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') return new StemmaError('DISK_FULL', `The disk of ${path} is full.`, { path }, error);
  const text = `The data directory ${path} cannot be used: ${message}. Name another one with --data.`;
  return new StemmaError('DATA_DIR_UNUSABLE', text, { path, reason: code ?? message }, error);
}

// By hand: where nothing can be made, as below /proc, `mkdir` of Node with `recursive` tries for ever.
async function make(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await make(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}
