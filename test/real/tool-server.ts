import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A tool call as it arrived. */
export interface ReceivedCall {
  readonly text: string;
  readonly bearer: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** A tool server that takes any bearer and remembers it. The caller closes it. */
export interface ToolServer {
  readonly url: string;
  readonly calls: readonly ReceivedCall[];
  /** How often a bearer was told the tools. */
  listings(bearer: string): number;
  /** Called with each call before it is answered. */
  onCall: ((call: ReceivedCall) => Promise<void>) | undefined;
  /** How long every request waits before it is looked at. */
  delayMs: number;
  close(): Promise<void>;
}

/** Starts a server with one tool, `slow_echo {secs, text}`. */
export async function startToolServer(): Promise<ToolServer> {
  const calls: ReceivedCall[] = [];
  const listings = new Map<string, number>();
  const serving = {
    url: '',
    calls,
    listings: (bearer: string): number => listings.get(bearer) ?? 0,
    onCall: undefined as ToolServer['onCall'],
    delayMs: 0,
    close: async (): Promise<void> => undefined,
  };
  // One handler for each bearer, because a tool does not see the request it came with.
  const handlers = new Map<string, ReturnType<typeof createMcpHandler>>();
  const handlerOf = (bearer: string): ReturnType<typeof createMcpHandler> => {
    const known = handlers.get(bearer) ?? createMcpHandler(() => makeServer(bearer, serving));
    handlers.set(bearer, known);
    return known;
  };
  const listener = getRequestListener(async (request) => {
    const bearer = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? 'none';
    if ((await request.clone().text()).includes('"tools/list"'))
      listings.set(bearer, (listings.get(bearer) ?? 0) + 1);
    if (serving.delayMs > 0) await delay(serving.delayMs);
    return handlerOf(bearer).fetch(request);
  });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  serving.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  serving.close = async () => {
    for (const handler of handlers.values()) await handler.close();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return serving;
}

function makeServer(
  bearer: string,
  serving: { calls: ReceivedCall[]; onCall: ToolServer['onCall'] },
): McpServer {
  const server = new McpServer({ name: 'real-test', version: '1' });
  const tool = {
    description: 'Echoes after a while.',
    inputSchema: z.object({ secs: z.number(), text: z.string() }),
  };
  server.registerTool('slow_echo', tool, async ({ secs, text }, context) => {
    const call = { text, bearer, meta: context.mcpReq._meta ?? {} };
    serving.calls.push(call);
    await serving.onCall?.(call);
    await delay(secs * 1000, undefined, { signal: context.mcpReq.signal }).catch(() => undefined);
    return { content: [{ type: 'text', text: `echo ${text}` }] };
  });
  return server;
}
