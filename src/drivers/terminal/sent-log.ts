import {
  appendFileSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';
import type { SentText } from './state.ts';
import { unwrapped } from './transcript.ts';

const entry = z.union([
  z.object({ id: z.string(), text: z.string(), sentAt: z.number(), isLost: z.literal(true).optional() }),
  z.object({ id: z.string(), isAbsent: z.literal(true) }),
  /** It was taken up, in this turn, of which everything was processed: what it says matters no more. */
  z.object({ id: z.string(), takenIn: z.string() }),
]);
type Entry = z.infer<typeof entry>;

/** So many lines more than are kept are worth a new file. */
const spareLines = 200;
/** Of so many texts it is known for good that they were taken up; nobody asks for older ones. */
const takenKept = 500;

/**
 * The texts that were typed for us, written down before the first key of them is pressed: the agent keeps texts without our
 * ids, so a later process of ours recognises them by what they say. What was taken up in turns whose end is processed is kept
 * by its id alone, and only the newest of these.
 */
export class SentLog {
  readonly #file: string;
  readonly #texts = new Map<string, SentText>();
  readonly #taken = new Map<string, string>();
  #lines = 0;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#file = join(directory, 'sent.jsonl');
    for (const line of readWholeLines(this.#file)) {
      const { data } = entry.safeParse(parseJson(line));
      if (data) this.#apply(data);
    }
  }

  /** Those of which nobody has written down what became of them, oldest first. */
  get texts(): ReadonlyMap<string, SentText> {
    return this.#texts;
  }

  /** In which turn a text was taken up that is kept by its id alone. */
  turnOf(id: string): string | undefined {
    return this.#taken.get(id);
  }

  /** `sentAt`: how far the transcript was read. Throws when it cannot be written: then nothing may be typed. */
  add(id: string, text: string, sentAt: number): void {
    this.#append({ id, text: unwrapped(text), sentAt });
  }

  /** It will never be taken up, so that a later text that says the same is not taken for it. Throws like `add`. */
  drop(id: string): void {
    this.#append({ id, isAbsent: true });
  }

  /** Nobody will ever know whether it was taken up. Throws like `add`. */
  lose(id: string): void {
    const text = this.#texts.get(id);
    if (text && !text.isLost) this.#append({ id, ...text, isLost: true });
  }

  /**
   * Makes the log shorter, where that is worth it: of these texts only the turn stays that took each up. Answers whether it did.
   * Throws when the disk refuses; the old log stays.
   */
  compact(taken: ReadonlyMap<string, string>): boolean {
    if (this.#lines < spareLines) return false;
    const settled = [...taken].map(([id, takenIn]) => ({ id, takenIn }));
    const old = [...this.#taken].map(([id, takenIn]) => ({ id, takenIn }));
    const open = [...this.#texts].flatMap(([id, text]) => (taken.has(id) ? [] : [{ id, ...text }]));
    const kept: Entry[] = [...[...old, ...settled].slice(-takenKept), ...open];
    if (this.#lines < kept.length + spareLines) return false;
    this.#replace(kept);
    return true;
  }

  /** By a rename, so that at every moment one of the two is there, whole. */
  #replace(kept: readonly Entry[]): void {
    const next = `${this.#file}.next`;
    writeFileSync(next, kept.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
    const fd = openSync(next, 'r');
    // Else a power cut could leave an empty file under the name.
    fsyncSync(fd);
    closeSync(fd);
    renameSync(next, this.#file);
    this.#texts.clear();
    this.#taken.clear();
    this.#lines = 0;
    for (const line of kept) this.#apply(line);
  }

  #append(line: Entry): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    this.#apply(line);
  }

  #apply(line: Entry): void {
    this.#lines++;
    this.#texts.delete(line.id);
    this.#taken.delete(line.id);
    if ('text' in line) {
      const { id, text, sentAt, isLost } = line;
      this.#texts.set(id, { text, sentAt, ...(isLost ? { isLost } : {}) });
    }
    if ('takenIn' in line) this.#taken.set(line.id, line.takenIn);
  }
}

// We may have died within a line: what has no newline never counted, and must not swallow the next one.
function readWholeLines(file: string): string[] {
  const text = readIfThere(file) ?? '';
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
  return text.slice(0, end).split('\n').slice(0, -1);
}
