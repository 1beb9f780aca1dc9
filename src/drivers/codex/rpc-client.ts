import { createConnection } from 'node:net';
import WebSocket from 'ws';
import { z } from 'zod';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { parseJson } from '../../base/parse-json.ts';

/** What became of a request. Nothing here throws, and every request is settled at its deadline at the latest. */
export type Answer =
  | { readonly outcome: 'ok'; readonly result: unknown }
  /** Codex said no. `reason` is its own word for it, if it gave one. */
  | { readonly outcome: 'refused'; readonly message: string; readonly reason?: string }
  /** Written, and no answer came: it may have been carried out. */
  | { readonly outcome: 'lost'; readonly message: string }
  /** Never written: it was certainly not carried out. */
  | { readonly outcome: 'unsent'; readonly message: string };

/** A request that Codex makes of us. It is answered with `respond` or `reject` of the client it came from. */
export interface ServerRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
}

/** What the connection hears. The callbacks must not throw. */
export interface RpcHandlers {
  readonly onNotification: (method: string, params: unknown) => void;
  /** To be answered on the same client. */
  readonly onRequest: (request: ServerRequest, client: RpcClient) => void;
  /** A frame that is no message of the protocol. */
  readonly onNoise: (what: string) => void;
  /** Called once; every pending request was settled before. */
  readonly onClose: () => void;
}

/** `absent`: nobody listens there. `silent`: somebody does, but does not speak the protocol in time. */
export type Connected =
  | { readonly ok: true; readonly client: RpcClient }
  | { readonly ok: false; readonly reason: 'absent' | 'silent'; readonly message: string };

const message = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string(), data: z.unknown().optional() }).optional(),
});
const errorData = z.object({ reason: z.string() });

const mostPending = 10_000;
const longestFrame = 256 * 1024 * 1024;

interface Pending {
  readonly settle: (answer: Answer) => void;
  readonly cancel: CancelTimer;
}

/** JSON-RPC over the WebSocket that a Codex app-server offers on a unix socket. */
export class RpcClient {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** Connects within `timeoutMs`. The caller owns the client and closes it. */
  static async connect(
    path: string,
    clock: Clock,
    timeoutMs: number,
    handlers: RpcHandlers,
  ): Promise<Connected> {
    const socket = new WebSocket('ws://codex/', {
      createConnection: () => createConnection(path),
      perMessageDeflate: false,
      maxPayload: longestFrame,
    });
    const failure = await new Promise<{ reason: 'absent' | 'silent'; message: string } | undefined>(
      (resolve) => {
        const cancel = clock.after(timeoutMs, () =>
          resolve({ reason: 'silent', message: 'no handshake in time' }),
        );
        const settle = (value: Parameters<typeof resolve>[0]): void => {
          cancel();
          resolve(value);
        };
        socket.once('open', () => settle(undefined));
        socket.on('error', (error: NodeJS.ErrnoException) => {
          const isAbsent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
          settle({ reason: isAbsent ? 'absent' : 'silent', message: error.message });
        });
      },
    );
    if (!failure) return { ok: true, client: new RpcClient(socket, clock, handlers) };
    socket.terminate();
    return { ok: false, ...failure };
  }

  private constructor(socket: WebSocket, clock: Clock, handlers: RpcHandlers) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on('message', (data: WebSocket.RawData, isBinary: boolean) => {
      if (isBinary) handlers.onNoise('a binary frame');
      else this.#receive(textOf(data), handlers);
    });
    socket.once('close', () => {
      this.#settleAll();
      handlers.onClose();
    });
  }

  /** Sends a request. At the deadline the answer is `lost`. */
  request(method: string, params: unknown, timeoutMs: number): Promise<Answer> {
    if (this.#socket.readyState !== WebSocket.OPEN) return unsent('the connection is closed');
    if (this.#pending.size >= mostPending) return unsent('too many requests are pending');
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const settle = (answer: Answer): void => {
        this.#pending.get(id)?.cancel();
        this.#pending.delete(id);
        resolve(answer);
      };
      const cancel = this.#clock.after(timeoutMs, () =>
        settle({ outcome: 'lost', message: `${method} was not answered within ${timeoutMs} ms` }),
      );
      this.#pending.set(id, { settle, cancel });
      this.#send({ id, method, params });
    });
  }

  /** Says something that has no answer. On a closed connection nothing is sent. */
  notify(method: string): void {
    this.#send({ method });
  }

  /** Answers a request of Codex. On a closed connection nothing is sent, and Codex asks again on the next one. */
  respond(id: string | number, result: unknown): void {
    this.#send({ id, result });
  }

  /** Answers a request of Codex that nobody here can serve. */
  reject(id: string | number, text: string): void {
    this.#send({ id, error: { code: -32601, message: text } });
  }

  /** Cuts the connection at once. Pending requests are `lost`. */
  close(): void {
    this.#socket.terminate();
  }

  #send(body: unknown): void {
    // A failed write closes the socket, and the closing settles what was pending.
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(body), () => undefined);
  }

  #receive(text: string, handlers: RpcHandlers): void {
    const read = parse(text);
    if (!read) return handlers.onNoise(`a frame that is no message: ${text.slice(0, 200)}`);
    const { id, method, params } = read;
    if (method !== undefined) {
      if (id === undefined) handlers.onNotification(method, params);
      else handlers.onRequest({ id, method, params }, this);
      return;
    }
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (!pending) return handlers.onNoise(`an answer to no request of ours: ${text.slice(0, 200)}`);
    pending.settle(toAnswer(read));
  }

  #settleAll(): void {
    for (const { settle } of [...this.#pending.values()]) {
      settle({ outcome: 'lost', message: 'the connection was closed before the answer came' });
    }
  }
}

function textOf(data: WebSocket.RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}

function toAnswer(read: z.infer<typeof message>): Answer {
  if (!read.error) return { outcome: 'ok', result: read.result };
  const data = errorData.safeParse(read.error.data);
  return {
    outcome: 'refused',
    message: read.error.message,
    ...(data.success ? { reason: data.data.reason } : {}),
  };
}

function unsent(text: string): Promise<Answer> {
  return Promise.resolve({ outcome: 'unsent', message: text });
}

function parse(text: string): z.infer<typeof message> | undefined {
  const { data } = message.safeParse(parseJson(text));
  return data?.id === undefined && data?.method === undefined ? undefined : data;
}
