import type { Server } from '@modelcontextprotocol/server';
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { SessionId } from '../base/ids.ts';
import type { CallMeta, McpPorts } from './ports.ts';
import type { ServerParts } from './server.ts';
import { createExchangeServer } from './server.ts';

/** One POST of an agent. `body` has been read, within the bound. */
export interface Exchange {
  readonly sessionId: SessionId;
  readonly request: Request;
  readonly body: string;
}

/** Serves the agents' tools. */
export interface ToolEndpoint {
  /** Answers one POST. Never throws: errors are JSON-RPC. */
  serve(exchange: Exchange): Promise<Response>;
  /** Ends the streams that agents hold open for notifications. Calls under way run on to their answers. */
  close(): Promise<void>;
}

/** What the endpoint must know besides its ports. */
export interface EndpointOptions {
  readonly log: Logger;
  readonly version: string;
  /** The agent of this session is about to have the list of tools; must not throw. */
  readonly onListed?: (sessionId: SessionId) => void;
}

/** Deeper JSON is refused before anything walks it recursively. */
const deepestJson = 64;

/**
 * The tools over Streamable HTTP without sessions of the protocol: every POST is served by itself, whatever revision it
 * speaks and whatever `Mcp-Session-Id` it carries from before a restart. The bearer says whose agent it is.
 */
export function createToolEndpoint(
  ports: McpPorts,
  { log, version, onListed = () => undefined }: EndpointOptions,
): ToolEndpoint {
  // The library makes a server for each request and says for which; this is how that one learns whose it is.
  const exchanges = new WeakMap<Request, Pick<ServerParts, 'sessionId' | 'metaOf'>>();
  const createFor = (request: Request | undefined): Server => {
    const exchange = request === undefined ? undefined : exchanges.get(request);
    if (exchange === undefined) throw new Error('an MCP server was asked for without a request of ours');
    return createExchangeServer({ ...exchange, toolCalls: ports.toolCalls, onListed, log, version });
  };
  const current = createMcpHandler((context) => createFor(context.requestInfo), {
    legacy: 'reject',
    onerror: (error) => log.debug({ err: error }, 'an MCP request was refused'),
  });
  const serve = async ({ sessionId, request, body }: Exchange): Promise<Response> => {
    const message = parse(body);
    if (message === undefined) return rpcError(400, -32_700, 'Parse error: the body is not JSON');
    if (depthOf(message) > deepestJson) return rpcError(400, -32_600, 'Invalid request: nested too deeply');
    if (hasCall(message) && !(await ports.untilOpen())) return recovering();
    const own = withAccept(request);
    exchanges.set(own, { sessionId, metaOf: (id) => metaIn(message, id) });
    if (!(await isLegacyRequest(own, message))) return current.fetch(own, { parsedBody: message });
    return serveOld(createFor(own), own, message);
  };
  return {
    serve: async (exchange) => {
      try {
        return await serve(exchange);
      } catch (error) {
        log.error({ err: error, sessionId: exchange.sessionId }, 'an MCP exchange failed by a bug');
        return rpcError(500, -32_603, 'Internal error');
      }
    },
    close: () => current.close(),
  };
}

// Revisions before 2026-07-28, answered in plain JSON: nothing is sent before the result, and a stream that is cut off
// by a restart would be one more thing to lose.
async function serveOld(server: Server, request: Request, message: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}

// The protocol wants clients to accept both forms. We answer in JSON, so a client that accepts only that is served too.
function withAccept(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set('accept', 'application/json, text/event-stream');
  return new Request(request.url, { method: request.method, headers });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function depthOf(value: unknown): number {
  let depth = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= deepestJson) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    depth++;
  }
  return depth;
}

interface RpcRequest {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly _meta?: unknown } | null;
}

function requestsIn(message: unknown): RpcRequest[] {
  const all: unknown[] = Array.isArray(message) ? message : [message];
  return all.filter((item): item is RpcRequest => typeof item === 'object' && item !== null);
}

function hasCall(message: unknown): boolean {
  return requestsIn(message).some(({ method }) => method === 'tools/call');
}

// From the message itself: the library takes the keys of the protocol out of the `_meta` that it hands on.
function metaIn(message: unknown, id: string | number): CallMeta {
  const meta = requestsIn(message).find((request) => request.id === id)?.params?._meta;
  return typeof meta === 'object' && meta !== null ? (meta as CallMeta) : {};
}

function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

function recovering(): Response {
  const response = rpcError(
    503,
    -32_000,
    'The server is still recovering; nothing was started. Call again in a moment.',
  );
  response.headers.set('retry-after', '1');
  return response;
}
