import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { assertNever } from '../../base/assert-never.ts';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';

/*
 * What we told pi, and what we did to it, beside its output: with both, whoever takes over knows everything. Positions are
 * bytes of output, counted on over the processes of a session.
 */

const entry = z.discriminatedUnion('t', [
  /** A process is about to be launched; its output begins at this position. */
  z.object({ t: z.literal('process'), base: z.number() }),
  /** Everything before this position was processed for good, and is not read again. */
  z.object({ t: z.literal('released'), at: z.number() }),
  /** The conversation is open, in this file. */
  z.object({ t: z.literal('session'), file: z.string() }),
  /** pi has answered once, so the file is there. */
  z.object({ t: z.literal('kept') }),
  /** A text is about to be written; `at` is how far the output had been read. */
  z.object({
    t: z.literal('text'),
    id: z.string(),
    kind: z.enum(['prompt', 'steer']),
    at: z.number(),
    hash: z.string(),
  }),
  z.object({ t: z.literal('wrote'), id: z.string(), outcome: z.enum(['written', 'refused']) }),
  /** The queue that a turn left is about to be dropped. */
  z.object({ t: z.literal('drop'), at: z.number() }),
  /** A question was answered. */
  z.object({ t: z.literal('replied'), id: z.string() }),
  z.object({ t: z.literal('fate'), id: z.string(), fate: z.enum(['consumed', 'absent']) }),
]);

/** One line of the log. */
export type SentEntry = z.infer<typeof entry>;

/** A text that was, or was to be, written to the process. */
export interface SentText {
  readonly id: string;
  readonly kind: 'prompt' | 'steer';
  readonly at: number;
  readonly hash: string;
}

/** A text of the process that lives now, or lived last. `intended`: whether it was written is not known. */
export type NotedText = SentText & { readonly outcome: 'intended' | 'written' | 'refused' };

/** The log of one session's directory. Reading it again gives the same state. */
export class SentLog {
  readonly #file: string;
  base = 0;
  /** Where the output of this process is to be read from. */
  from = 0;
  /** The file of the conversation that the process of this base has open. */
  session: string | undefined;
  /** The file of the conversation before. */
  lastSession: string | undefined;
  isKept = false;
  readonly texts = new Map<string, NotedText>();
  readonly fates = new Map<string, 'consumed' | 'absent'>();
  /** Texts of dead processes of which nothing is certain, by their hashes. */
  readonly undecided = new Map<string, string>();
  readonly drops = new Set<number>();
  readonly replied = new Set<string>();
  /** The texts of this conversation, by their ids. */
  readonly #hashes = new Map<string, string>();

  /** Reads what is there. Throws when the directory cannot be used, or the log in it cannot be read. */
  constructor(directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#file = join(directory, 'sent.log');
    for (const line of readWholeLines(this.#file)) {
      const parsed = entry.safeParse(parseJson(line));
      if (parsed.success) this.#apply(parsed.data);
    }
  }

  /** Notes one thing. When this returns, our death cannot lose it. Throws when the disk refuses. */
  append(noted: SentEntry): void {
    appendFileSync(this.#file, `${JSON.stringify(noted)}\n`, { mode: 0o600 });
    this.#apply(noted);
  }

  /** How many texts of this wording are known to have been taken up in the conversation of this file. */
  timesConsumed(hash: string, file: string): number {
    if (file !== (this.session ?? this.lastSession)) return 0;
    const alike = [...this.#hashes].filter(([, other]) => other === hash);
    return alike.filter(([id]) => this.fates.get(id) === 'consumed').length;
  }

  /** Whether pi may have got this text: then it must not be sent again under the same id. */
  mayHaveArrived(id: string): boolean {
    const text = this.texts.get(id);
    if (text) return text.outcome !== 'refused';
    return this.undecided.has(id) || this.fates.get(id) === 'consumed';
  }

  #apply(noted: SentEntry): void {
    switch (noted.t) {
      case 'process':
        return this.#turnPage(noted.base);
      case 'released':
        this.from = noted.at;
        this.#settleTexts();
        return;
      case 'session':
        if (this.lastSession !== undefined && noted.file !== this.lastSession) this.#hashes.clear();
        this.session = noted.file;
        return;
      case 'kept':
        this.isKept = true;
        return;
      case 'text': {
        const { t: _, ...text } = noted;
        // A text that never arrived may be sent again under its id; it is then the youngest.
        this.texts.delete(text.id);
        this.fates.delete(text.id);
        this.undecided.delete(text.id);
        this.texts.set(text.id, { ...text, outcome: 'intended' });
        this.#hashes.set(text.id, text.hash);
        return;
      }
      case 'wrote': {
        const text = this.texts.get(noted.id);
        if (text) this.texts.set(noted.id, { ...text, outcome: noted.outcome });
        return;
      }
      case 'drop':
        this.drops.add(noted.at);
        return;
      case 'replied':
        this.replied.add(noted.id);
        return;
      case 'fate':
        this.fates.set(noted.id, noted.fate);
        this.undecided.delete(noted.id);
        return;
      default:
        assertNever(noted);
    }
  }

  #turnPage(base: number): void {
    this.#settleTexts();
    this.replied.clear();
    this.drops.clear();
    this.lastSession = this.session ?? this.lastSession;
    this.session = undefined;
    this.base = base;
    this.from = base;
  }

  #settleTexts(): void {
    for (const { id, outcome, hash } of this.texts.values()) {
      if (this.fates.has(id)) continue;
      if (outcome === 'refused') this.fates.set(id, 'absent');
      else this.undecided.set(id, hash);
    }
    this.texts.clear();
  }
}

/** Names a text without keeping it. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

// We may have died within a line: what has no newline never counted, and must not swallow the next one.
function readWholeLines(file: string): string[] {
  const text = readIfThere(file) ?? '';
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
  return text.slice(0, end).split('\n').slice(0, -1);
}
