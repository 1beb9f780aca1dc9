import type { CancelTimer, Clock } from '../../base/clock.ts';
import { parseJson } from '../../base/parse-json.ts';
import { pause, within } from '../../base/pause.ts';
import type { OpencodeApi } from './api.ts';

/** Who hears the stream. None of it may throw. */
export interface StreamListener {
  /** One event, as it came; undefined for one that is no JSON. */
  readonly onEvent: (event: unknown) => void;
  /** The stream is open: from now on nothing is missed. What was said before must be read from the record. */
  readonly onOpen: () => void;
  /** It broke, and will be opened again for as long as it is wanted. */
  readonly onBroken: () => void;
}

const openWithinMs = 10_000;
// opencode says every ten seconds that it is there.
const silenceMs = 45_000;
const firstWaitMs = 30;
const longestWaitMs = 2_000;

/** The stream of events of one server, opened again and again until it is closed. */
export class EventStream {
  readonly #api: OpencodeApi;
  readonly #clock: Clock;
  readonly #listener: StreamListener;
  readonly #over = new AbortController();
  #running: Promise<void> | undefined;
  #current: AbortController | undefined;

  constructor(api: OpencodeApi, clock: Clock, listener: StreamListener) {
    this.#api = api;
    this.#clock = clock;
    this.#listener = listener;
  }

  /** Begins to listen. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Breaks the connection, so that the stream is opened anew. */
  reopen(): void {
    this.#current?.abort();
  }

  /** Stops; nothing is told any more. Resolves when nothing runs. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const over = this.#over.signal;
    for (let waitMs = firstWaitMs; !over.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      const broken = new AbortController();
      this.#current = broken;
      const signal = AbortSignal.any([over, broken.signal]);
      let hasOpened = false;
      try {
        const opening = this.#api.events(signal);
        const stream = await within(this.#clock, openWithinMs, opening, undefined, signal);
        if (!stream) {
          broken.abort();
          await opening.catch(() => undefined);
        } else {
          await this.#follow(stream, broken, () => {
            hasOpened = true;
            waitMs = firstWaitMs;
          });
        }
      } catch {
        // It is opened again; a server that has died is noticed by its process.
      }
      broken.abort();
      if (over.aborted) return;
      if (hasOpened) this.#listener.onBroken();
      await pause(this.#clock, waitMs, over);
    }
  }

  async #follow(
    stream: ReadableStream<Uint8Array>,
    broken: AbortController,
    onOpen: () => void,
  ): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    let cancelSilence: CancelTimer = () => undefined;
    const heard = (): void => {
      cancelSilence();
      cancelSilence = this.#clock.after(silenceMs, () => broken.abort());
    };
    heard();
    try {
      for await (const bytes of stream) {
        if (this.#over.signal.aborted) return;
        heard();
        const frames = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) {
          const event = readFrame(frame);
          if (event === 'none') continue;
          // The first event says that the subscription holds.
          if (isHello(event)) {
            onOpen();
            this.#listener.onOpen();
          } else this.#listener.onEvent(event);
        }
      }
    } finally {
      cancelSilence();
    }
  }
}

function readFrame(frame: string): unknown {
  const data = frame
    .split('\n')
    .flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))
    .join('\n');
  return data === '' ? 'none' : parseJson(data);
}

function isHello(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'type' in event && event.type === 'server.connected';
}
