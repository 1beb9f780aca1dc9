import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A request that is written whole to the server at `url`, whose connection is then cut without reading an answer. */
export async function sendAndHangUp(
  url: string,
  request: { readonly path: string; readonly token: string; readonly body: unknown },
): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const body = JSON.stringify(request.body);
  const head = [
    `POST ${request.path} HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${request.token}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  await new Promise<void>((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => resolve()));
  await nextTurn();
  socket.destroy();
  await once(socket, 'close');
}

/** The body of a call of a tool. */
export function toolCall(name: string, args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
}

/** What a tool answered. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Calls a tool with a session's token, as its agent does. */
export async function callTool(
  url: string,
  token: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolAnswer> {
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(toolCall(name, args)),
  });
  const { result, error } = (await response.json()) as {
    result?: { isError?: boolean; content: { text: string }[]; structuredContent?: Record<string, unknown> };
    error?: { message: string };
  };
  if (!result) return { isError: true, text: error?.message ?? `HTTP ${response.status}`, data: {} };
  const text = result.content.map((block) => block.text).join('\n');
  return { isError: result.isError === true, text, data: result.structuredContent ?? {} };
}
