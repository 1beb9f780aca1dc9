import { readFileSync } from 'node:fs';

/**
 * The text of a file, or undefined when there is none. Throws whatever else goes wrong: a file that cannot be read, as when
 * we have no descriptor left, is not a file that is missing.
 */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
