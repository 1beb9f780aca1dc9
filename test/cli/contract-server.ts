import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError, type ErrorCode } from '../../src/base/errors.ts';
import type { Execution, TreeView } from '../../src/contract/execution.ts';

/** What a route answers; 200 if not said. */
export type Answer = { status?: number; body: unknown };
/** Answers one request. */
export type Route = (
  body: Record<string, unknown>,
  url: URL,
  request: IncomingMessage,
) => Answer | Promise<Answer>;

/** A server on loopback that speaks the contract and answers what a test says: `routes` by method and path. */
export class ContractServer {
  readonly routes: Record<string, Route> = {};
  readonly seen: {
    route: string;
    body: Record<string, unknown>;
    headers: IncomingMessage['headers'];
    url: URL;
  }[] = [];
  readonly streams = new Set<ServerResponse>();
  url = '';
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Sends an event to whoever listens. */
  publish(rootId: string, type = 'execution.state'): void {
    const event = { id: `c${this.seen.length}`, at: instant, type, rootId, data: {} };
    for (const stream of this.streams) stream.write(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x');
    const route = `${request.method} ${url.pathname.replace('/api/v1', '')}`;
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    this.seen.push({ route, body, headers: request.headers, url });
    if (route === 'GET /events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 50\n\n');
      this.streams.add(response);
      response.on('close', () => this.streams.delete(response));
      return;
    }
    const answer =
      (await this.routes[route]?.(body, url, request)) ?? problem('NOT_FOUND', `nothing is at ${route}`);
    response
      .writeHead(answer.status ?? 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer.body));
  }
}

/** An error of the server. */
export function problem(code: ErrorCode, detail: string): Answer {
  const { status, title } = describeError(code);
  return { status, body: { type: 'about:blank', title, status, code, detail } };
}

/** The instant of everything in these tests. */
export const instant = '2026-01-01T00:00:00.000Z';
/** An execution. */
export const exe = 'exe_01AAAAAAAAAAAAAAAAAAAAAAAA';
/** A session. */
export const ses = 'ses_01AAAAAAAAAAAAAAAAAAAAAAAA';

/** A running root. */
export function execution(more: Partial<Execution> = {}): Execution {
  return {
    id: exe,
    rootId: exe,
    parentId: null,
    parentSource: 'none',
    kind: 'message',
    name: 'Hello.',
    attempt: 1,
    state: 'running',
    open: 0,
    closed: false,
    createdAt: instant,
    startedAt: instant,
    ...more,
  };
}

/** A tree of one execution. */
export function tree(root: Execution, more: Partial<TreeView> = {}): TreeView {
  const { closed, outcome, outcomeCode } = root;
  return {
    root: root.id,
    closed,
    outcome,
    outcomeCode,
    executions: [root],
    notices: [],
    holding: [],
    ...more,
  };
}
