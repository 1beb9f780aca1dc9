import type { TerminalEnded, TerminalPlace } from '../../../src/contract/terminal.ts';
import { socketUrl } from './base.ts';

/** How the page is connected to a terminal. */
export type TerminalState =
  | { readonly state: 'connecting' }
  | { readonly state: 'shown'; readonly place: TerminalPlace }
  /** The connection broke; it is tried again. */
  | { readonly state: 'lost' }
  | { readonly state: 'ended'; readonly reason: string };

/** What a link tells; `onPlace` comes before what is drawn in it. */
export interface TerminalListener {
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly onPlace: (place: TerminalPlace) => void;
  /** Drawn bytes; `onDrawn` once they are, so that no more comes than can be drawn. */
  readonly onBytes: (bytes: Uint8Array) => void;
  readonly onState: (state: TerminalState) => void;
}

const reconnectMs = 1_000;
const subprotocol = 'stemma.terminal';

/** The view of a session's terminal, connected again when the connection breaks; who owned it takes it again then. */
export class TerminalLink {
  readonly #sessionId: string;
  readonly #listener: TerminalListener;
  #socket: WebSocket | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isOwner = false;
  #isClosed = false;

  constructor(sessionId: string, listener: TerminalListener) {
    this.#sessionId = sessionId;
    this.#listener = listener;
  }

  /** Connects, also again. */
  connect(): void {
    this.#isClosed = false;
    clearTimeout(this.#retry);
    this.#socket?.close();
    const { columns, rows } = this.#listener.size();
    const query = `shared=true&columns=${columns}&rows=${rows}&take=${this.#isOwner}`;
    const path = `/sessions/${encodeURIComponent(this.#sessionId)}/terminal?${query}`;
    const socket = new WebSocket(socketUrl(path), subprotocol);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    let isEnded = false;
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (this.#socket !== socket) return;
      if (typeof data !== 'string') return this.#listener.onBytes(new Uint8Array(data));
      const said = JSON.parse(data) as TerminalPlace | TerminalEnded;
      if (said.type === 'ended') {
        isEnded = true;
        this.#isOwner = false;
        this.#listener.onState({ state: 'ended', reason: said.reason });
        return;
      }
      this.#isOwner = said.isOwner;
      this.#listener.onPlace(said);
      this.#listener.onState({ state: 'shown', place: said });
    };
    socket.onclose = () => {
      if (this.#socket !== socket || this.#isClosed || isEnded) return;
      this.#listener.onState({ state: 'lost' });
      this.#retry = setTimeout(() => this.connect(), reconnectMs);
    };
  }

  /** What was typed; dropped while nothing is connected. */
  type(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#isOwner && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(bytes);
  }

  resize(columns: number, rows: number): void {
    this.#say({ type: 'resize', columns, rows });
  }

  /** Becomes the owner; whoever was it watches. */
  take(): void {
    this.#say({ type: 'take' });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#socket?.close();
  }

  #say(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}
