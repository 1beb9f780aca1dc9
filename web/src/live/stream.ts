import type { Event } from '../../../src/contract/events.ts';
import { ask, AskError } from './ask.ts';
import { apiUrl } from './base.ts';

/** A time in which nothing was heard; milliseconds of this machine's clock. */
export interface Absence {
  readonly since: number;
  readonly until: number;
}

/** How the page is connected. `lost`: what is shown is as old as `since`. `after`: it was lost before. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live'; readonly after?: Absence }
  | {
      readonly state: 'lost';
      readonly since: number;
      readonly why: 'gone' | 'signedOut' | 'refused';
      readonly message: string;
    };

/** What the stream tells. */
export interface StreamListener {
  /** Everything that was read before may be out of date: read it anew. Nothing is missed after it. */
  readonly reread: () => void;
  readonly heard: (event: Event) => void;
  readonly changed: (connection: Connection) => void;
}

const reconnectMs = 1_000;
const reconnectSignedOutMs = 5_000;

/**
 * Follows the events of the server, for as long as the page is open. The place is taken before anything is read, so what was
 * read is at least as new, and what comes after is heard; whoever comes back after a break reads everything anew.
 */
export class EventStream {
  readonly #listener: StreamListener;
  #source: EventSource | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #lostAt: number | undefined;
  #isEnded = false;

  constructor(listener: StreamListener) {
    this.#listener = listener;
  }

  /** Connects, also again: at once instead of at the next try. */
  async connect(): Promise<void> {
    this.#isEnded = false;
    clearTimeout(this.#retry);
    this.#source?.close();
    try {
      const { eventCursor } = await ask<{ eventCursor: string }>('/monitor?limit=1');
      if (this.#isEnded) return;
      this.#source?.close();
      this.#follow(eventCursor);
    } catch (error) {
      this.#lose(error);
    }
  }

  /** Ends it, until it is connected again. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#retry);
    this.#source?.close();
  }

  #follow(cursor: string): void {
    const source = new EventSource(apiUrl(`/events?after=${encodeURIComponent(cursor)}`));
    this.#source = source;
    source.onopen = () => {
      const since = this.#lostAt;
      this.#lostAt = undefined;
      this.#listener.reread();
      const after = since === undefined ? {} : { after: { since, until: Date.now() } };
      this.#listener.changed({ state: 'live', ...after });
    };
    source.onmessage = ({ data }: MessageEvent<string>) => this.#listener.heard(JSON.parse(data) as Event);
    source.addEventListener('reset', () => this.#listener.reread());
    source.onerror = () => {
      // The browser would try again by itself, but not after every error; who begins anew misses nothing either way.
      source.close();
      if (this.#source === source) this.#lose(new AskError(0, 'UNREACHABLE', 'The connection broke.'));
    };
  }

  #lose(error: unknown): void {
    if (this.#isEnded) return;
    const { status = 0, message = String(error) } = error as Partial<AskError>;
    const why = status === 401 ? 'signedOut' : status > 0 ? 'refused' : 'gone';
    this.#lostAt ??= Date.now();
    this.#listener.changed({ state: 'lost', since: this.#lostAt, why, message });
    this.#retry = setTimeout(
      () => void this.connect(),
      why === 'signedOut' ? reconnectSignedOutMs : reconnectMs,
    );
  }
}
