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
import { readRest, type Rest, restOf, writeRest } from './rest.ts';
import { type ClaudeState, newState } from './state.ts';

/*
 * What we told an agent, noted beside its output before and after: with the output, that is the whole conversation, and an
 * adopter needs nothing else. From time to time, when nothing runs, what the output meant so far is noted too, so that not
 * all of it must be read again.
 *
 * Positions are bytes of output, counted on over the processes of a session, so that they never fall.
 */

const entry = z.discriminatedUnion('t', [
  /** A process is about to be launched; its output begins at this position. */
  z.object({ t: z.literal('process'), base: z.number(), usd: z.number().optional() }),
  /** The process answers, and serves this conversation; everything before `at` was the opening. */
  z.object({ t: z.literal('open'), id: z.string(), at: z.number() }),
  /** A text is about to be written, under this UUID. `steered`: for the turn that runs. */
  z.object({ t: z.literal('text'), id: z.string(), uuid: z.string(), steered: z.boolean().optional() }),
  z.object({ t: z.literal('wrote'), id: z.string(), outcome: z.enum(['written', 'refused']) }),
  /** Nothing runs at this position, and this is what is known. */
  z.object({ t: z.literal('rest'), at: z.number(), state: z.unknown() }),
  /** What became of a text: as its process told at `at`, or, without that, what is known of it after the process died. */
  z.object({
    t: z.literal('fate'),
    id: z.string(),
    fate: z.enum(['consumed', 'absent']),
    at: z.number().optional(),
  }),
  /** What a log that was made shorter keeps of the conversation before its current process. */
  z.object({ t: z.literal('before'), lastId: z.string().optional(), hasHistory: z.boolean() }),
  /** Likewise of a text: how often it was about to be written, and, if that was in an earlier process, the last UUID. */
  z.object({
    t: z.literal('earlier'),
    id: z.string(),
    attempts: z.number(),
    uuid: z.string().optional(),
    fate: z.enum(['consumed', 'absent']).optional(),
  }),
]);

/** One line of the log, but for rests. */
export type SentEntry = Exclude<z.infer<typeof entry>, { t: 'rest' }>;

/** A text of the process that lives now, or lived last. `intended`: whether it was written is not known. */
export interface SentText {
  readonly id: string;
  readonly uuid: string;
  /** Whether it was meant for a running turn. */
  readonly isSteered: boolean;
  readonly outcome: 'intended' | 'written' | 'refused';
}

/**
 * What is known of a text that is settled, or whose process died; without a fate, its record says. `at`: where in the output
 * of the living process its fate was told.
 */
export interface PastText {
  readonly uuid: string;
  readonly fate?: 'consumed' | 'absent';
  readonly at?: number;
}

const restsKept = 20;
// So many lines more than are kept are worth a new file.
const spareLines = 200;

/** The log of one session's directory. Reading it again gives the same state. */
export class SentLog {
  readonly #file: string;
  base = 0;
  usd: number | undefined;
  /** The conversation, once its current process has answered. */
  open: { readonly id: string; readonly at: number } | undefined;
  /** The conversation of this directory, whichever process served it last. */
  lastId: string | undefined;
  /** Whether a turn of it was ever over, so that the agent has a record of it. */
  hasHistory = false;
  readonly texts = new Map<string, SentText>();
  readonly past = new Map<string, PastText>();
  /** How often each text was about to be written. */
  readonly attempts = new Map<string, number>();
  #rests: Rest[] = [];
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

