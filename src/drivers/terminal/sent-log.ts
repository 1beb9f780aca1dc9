import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';
import { unwrapped } from './transcript.ts';

const entry = z.object({ id: z.string(), text: z.string() });

/**
 * The texts that were typed for us, written down before the first key of them is pressed: the agent keeps texts without our
 * ids, so a later process of ours recognises them by what they say.
 */
export class SentLog {
  readonly #file: string;
  readonly texts: ReadonlyMap<string, string>;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#file = join(directory, 'sent.jsonl');
    const lines = (readIfThere(this.#file) ?? '').split('\n');
    const read = lines.flatMap((line) => entry.safeParse(parseJson(line)).data ?? []);
    this.texts = new Map(read.map(({ id, text }) => [id, text]));
  }

  /** Throws when it cannot be written: then nothing may be typed. */
  add(id: string, text: string): void {
    appendFileSync(this.#file, `${JSON.stringify({ id, text: unwrapped(text) })}\n`, { mode: 0o600 });
  }
}
