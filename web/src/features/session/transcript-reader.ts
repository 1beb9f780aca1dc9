import type { Page } from '../../../../src/contract/page.ts';
import type { TranscriptItem } from '../../../../src/contract/session.ts';
import { ask } from '../../live/ask.ts';

/** What is read of a transcript: a part without gaps that reaches to its end. */
export interface ReadTranscript {
  readonly items: readonly TranscriptItem[];
  readonly hasOlder: boolean;
}

const firstItems = 200;
const mostItems = 500;

/** Reads the transcript of one session from its end: what is new behind it, and what is older, a page at a time. */
export class TranscriptReader {
  readonly #path: string;
  #items: readonly TranscriptItem[] = [];
  #older: string | undefined;
  #isBegun = false;

  constructor(sessionId: string) {
    this.#path = `/sessions/${encodeURIComponent(sessionId)}/transcript`;
  }

  /** Reads everything that has come since, the first time the end. */
  async readNewer(signal?: AbortSignal): Promise<ReadTranscript> {
    if (!this.#isBegun) {
      const page = await this.#page(`before=end&limit=${firstItems}`, signal);
      this.#isBegun = true;
      this.#items = page.items;
      this.#older = page.nextCursor;
      return this.read();
    }
    for (;;) {
      const last = this.#items.at(-1)?.id ?? '0';
      const { items, nextCursor } = await this.#page(`after=${last}&limit=${mostItems}`, signal);
      // Two at once read the same: what is there already is left out.
      const known = Number(this.#items.at(-1)?.id ?? 0);
      const fresh = items.filter(({ id }) => Number(id) > known);
      if (fresh.length > 0) this.#items = [...this.#items, ...fresh];
      if (nextCursor === undefined) return this.read();
    }
  }

  /** Reads one page more of what is older. */
  async readOlder(): Promise<ReadTranscript> {
    const older = this.#older;
    if (older === undefined) return this.read();
    const { items, nextCursor } = await this.#page(`before=${older}&limit=${mostItems}`);
    if (this.#older === older) {
      this.#items = [...items, ...this.#items];
      this.#older = nextCursor;
    }
    return this.read();
  }

  /** What is read. */
  read(): ReadTranscript {
    return { items: this.#items, hasOlder: this.#older !== undefined };
  }

  #page(query: string, signal?: AbortSignal): Promise<Page<TranscriptItem>> {
    return ask(`${this.#path}?${query}`, signal);
  }
}
