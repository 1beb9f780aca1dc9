import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Clock, systemClock } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';
import { randomToken } from '../../base/tokens.ts';

/** A call that arrived. */
interface TestToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** A small MCP server on loopback, with tools that prove that they were called. The caller closes it. */
export interface TestTools {
  readonly url: string;
  readonly token: string;
  /** How often they were listed. */
  listings(): number;
  /** Every call so far, oldest first. */
  readonly calls: readonly TestToolCall[];
  /** Called for each call before it is answered, as a server would look up whose call it is. One at a time. */
  onCall(listener: ((call: TestToolCall) => Promise<void>) | undefined): void;
  close(): Promise<void>;
}

/**
 * Starts the server. Its tools: `echo {text}` answers `{echoed: text}`; `slow {ms}` does so after a while, unless the call
 * is cancelled.
 */
export async function startTestTools(clock: Clock = systemClock): Promise<TestTools> {
  const token = randomToken('stm_ses_check_');
  const calls: TestToolCall[] = [];
  let listener: ((call: TestToolCall) => Promise<void>) | undefined;
  const arrived = async (call: TestToolCall): Promise<void> => {
    calls.push(call);
    await listener?.(call);
  };
  const mcp = createMcpHandler(() => makeServer(arrived, clock));
  let listings = 0;
  const answer = async (request: Request): Promise<Response> => {
    if (request.headers.get('authorization') !== `Bearer ${token}`)
      return new Response('no token', { status: 401 });
    if ((await request.clone().text()).includes('"tools/list"')) listings++;
    return mcp.fetch(request);
  };
  const listen = getRequestListener(answer);
  const server = createServer((incoming, outgoing) => void listen(incoming, outgoing));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    token,
    listings: () => listings,
    calls,
    onCall: (next) => {
      listener = next;
    },
    close: async () => {
      await mcp.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function makeServer(arrived: (call: TestToolCall) => Promise<void>, clock: Clock): McpServer {
  const server = new McpServer({ name: 'stemma-check', version: '1' });
  const echo = {
    description: 'Answers with the text it was given.',
    inputSchema: z.object({ text: z.string() }),
  };
  server.registerTool('echo', echo, async (args, context) => {
    await arrived({ name: 'echo', args, meta: context.mcpReq._meta ?? {} });
    return answerOf({ echoed: args.text });
  });
  const slow = { description: 'Waits so many milliseconds.', inputSchema: z.object({ ms: z.number() }) };
  server.registerTool('slow', slow, async (args, context) => {
    await arrived({ name: 'slow', args, meta: context.mcpReq._meta ?? {} });
    await pause(clock, args.ms, context.mcpReq.signal);
    return answerOf({ waitedMs: args.ms });
  });
  return server;
}

function answerOf(data: Record<string, unknown>): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: JSON.stringify(data) }] };
}
