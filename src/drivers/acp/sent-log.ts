import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { assertNever } from '../../base/assert-never.ts';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';

/*
 * ACP gives us no way to ask an agent what it was told, and its output shows answers only. So everything that we tell it
 * is noted beside its output, before and after: with the output, that is the whole conversation, and an adopter needs
 * nothing else. The page cache survives our death; what a power cut takes, it takes together with the agent.
 *
 * Positions are bytes of output, counted on over the processes of a session: the next process begins behind the last
 * position of the one before, so that they never fall.
 */

const entry = z.discriminatedUnion('t', [
  /** A process is about to be launched; its output begins at this position. */
  z.object({ t: z.literal('process'), base: z.number() }),
  /** The conversation is open; everything before `at` was the opening. */
  z.object({ t: z.literal('session'), id: z.string(), at: z.number() }),
  /** A prompt is about to be written; `at` is how far the output had been read. */
  z.object({ t: z.literal('prompt'), id: z.string(), at: z.number(), hash: z.string() }),
  z.object({ t: z.literal('wrote'), id: z.string(), outcome: z.enum(['written', 'refused']) }),
  /** Its answer was read; `end` is the position behind it. */
  z.object({ t: z.literal('ended'), id: z.string(), end: z.number(), usd: z.number().optional() }),
  /** A request of the agent was answered. */
  z.object({ t: z.literal('replied'), request: z.string() }),
  /** What became of a prompt whose process died. */
  z.object({ t: z.literal('fate'), id: z.string(), fate: z.enum(['consumed', 'absent']) }),
]);

/** One line of the log. */
export type SentEntry = z.infer<typeof entry>;

/** A prompt of the process that lives now, or lived last. `intended`: whether it was written is not known. */
export interface SentPrompt {
  readonly id: string;
  readonly at: number;
  readonly hash: string;
  readonly outcome: 'intended' | 'written' | 'refused';
  readonly end?: number;
  /** What the conversation had cost at its end, US dollars. */
  readonly usd?: number;
}

/** What is known of a prompt whose process died; without a fate nobody has decided yet. */
export interface PastPrompt {
  readonly hash: string;
  readonly fate?: 'consumed' | 'absent';
}

/** The log of one session's directory. Reading it again gives the same state. */
export class SentLog {
  readonly #file: string;
  base = 0;
  session: { readonly id: string; readonly at: number } | undefined;
  /** Prompts of the current process, oldest first. */
  readonly prompts = new Map<string, SentPrompt>();
  readonly past = new Map<string, PastPrompt>();
  readonly replied = new Set<string>();

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

  /**
   * Where the output must be read again from, so that every open prompt is seen whole: the last known line boundary at or
   * before `position` that lies within no turn, or at the start of the turn that `position` is in.
   */
  replayFrom(position: number): number {
    let from = this.session?.at ?? this.base;
    for (const prompt of this.prompts.values()) {
      if (prompt.outcome === 'refused') continue;
      if (prompt.at <= position) from = Math.max(from, prompt.at);
      if (prompt.end === undefined) break;
      if (prompt.end <= position) from = Math.max(from, prompt.end);
    }
    return from;
  }

  /** Whether an agent may have got this text: then it must not be sent again under the same id. */
  mayHaveArrived(id: string): boolean {
    const prompt = this.prompts.get(id);
    if (prompt) return prompt.outcome !== 'refused';
    const past = this.past.get(id);
    return past !== undefined && past.fate !== 'absent';
  }

  #apply(noted: SentEntry): void {
    switch (noted.t) {
      case 'process':
        return this.#turnPage(noted.base);
      case 'session':
        this.session = { id: noted.id, at: noted.at };
        return;
      case 'prompt':
        // A text that never arrived may be sent again under its id; it is then the youngest.
        this.prompts.delete(noted.id);
        this.past.delete(noted.id);
        this.prompts.set(noted.id, { id: noted.id, at: noted.at, hash: noted.hash, outcome: 'intended' });
        return;
      case 'wrote':
        return this.#amend(noted.id, { outcome: noted.outcome });
      case 'ended':
        return this.#amend(noted.id, {
          end: noted.end,
          ...(noted.usd === undefined ? {} : { usd: noted.usd }),
        });
      case 'replied':
        this.replied.add(noted.request);
        return;
      case 'fate': {
        const hash = this.past.get(noted.id)?.hash ?? this.prompts.get(noted.id)?.hash ?? '';
        this.past.set(noted.id, { hash, fate: noted.fate });
        return;
      }
      default:
        assertNever(noted);
    }
  }

  #amend(id: string, change: Partial<SentPrompt>): void {
    const prompt = this.prompts.get(id);
    if (prompt) this.prompts.set(id, { ...prompt, ...change });
  }

  #turnPage(base: number): void {
    for (const { id, hash, outcome, end } of this.prompts.values()) {
      if (this.past.has(id)) continue;
      const fate = end !== undefined ? 'consumed' : outcome === 'refused' ? 'absent' : undefined;
      this.past.set(id, fate === undefined ? { hash } : { hash, fate });
    }
    this.prompts.clear();
    this.replied.clear();
    this.session = undefined;
    this.base = base;
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
