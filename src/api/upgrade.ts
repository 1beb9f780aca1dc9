import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { StemmaError } from '../base/errors.ts';
import { terminalProtocol } from '../contract/terminal.ts';
import { problemResponse } from './problems.ts';

/** What a route finds in its environment when the request asks for a WebSocket. */
export interface Upgrade {
  /** The route takes it: `open` is called with the socket, or `abandon`, when the client has gone meanwhile. */
  accept(taken: Taken): void;
}

/** Who takes a WebSocket. Exactly one of the two is called, once. */
export interface Taken {
  readonly open: (socket: WebSocket) => void;
  readonly abandon: () => void;
}

/** How long a message of a client may be, in bytes: what a person pastes at once. */
const longestMessageBytes = 1_048_576;

/**
 * Answers requests for WebSockets through the same handler as all others, so that hosts, tokens and errors are the same too:
 * what is refused gets its problem document.
 */
export class Upgrades {
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: longestMessageBytes,
    // A token that was offered as a protocol is never told back.
    handleProtocols: (offered) => (offered.has(terminalProtocol) ? terminalProtocol : false),
  });
  readonly #fetch: (request: Request, env: unknown) => Response | Promise<Response>;
  readonly #badRequest: StemmaError;

  constructor(
    fetch: (request: Request, env: unknown) => Response | Promise<Response>,
    badRequest: StemmaError,
  ) {
    this.#fetch = fetch;
    this.#badRequest = badRequest;
  }

  /** Serves node's `upgrade`. Never rejects. */
  async serve(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    let taken: Taken | undefined;
    const upgrade: Upgrade = { accept: (by) => (taken = by) };
    const request = isWebSocket(incoming) ? requestOf(incoming) : undefined;
    const response = request
      ? await this.#fetch(request, { incoming, upgrade })
      : problemResponse(this.#badRequest);
    const takes = taken as Taken | undefined;
    if (!takes)
      return refuse(socket, response.ok ? await notUpgradable(response, this.#badRequest) : response);
    if (socket.destroyed) return takes.abandon();
    const onClose = takes.abandon;
    socket.once('close', onClose);
    this.#server.handleUpgrade(incoming, socket, head, (webSocket) => {
      socket.off('close', onClose);
      takes.open(webSocket);
    });
  }

  /** Cuts off every WebSocket that is still open. */
  cutOff(): void {
    for (const client of this.#server.clients) client.terminate();
  }
}

// With a listener for upgrades node hands over every request that asks for one, for whatever protocol.
function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

function requestOf(incoming: IncomingMessage): Request | undefined {
  const headers = new Headers();
  try {
    for (const [name, value] of Object.entries(incoming.headers))
      for (const each of [value ?? []].flat()) headers.append(name, each);
    return new Request(new URL(incoming.url ?? '/', `http://${headers.get('host') ?? 'none'}`), { headers });
  } catch {
    return undefined;
  }
}

/** Only terminals are upgraded to: what would answer anything else, a stream above all, is not read. */
async function notUpgradable(response: Response, problem: StemmaError): Promise<Response> {
  await response.body?.cancel();
  return problemResponse(problem);
}

async function refuse(socket: Duplex, response: Response): Promise<void> {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = Buffer.from(await response.arrayBuffer());
  const head = [
    `HTTP/1.1 ${response.status} Refused`,
    'connection: close',
    `content-length: ${body.byteLength}`,
  ];
  response.headers.forEach((value, name) => {
    if (name !== 'content-length') head.push(`${name}: ${value}`);
  });
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
}
