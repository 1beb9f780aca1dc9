import { createHash } from 'node:crypto';
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

const knownFate = z.enum(['consumed', 'absent']);
const entry = z.discriminatedUnion('t', [
  /** A process is about to be launched; its output begins at this position. */
  z.object({ t: z.literal('process'), base: z.number() }),
  /** It is open; all before `at` was the opening. `bornAt`: when it began, UTC milliseconds. `isKept`: it can be loaded. */
  z.object({
    t: z.literal('session'),
    id: z.string(),
    at: z.number(),
    bornAt: z.number().optional(),
    isKept: z.boolean().optional(),
  }),
  /** A prompt is about to be written; `at` is how far the output had been read. */
  z.object({ t: z.literal('prompt'), id: z.string(), at: z.number(), hash: z.string() }),
  z.object({ t: z.literal('wrote'), id: z.string(), outcome: z.enum(['written', 'refused']) }),
  /** Its answer was read; `end` is the position behind it. */
  z.object({ t: z.literal('ended'), id: z.string(), end: z.number(), usd: z.number().optional() }),
  /** A request of the agent was answered. */
  z.object({ t: z.literal('replied'), request: z.string(), at: z.number().optional() }),
  /** What became of a prompt whose process died. */
  z.object({ t: z.literal('fate'), id: z.string(), fate: knownFate }),
  /** A prompt of an earlier process, when the log was made shorter. */
  z.object({ t: z.literal('past'), id: z.string(), hash: z.string(), fate: knownFate.optional() }),
  /** What the log is no longer told of: ids up to this one, and how often each text was taken up, by a short hash. */
  z.object({ t: z.literal('forgotten'), newest: z.string(), consumed: z.record(z.string(), z.number()) }),
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

// So many prompts of the past stay in a log that is made shorter. Whoever asks about a text asks about one of the last.
const keptPrompts = 100;
// So many lines more than are kept are worth a new file.
const spareLines = 1000;

/** The log of one session's directory. Reading it again gives the same state. */
export class SentLog {
  readonly #file: string;
  base = 0;
  session: { readonly id: string; readonly at: number; readonly isKept: boolean } | undefined;
  /** When the conversation began, UTC milliseconds, whichever process serves it. */
  bornAt: number | undefined;
  /** Prompts of the current process, oldest first. */
  readonly prompts = new Map<string, SentPrompt>();
  readonly past = new Map<string, PastPrompt>();
  /** Requests of the agent that were answered, and how far the output had been read then. */
  readonly replied = new Map<string, number>();
  #forgotten: { readonly newest: string; readonly consumed: Readonly<Record<string, number>> } | undefined;
  #lines = 0;

  /** Reads what is there. Throws when the directory cannot be used, or the log in it cannot be read. */
  constructor(directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#file = join(directory, 'sent.log');
    for (const line of readWholeLines(this.#file)) {
      const parsed = entry.safeParse(parseJson(line));
      if (parsed.success) this.#apply(parsed.data);
      this.#lines++;
    }
  }

  /** Notes one thing. When this returns, our death cannot lose it. Throws when the disk refuses. */
  append(noted: SentEntry): void {
    appendFileSync(this.#file, `${JSON.stringify(noted)}\n`, { mode: 0o600 });
    this.#lines++;
    this.#apply(noted);
  }

  /**
   * Makes the log shorter when that is worth it. What is dropped are old prompts whose fate is known, and that only in so
   * far as nobody asks for it: their ids still count as sent, their texts as taken up. The new log takes the place of the
   * old one by a rename, so at every moment one of the two is there, whole. Throws when the disk refuses; the old one stays.
   */
  compact(): void {
    if (this.#lines < spareLines) return;
    const kept = this.#keptEntries();
    if (this.#lines < kept.length + spareLines) return;
    const next = `${this.#file}.next`;
    writeFileSync(next, kept.map((one) => `${JSON.stringify(one)}\n`).join(''), { mode: 0o600 });
    const fd = openSync(next, 'r');
    // Else a power cut could leave an empty file under the name.
    fsyncSync(fd);
    closeSync(fd);
    renameSync(next, this.#file);
    this.#forgetAll();
    for (const one of kept) this.#apply(one);
    this.#lines = kept.length;
  }

  /** How often a text was taken up by processes that are dead. */
  timesConsumed(hash: string): number {
    const known = [...this.past.values()].filter((past) => past.hash === hash && past.fate === 'consumed');
    return known.length + (this.#forgotten?.consumed[shortOf(hash)] ?? 0);
  }

  /** Whether this text was sent so long ago that nothing else is known of it. */
  isForgotten(id: string): boolean {
    const isKnown = this.prompts.has(id) || this.past.has(id);
    return !isKnown && this.#forgotten !== undefined && id <= this.#forgotten.newest;
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
    return past === undefined ? this.isForgotten(id) : past.fate !== 'absent';
  }

  #keptEntries(): SentEntry[] {
    const prompts = [...this.prompts.values()];
    const past = [...this.past];
    const isOver = ({ end, outcome }: SentPrompt): boolean => end !== undefined || outcome === 'refused';
    const oldPrompts = prompts.slice(0, -keptPrompts).filter(isOver);
    const oldPast = past.slice(0, -keptPrompts).filter(([, { fate }]) => fate !== undefined);
    const [keptPrompt, keptPast] = [new Set(prompts), new Set(past)];
    for (const one of oldPrompts) keptPrompt.delete(one);
    for (const one of oldPast) keptPast.delete(one);
    const from = [...keptPrompt][0]?.at ?? Number.POSITIVE_INFINITY;
    const replied = [...this.replied].filter(([, at]) => at >= from);
    return [
      ...this.#forget(oldPrompts, oldPast),
      { t: 'process', base: this.base },
      ...(this.session ? [{ t: 'session', ...this.session, ...this.#birth() } as const] : []),
      ...[...keptPast].map(([id, one]) => ({ t: 'past', id, ...one }) as const),
      ...[...keptPrompt].flatMap(entriesOf),
      ...replied.map(
        ([request, at]) => ({ t: 'replied', request, ...(Number.isFinite(at) ? { at } : {}) }) as const,
      ),
    ];
  }

  #birth(): { bornAt?: number } {
    return this.bornAt === undefined ? {} : { bornAt: this.bornAt };
  }

  /** The line that stands for these prompts and all that were forgotten before. */
  #forget(prompts: readonly SentPrompt[], past: readonly (readonly [string, PastPrompt])[]): SentEntry[] {
    const consumed: Record<string, number> = { ...this.#forgotten?.consumed };
    const count = (hash: string): void => {
      consumed[shortOf(hash)] = (consumed[shortOf(hash)] ?? 0) + 1;
    };
    for (const { hash, end } of prompts) if (end !== undefined) count(hash);
    for (const [, { hash, fate }] of past) if (fate === 'consumed') count(hash);
    const ids = [...prompts.map(({ id }) => id), ...past.map(([id]) => id), this.#forgotten?.newest ?? ''];
    const newest = ids.reduce((one, other) => (other > one ? other : one), '');
    return newest === '' ? [] : [{ t: 'forgotten', newest, consumed }];
  }

  #forgetAll(): void {
    this.past.clear();
    this.#turnPage(0);
    this.past.clear();
  }

  #apply(noted: SentEntry): void {
    switch (noted.t) {
      case 'process':
        return this.#turnPage(noted.base);
      case 'session':
        this.session = { id: noted.id, at: noted.at, isKept: noted.isKept ?? false };
        this.bornAt = noted.bornAt;
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
        // Older logs did not say where: such an answer is kept as long as its process.
        this.replied.set(noted.request, noted.at ?? Number.POSITIVE_INFINITY);
        return;
      case 'fate': {
        const hash = this.past.get(noted.id)?.hash ?? this.prompts.get(noted.id)?.hash ?? '';
        this.past.set(noted.id, { hash, fate: noted.fate });
        return;
      }
      case 'past':
        this.past.set(noted.id, {
          hash: noted.hash,
          ...(noted.fate === undefined ? {} : { fate: noted.fate }),
        });
        return;
      case 'forgotten':
        this.#forgotten = { newest: noted.newest, consumed: noted.consumed };
        return;
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

function shortOf(hash: string): string {
  return hash.slice(0, 12);
}

function entriesOf({ id, at, hash, outcome, end, usd }: SentPrompt): SentEntry[] {
  return [
    { t: 'prompt', id, at, hash },
    ...(outcome === 'intended' ? [] : [{ t: 'wrote', id, outcome } as const]),
    ...(end === undefined ? [] : [{ t: 'ended', id, end, ...(usd === undefined ? {} : { usd }) } as const]),
  ];
}

// We may have died within a line: what has no newline never counted, and must not swallow the next one.
function readWholeLines(file: string): string[] {
  const text = readIfThere(file) ?? '';
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
  return text.slice(0, end).split('\n').slice(0, -1);
}
