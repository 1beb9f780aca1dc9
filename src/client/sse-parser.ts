/** One dispatched message of an event stream. `lastEventId` is what a reconnect must send. */
export interface SseMessage {
  readonly event: string;
  readonly data: string;
  readonly lastEventId: string;
}

/** More than this without a line end is no event stream of ours; characters. */
const longestLine = 8_000_000;

/**
 * The event stream format of the HTML standard (section 9.2.6), fed chunk by chunk: CR, LF and CRLF end lines, also
 * when a chunk ends between the two; a message without data is not dispatched but its id counts; an id with NUL is
 * ignored. `push` throws when a line grows without bound.
 */
export class SseParser {
  /** What the server asked for as the pause before a reconnect, in milliseconds. */
  retryMs: number | undefined;
  #rest = '';
  #data: string[] = [];
  #event = '';
  #idBuffer: string;
  #lastEventId: string;
  #started = false;

  constructor(lastEventId = '') {
    this.#idBuffer = lastEventId;
    this.#lastEventId = lastEventId;
  }

  /**
   * The id to resume behind, also one that came without data; undefined when there was none. The id of a message that
   * is not complete does not count: it would be skipped.
   */
  get lastEventId(): string | undefined {
    return this.#lastEventId || undefined;
  }

  push(chunk: string): SseMessage[] {
    const text = this.#rest + (this.#started ? chunk : chunk.replace(/^\ufeff/, ''));
    this.#started ||= chunk !== '';
    // A CR at the very end may be the first half of CRLF: it waits for what follows.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > longestLine) throw new Error('a line of the event stream is too long');
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): SseMessage | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#idBuffer = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): SseMessage | undefined {
    const event = this.#event || 'message';
    const data = this.#data;
    this.#event = '';
    this.#data = [];
    this.#lastEventId = this.#idBuffer;
    return data.length === 0 ? undefined : { event, data: data.join('\n'), lastEventId: this.#lastEventId };
  }
}
