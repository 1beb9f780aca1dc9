import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the parts of this package are, seen from its compiled files as from its source files. */
export function packageFile(...path: string[]): string {
  return join(import.meta.dirname, '..', '..', ...path);
}

/** The version of this package. */
export async function packageVersion(): Promise<string> {
  const text = await readFile(packageFile('package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
