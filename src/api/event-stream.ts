import type { Logger } from 'pino';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { resetEventType } from '../contract/events.ts';
import type { Event } from '../contract/events.ts';
import { toInstant } from '../contract/text.ts';
import type { Feed, FeedFilter } from './ports.ts';

/** What one stream needs. The caller owns `closing`: aborting it ends the stream politely. */
export interface StreamOptions {
  readonly feed: Feed;
  readonly clock: Clock;
  readonly log: Logger;
  readonly filter: FeedFilter;
  /** Where the client stopped reading; absent: from now on. */
  readonly after: string | undefined;
  /** Between comments that keep proxies from closing a quiet stream, in milliseconds. */
  readonly keepAliveMs: number;
  /** How much may wait for a client that does not read, in bytes. What is more, cuts it off; it resumes by cursor. */
  readonly bufferBytes: number;
  readonly closing: AbortSignal;
  /** Node's response under the stream, to break it; without one, the stream ends by an error. */
  readonly connection: { destroy(): unknown } | undefined;
}

const pageSize = 200;
const encoder = new TextEncoder();

/** A stream of server-sent events: first what was missed, then what is committed, each exactly once. */
export function openEventStream(options: StreamOptions): ReadableStream<Uint8Array> {
  let stream: ClientStream | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        stream = new ClientStream(options, controller);
        stream.begin();
      },
      pull: () => stream?.resume(),
      cancel: () => stream?.finish(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 16_384 }),
  );
}

class ClientStream {
  readonly #options: StreamOptions;
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  #isOpen = true;
  #unsubscribe: (() => void) | undefined;
  #cancelKeepAlive: CancelTimer | undefined;
  #wake: (() => void) | undefined;

  constructor(options: StreamOptions, controller: ReadableStreamDefaultController<Uint8Array>) {
    this.#options = options;
    this.#controller = controller;
  }

  begin(): void {
    const { closing } = this.#options;
    if (closing.aborted) return this.#closePolitely();
    closing.addEventListener('abort', this.#closePolitely, { once: true });
    this.#write('retry: 1000\n\n');
    this.#keepAlive();
    this.#follow().catch((error: unknown) => this.#break(error));
  }

  /** The client has read on. */
  resume(): void {
    this.#wake?.();
  }

  /** Lets go of everything; nothing is written after this. */
  finish(): void {
    this.#isOpen = false;
    this.#unsubscribe?.();
    this.#cancelKeepAlive?.();
    this.#options.closing.removeEventListener('abort', this.#closePolitely);
    this.#wake?.();
  }

  async #follow(): Promise<void> {
    const { feed, filter } = this.#options;
    const cursor = await this.#catchUp(this.#options.after ?? feed.currentCursor());
    if (!this.#isOpen) return;
    const unsubscribe = feed.subscribe(
      { ...filter, after: cursor },
      (event) => this.#writeEvent(event),
      (error) => this.#break(error),
    );
    // Events that the subscription replayed at once may have cut the client off before this line.
    if (this.#isOpen) this.#unsubscribe = unsubscribe;
    else unsubscribe();
  }

  // In pages, at the pace of the client: a long absence must not fill the memory.
  async #catchUp(from: string): Promise<string> {
    const { feed, filter } = this.#options;
    let cursor = from;
    let wasReset = false;
    while (this.#isOpen) {
      const page = await feed.since(cursor, filter, pageSize);
      if (page.state === 'foreign') {
        if (wasReset) throw new Error('the feed calls its own cursor foreign');
        wasReset = true;
        cursor = this.#reset();
        continue;
      }
      for (const event of page.events) this.#writeEvent(event);
      cursor = page.next;
      if (page.events.length < pageSize) break;
      await this.#whenRead();
    }
    // An id without data fires no event, but a client that is cut off now resumes from here.
    if (this.#isOpen) this.#write(`id: ${cursor}\n\n`);
    return cursor;
  }

  #reset(): string {
    const { feed, clock } = this.#options;
    const cursor = feed.currentCursor();
    const data: Event = { id: cursor, at: toInstant(clock.now()), type: resetEventType, data: {} };
    this.#write(`event: ${resetEventType}\nid: ${cursor}\ndata: ${JSON.stringify(data)}\n\n`);
    return cursor;
  }

  // Without an event name, so that `onmessage` hears every type, also the ones that are added later.
  #writeEvent(event: Event): void {
    this.#write(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  #write(text: string): void {
    if (!this.#isOpen) return;
    this.#controller.enqueue(encoder.encode(text));
    if (-(this.#controller.desiredSize ?? 0) <= this.#options.bufferBytes) return;
    this.finish();
    this.#options.log.warn('an event stream was cut off: its client does not read');
    if (this.#options.connection) this.#options.connection.destroy();
    else this.#controller.error(new Error('the client does not read'));
  }

  async #whenRead(): Promise<void> {
    while (this.#isOpen && (this.#controller.desiredSize ?? 0) <= 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
  }

  // Its client comes back to where it was.
  #break(error: unknown): void {
    this.#options.log.error({ err: error }, 'an event stream ended by an error');
    this.#closePolitely();
  }

  #keepAlive(): void {
    this.#cancelKeepAlive = this.#options.clock.after(this.#options.keepAliveMs, () => {
      this.#write(': still here\n\n');
      if (this.#isOpen) this.#keepAlive();
    });
  }

  readonly #closePolitely = (): void => {
    if (!this.#isOpen) return;
    this.finish();
    this.#controller.close();
  };
}
