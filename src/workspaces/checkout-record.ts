import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Checkout } from '../ledger/workspace.ts';

const fields = z.object({
  path: z.string(),
  repository: z.string(),
  commit: z.string(),
  branch: z.string(),
  cwd: z.string(),
  isReady: z.boolean(),
});

/** What was, or is being, made for a run: written before git is asked, so that a death leaves nothing unknown. */
export interface CheckoutRecord extends Checkout {
  /** The directory in it in which the run works. */
  readonly cwd: string;
  /** Whether it was made to the end. Until then nobody has worked in it. */
  readonly isReady: boolean;
}

const name = 'checkout.json';

/** Reads it; undefined when there is none. A torn one cannot be: it is renamed into its place. */
export async function readRecord(directory: string): Promise<CheckoutRecord | undefined> {
  try {
    return fields.parse(JSON.parse(await readFile(join(directory, name), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Writes it. */
export async function writeRecord(directory: string, record: CheckoutRecord): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const next = join(directory, `${name}.next`);
  await writeFile(next, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(next, join(directory, name));
}
