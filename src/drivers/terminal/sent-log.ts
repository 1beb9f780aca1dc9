import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';
import type { SentText } from './state.ts';
import { unwrapped } from './transcript.ts';

const entry = z.union([
  z.object({ id: z.string(), text: z.string(), sentAt: z.number() }),
  z.object({ id: z.string(), isAbsent: z.literal(true) }),
]);

/**
 * The texts that were typed for us, written down before the first key of them is pressed: the agent keeps texts without our
 * ids, so a later process of ours recognises them by what they say.
 */
export class SentLog {
  readonly #file: string;
  /** Those of which nobody has written down that they will never be taken up, oldest first. */
  readonly texts: ReadonlyMap<string, SentText>;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#file = join(directory, 'sent.jsonl');
    const lines = (readIfThere(this.#file) ?? '').split('\n');
    const texts = new Map<string, SentText>();
    for (const line of lines) {
      const { data } = entry.safeParse(parseJson(line));
      if (!data) continue;
      texts.delete(data.id);
      if ('text' in data) texts.set(data.id, { text: data.text, sentAt: data.sentAt });
    }
    this.texts = texts;
  }

  /** `sentAt`: how far the transcript was read. Throws when it cannot be written: then nothing may be typed. */
  add(id: string, text: string, sentAt: number): void {
    this.#append({ id, text: unwrapped(text), sentAt });
  }

  /** It will never be taken up, so that a later text that says the same is not taken for it. Throws like `add`. */
  drop(id: string): void {
    this.#append({ id, isAbsent: true });
  }

  #append(line: z.infer<typeof entry>): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  }
}
