import { existsSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createConnection } from 'node:net';
import WebSocket, { WebSocketServer } from 'ws';

/** A message of the protocol, as far as a fault wants to look at it. */
export interface SeenMessage {
  readonly direction: 'toServer' | 'toClient';
  readonly id?: string | number;
  readonly method?: string;
  /** For an answer: the method of the request it answers. */
  readonly answers?: string;
  readonly text: string;
}

/**
 * What happens to the first message that fits, or to the first `times`. `drop`: it vanishes. `duplicate`: it comes twice. `swap`: it comes behind
 * the next one of its direction. `cut`: it vanishes and the connection with it. `cutAfterMs`: it passes, and
 * some milliseconds later the connection is cut. `garbage`: frames that are no messages come before it. `delay`: it, and all behind it, come later.
 */
export interface Fault {
  readonly when: (message: SeenMessage) => boolean;
  readonly action:
    | 'drop'
    | 'duplicate'
    | 'swap'
    | 'cut'
    | 'garbage'
    | { readonly delayMs: number }
    | { readonly cutAfterMs: number };
  readonly times?: number;
}

/** Sits between a driver and a real app-server and breaks exactly what it is told to, once each. */
export class FaultProxy {
  readonly #server: Server;
  readonly #path: string;
  readonly #target: string;
  #faults: Fault[] = [];
  /** How many faults happened since `clear`. */
  fired = 0;

  /** Takes the place of the server that listens at `path`. Restore with `stop`. */
  static async before(path: string): Promise<FaultProxy> {
    const target = `${path}.real`;
    if (!existsSync(target)) renameSync(path, target);
    const server = createServer();
    const proxy = new FaultProxy(server, path, target);
    const sockets = new WebSocketServer({ server, perMessageDeflate: false });
    sockets.on('connection', (client) => proxy.#connect(client));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    return proxy;
  }

  private constructor(server: Server, path: string, target: string) {
    this.#server = server;
    this.#path = path;
    this.#target = target;
  }

  add(fault: Fault): void {
    this.#faults.push(fault);
  }

  /** Forgets faults that have not happened. */
  clear(): void {
    this.#faults = [];
    this.fired = 0;
  }

  /** Gives the place back to the server. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    rmSync(this.#path, { force: true });
    renameSync(this.#target, this.#path);
  }

  #connect(client: WebSocket): void {
    const upstream = new WebSocket('ws://codex/', {
      createConnection: () => createConnection(this.#target),
      perMessageDeflate: false,
    });
    const cut = (): void => {
      client.terminate();
      upstream.terminate();
    };
    const asked = new Map<string | number, string>();
    const opened = new Promise<void>((resolve) => upstream.once('open', resolve));
    const toServer = new Lane(
      this,
      'toServer',
      asked,
      (text) => void opened.then(() => upstream.send(text)),
      cut,
    );
    const toClient = new Lane(this, 'toClient', asked, (text) => client.send(text), cut);
    client.on('message', (data) => toServer.pass(textOf(data)));
    upstream.on('message', (data) => toClient.pass(textOf(data)));
    for (const socket of [client, upstream]) {
      socket.on('close', cut);
      socket.on('error', cut);
    }
  }

  /** The fault for this message, which is used up by that. */
  take(message: SeenMessage): Fault | undefined {
    const fault = this.#faults.find((candidate) => candidate.when(message));
    if (!fault) return undefined;
    const { times = 1 } = fault;
    const rest = times > 1 ? [{ ...fault, times: times - 1 }] : [];
    this.#faults = [...rest, ...this.#faults.filter((other) => other !== fault)];
    this.fired++;
    return fault;
  }
}

/** One direction of one connection: keeps the order, except where a fault breaks it. */
class Lane {
  readonly #proxy: FaultProxy;
  readonly #direction: SeenMessage['direction'];
  readonly #asked: Map<string | number, string>;
  readonly #send: (text: string) => void;
  readonly #cut: () => void;
  #behindNext: string | undefined;
  #tail: Promise<void> = Promise.resolve();

  constructor(
    proxy: FaultProxy,
    direction: SeenMessage['direction'],
    asked: Map<string | number, string>,
    send: (text: string) => void,
    cut: () => void,
  ) {
    this.#proxy = proxy;
    this.#direction = direction;
    this.#asked = asked;
    this.#send = send;
    this.#cut = cut;
  }

  pass(text: string): void {
    const message = this.#read(text);
    const action = this.#proxy.take(message)?.action;
    this.#tail = this.#tail.then(() => this.#do(action, text));
  }

  #read(text: string): SeenMessage {
    const { id, method } = JSON.parse(text) as { id?: string | number; method?: string };
    if (this.#direction === 'toServer' && id !== undefined && method !== undefined)
      this.#asked.set(id, method);
    const answers = id !== undefined && method === undefined ? this.#asked.get(id) : undefined;
    return {
      direction: this.#direction,
      text,
      ...(id === undefined ? {} : { id }),
      ...(method === undefined ? {} : { method }),
      ...(answers === undefined ? {} : { answers }),
    };
  }

  async #do(action: Fault['action'] | undefined, text: string): Promise<void> {
    if (action === 'drop') return;
    if (action === 'cut') return this.#cut();
    if (action === 'swap') {
      this.#behindNext = text;
      return;
    }
    if (action === 'garbage')
      for (const noise of ['not json', '[1,2,3]', '{"neither":"nor"}']) this.#send(noise);
    if (typeof action === 'object' && 'delayMs' in action) await pause(action.delayMs);
    this.#send(text);
    if (action === 'duplicate') this.#send(text);
    if (typeof action === 'object' && 'cutAfterMs' in action) void pause(action.cutAfterMs).then(this.#cut);
    const late = this.#behindNext;
    this.#behindNext = undefined;
    if (late !== undefined) this.#send(late);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function textOf(data: WebSocket.RawData): string {
  return (data as Buffer).toString('utf8');
}
