import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What is answered: a status, perhaps with headers and a body; or nothing, ever. */
export type Reply =
  | number
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | 'silence';

/** A CloudEvent as far as tests look at it. */
export interface CloudEventLike {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly time: string;
  readonly specversion: string;
  readonly data: Readonly<Record<string, unknown>> & {
    readonly count?: number;
    readonly events?: readonly CloudEventLike[];
  };
}

/** An HTTP server on loopback that keeps what it gets. */
export class Receiver {
  readonly received: Received[] = [];
  /** What it answers from now on. */
  reply: Reply = 200;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url = '', headers } = request;
        receiver.received.push({ path: url, headers, body: Buffer.concat(chunks).toString() });
        const { reply } = receiver;
        if (reply === 'silence') return;
        const full = typeof reply === 'number' ? { status: reply } : reply;
        response.writeHead(full.status, full.headers ?? {});
        response.end(full.body ?? '');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** The bodies, as JSON. */
  get events(): CloudEventLike[] {
    return this.received.map(({ body }) => JSON.parse(body) as CloudEventLike);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