  /** Notes what is known while nothing runs. Positions at or before the last such note are known already. */
  rest(at: number, state: ClaudeState): void {
    const last = this.#rests.at(-1);
    if (last && last.at >= at) return;
    appendFileSync(this.#file, lineOf({ at, state }));
    this.#lines++;
    this.#addRest({ at, state: restOf(state) });
    this.#compact();
  }

  /**
   * Makes the log shorter when that is worth it: reading the new one gives the same state. It takes the place of the old one
   * by a rename, so at every moment one of the two is there, whole. Throws when the disk refuses; the old one stays.
   */
  #compact(): void {
    if (this.#lines < spareLines) return;
    const kept = [
      ...this.#keptEntries().map((one) => `${JSON.stringify(one)}\n`),
      ...this.#rests.map((one) => lineOf(one)),
    ];
    if (this.#lines < kept.length + spareLines) return;
    const next = `${this.#file}.next`;
    writeFileSync(next, kept.join(''), { mode: 0o600 });
    const fd = openSync(next, 'r');
    // Else a power cut could leave an empty file under the name.
    fsyncSync(fd);
    closeSync(fd);
    renameSync(next, this.#file);
    this.#lines = kept.length;
  }

  #keptEntries(): SentEntry[] {
    const { base, usd, open, lastId, hasHistory } = this;
    return [
      { t: 'before', hasHistory, ...(lastId === undefined ? {} : { lastId }) },
      ...[...this.attempts].flatMap(([id, attempts]) => this.#earlierOf(id, attempts)),
      { t: 'process', base, ...(usd === undefined ? {} : { usd }) },
      ...(open ? [{ t: 'open', ...open } as const] : []),
      ...[...this.texts.values()].flatMap((text) => this.#entriesOf(text)),
    ];
  }

  #earlierOf(id: string, attempts: number): SentEntry[] {
    // The last attempt of a text of the current process has lines of its own.
    if (this.texts.has(id)) return attempts > 1 ? [{ t: 'earlier', id, attempts: attempts - 1 }] : [];
    const { uuid, fate } = this.past.get(id) ?? {};
    const known = { ...(uuid === undefined ? {} : { uuid }), ...(fate === undefined ? {} : { fate }) };
    return [{ t: 'earlier', id, attempts, ...known }];
  }

  #entriesOf({ id, uuid, isSteered, outcome }: SentText): SentEntry[] {
    const { fate, at } = this.past.get(id) ?? {};
    return [
      { t: 'text', id, uuid, ...(isSteered ? { steered: true } : {}) },
      ...(outcome === 'intended' ? [] : [{ t: 'wrote', id, outcome } as const]),
      ...(fate === undefined ? [] : [{ t: 'fate', id, fate, ...(at === undefined ? {} : { at }) } as const]),
    ];
  }

  /**
   * Notes the fates of the texts that are settled at `at`: the state forgets them in the end, and nobody waits for them any
   * more. Throws when the disk refuses.
   */
  settle(at: number, state: ClaudeState): void {
    for (const [uuid, { id, state: known }] of state.texts) {
      if (known !== 'taken' && known !== 'withdrawn') continue;
      // Another attempt of the same text is another text.
      if (this.texts.get(id)?.uuid === uuid && !this.past.has(id))
        this.append({ t: 'fate', id, fate: known === 'taken' ? 'consumed' : 'absent', at });
    }
  }

  /** The texts that whoever reads the output again from `position` may meet there. */
  expectedFrom(position: number): SentText[] {
    return [...this.texts.values()].filter(({ id, outcome }) => {
      const at = this.past.get(id)?.at;
      return outcome !== 'refused' && (at === undefined || at > position);
    });
  }

  /** Nothing before this position is ever read again. */
  get oldestRest(): number {
    return this.#rests[0]?.at ?? this.base;
  }

  /** From where the output must be read again so that everything behind `position` is understood, and what is known there. */
  replayFrom(position: number): Rest {
    const from = this.open?.at ?? this.base;
    return this.#rests.findLast(({ at }) => at <= position) ?? { at: from, state: newState(this.usd) };
  }

  /** Whether an agent may have got this text: then it must not be sent again under the same id. */
  mayHaveArrived(id: string): boolean {
    const past = this.past.get(id);
    if (past) return past.fate !== 'absent';
    const text = this.texts.get(id);
    return text !== undefined && text.outcome !== 'refused';
  }

  #apply(noted: z.infer<typeof entry>): void {
    switch (noted.t) {
      case 'process':
        return this.#turnPage(noted.base, noted.usd);
      case 'open':
        this.open = { id: noted.id, at: noted.at };
        this.lastId = noted.id;
        return;
      case 'text':
        this.attempts.set(noted.id, (this.attempts.get(noted.id) ?? 0) + 1);
        this.texts.delete(noted.id);
        this.past.delete(noted.id);
        this.texts.set(noted.id, {
          id: noted.id,
          uuid: noted.uuid,
          isSteered: noted.steered === true,
          outcome: 'intended',
        });
        return;
      case 'wrote': {
        const text = this.texts.get(noted.id);
        if (text) this.texts.set(noted.id, { ...text, outcome: noted.outcome });
        return;
      }
      case 'rest': {
        const state = readRest(noted.state);
        if (state) this.#addRest({ at: noted.at, state });
        return;
      }
      case 'fate': {
        const uuid = this.past.get(noted.id)?.uuid ?? this.texts.get(noted.id)?.uuid ?? '';
        const at = noted.at === undefined ? {} : { at: noted.at };
        this.past.set(noted.id, { uuid, fate: noted.fate, ...at });
        return;
      }
      case 'before':
        this.lastId = noted.lastId;
        this.hasHistory = noted.hasHistory;
        return;
      case 'earlier': {
        const { id, attempts, uuid, fate } = noted;
        this.attempts.set(id, attempts);
        if (uuid !== undefined) this.past.set(id, fate === undefined ? { uuid } : { uuid, fate });
        return;
      }
      default:
        assertNever(noted);
    }
  }

  #addRest(rest: Rest): void {
    this.#rests = [...this.#rests, rest].slice(-restsKept);
    this.usd = rest.state.usd ?? this.usd;
    this.hasHistory ||= rest.state.ended.length > 0;
  }

  #turnPage(base: number, usd: number | undefined): void {
    for (const { id, uuid, outcome } of this.texts.values()) {
      if (this.past.has(id)) continue;
      this.past.set(id, outcome === 'refused' ? { uuid, fate: 'absent' } : { uuid });
    }
    this.texts.clear();
    this.#rests = [];
    this.open = undefined;
    this.base = base;
    this.usd = usd ?? this.usd;
  }
}

function lineOf({ at, state }: Rest): string {
  return `${JSON.stringify({ t: 'rest', at, state: writeRest(state) })}\n`;
}

// We may have died within a line: what has no newline never counted, and must not swallow the next one.
function readWholeLines(file: string): string[] {
  const text = readIfThere(file) ?? '';
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
  return text.slice(0, end).split('\n').slice(0, -1);
}
