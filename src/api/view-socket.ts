import type { RawData, WebSocket } from 'ws';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { parseJson } from '../base/parse-json.ts';
import type { TerminalEnded, TerminalPlace } from '../contract/terminal.ts';
import { viewerMessage } from '../contract/terminal.ts';
import type { TerminalSize, TerminalView } from './ports.ts';

/** Codes with which a terminal's socket is closed (RFC 6455, section 7.4.1). */
const closeCodes = { ended: 1000, goingAway: 1001, unsupported: 1003 } as const;
const unknownMessage = 'text messages are {"type":"resize","columns":…,"rows":…} or {"type":"take"}';

/** How many messages of what was typed are kept while no view is there. */
const earlyMessages = 256;

/** What a socket needs to know. */
export interface SocketSettings {
  readonly clock: Clock;
  /** Bytes that may wait for a viewer that does not read, before the terminal is paused for it. */
  readonly bufferBytes: number;
  readonly keepAliveMs: number;
  /** Aborted when the view has to end, with the reason as a text. */
  readonly closing: AbortSignal;
}

/** Where the output of a terminal goes. */
interface Sink {
  output(bytes: Uint8Array): void;
  end(reason: string): void;
}

/** What a terminal says before its socket is open. */
export class EarlyOutput implements Sink {
  #kept: ((sink: Sink) => void)[] = [];
  #sink: Sink | undefined;

  output(bytes: Uint8Array): void {
    this.#tell((sink) => sink.output(bytes));
  }

  end(reason: string): void {
    this.#tell((sink) => sink.end(reason));
  }

  goOn(sink: Sink): void {
    this.#sink = sink;
    for (const tell of this.#kept.splice(0)) tell(sink);
  }

  #tell(tell: (sink: Sink) => void): void {
    if (this.#sink) tell(this.#sink);
    else this.#kept.push(tell);
  }
}

/** What a socket tells whoever shares its terminal. None may throw. */
export interface SocketListener {
  readonly onTake: () => void;
  readonly onResize: (size: TerminalSize) => void;
  readonly onGone: () => void;
}

/**
 * The WebSocket of one viewer: bytes both ways, a paused view while its browser does not read, pings. It owns the view that it
 * shows, and ends it.
 */
export class ViewSocket implements Sink {
  /** Set by who shares the terminal; else sizes go to the view. */
  listener: SocketListener | undefined;
  readonly #socket: WebSocket;
  readonly #settings: SocketSettings;
  #view: TerminalView | undefined;
  /** What was typed while no view was there. */
  #early: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isAnswered = true;
  #cancelPing: CancelTimer | undefined;

  constructor(socket: WebSocket, settings: SocketSettings) {
    this.#socket = socket;
    this.#settings = settings;
    const { closing } = settings;
    const stop = (): void => socket.close(closeCodes.goingAway, String(closing.reason));
    if (closing.aborted) stop();
    closing.addEventListener('abort', stop, { once: true });
    socket.on('message', (data, isBinary) => this.#hear(data, isBinary));
    socket.on('pong', () => {
      this.#isAnswered = true;
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      closing.removeEventListener('abort', stop);
      this.#cancelPing?.();
      this.show(undefined);
      this.listener?.onGone();
    });
    this.#ping();
  }

  /** Whether somebody is there. */
  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Shows this view from now on; the one before it is ended. */
  show(view: TerminalView | undefined): void {
    this.#view?.end();
    this.#view = view;
    this.#isPaused = false;
    if (view) for (const bytes of this.#early.splice(0)) view.write(bytes);
  }

  resize(size: TerminalSize): void {
    this.#view?.resize(size);
  }

  tell(message: TerminalPlace): void {
    this.#socket.send(JSON.stringify(message), () => undefined);
  }

  output(bytes: Uint8Array): void {
    const { bufferBytes } = this.#settings;
    this.#waitingBytes += bytes.byteLength;
    if (this.#waitingBytes > bufferBytes && !this.#isPaused && this.#view) {
      this.#isPaused = true;
      this.#view.pause();
    }
    this.#socket.send(bytes, { binary: true }, () => {
      this.#waitingBytes -= bytes.byteLength;
      if (!this.#isPaused || this.#waitingBytes > bufferBytes / 4) return;
      this.#isPaused = false;
      this.#view?.resume();
    });
  }

  end(reason: string, code?: string): void {
    const last: TerminalEnded = { type: 'ended', reason, ...(code === undefined ? {} : { code }) };
    this.#socket.send(JSON.stringify(last), () => undefined);
    this.#socket.close(closeCodes.ended);
  }

  #hear(data: RawData, isBinary: boolean): void {
    const bytes = Buffer.isBuffer(data)
      ? data
      : Buffer.concat([data].flat().map((part) => Buffer.from(part as never)));
    if (isBinary) {
      if (this.#view) this.#view.write(bytes);
      else if (this.#early.length < earlyMessages) this.#early.push(bytes);
      return;
    }
    const said = viewerMessage.safeParse(parseJson(bytes.toString('utf8')));
    if (!said.success) this.#socket.close(closeCodes.unsupported, unknownMessage);
    else if (said.data.type === 'take') this.listener?.onTake();
    else if (this.listener) this.listener.onResize(said.data);
    else this.resize(said.data);
  }

  #ping(): void {
    this.#cancelPing = this.#settings.clock.after(this.#settings.keepAliveMs, () => {
      if (!this.#isAnswered) return this.#socket.terminate();
      this.#isAnswered = false;
      this.#socket.ping();
      this.#ping();
    });
  }
}
