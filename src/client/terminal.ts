import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { parseJson } from '../base/parse-json.ts';
import { otherPaths } from '../contract/routes.ts';
import type { ViewerMessage } from '../contract/terminal.ts';
import { terminalEnded, terminalProtocol } from '../contract/terminal.ts';
import type { Connection } from './http.ts';
import { addressOf, problemError, unreachable } from './http.ts';

/** A terminal's size in cells. */
type Size = Omit<Extract<ViewerMessage, { type: 'resize' }>, 'type'>;

/** How a view of a terminal ended. `lost`: the server went away; the terminal may live on. */
export type TerminalEnd =
  | { readonly how: 'ended'; readonly reason: string }
  | { readonly how: 'lost' | 'detached' };

/** One view of a session's terminal. The caller ends it. */
export interface TerminalConnection {
  /** What was typed. What goes in after the end is dropped. */
  write(bytes: Uint8Array): void;
  resize(size: Size): void;
  /** Ends the view; the terminal lives on. */
  detach(): void;
  /** Resolves when it is over, for whatever reason. */
  readonly ended: Promise<TerminalEnd>;
}

/** What is wanted. `onOutput` is called in order, and never after `ended` has resolved. */
export interface AttachOptions {
  /** The session; the beginning of its id is enough. */
  readonly id: string;
  readonly size: Size;
  /** Only see: nothing is typed, and no terminal is opened. */
  readonly isReadOnly?: boolean;
  readonly onOutput: (bytes: Uint8Array) => void;
}

/** Attaches to a session's terminal. Rejects with the code of the server's problem document, or `UNREACHABLE`. */
export function attachTerminal(connection: Connection, options: AttachOptions): Promise<TerminalConnection> {
  const { columns, rows } = options.size;
  const readOnly = options.isReadOnly ? { readOnly: 'true' } : {};
  const path = otherPaths.terminal.replace(':id', encodeURIComponent(options.id));
  const address = addressOf(connection, { path, query: { columns, rows, ...readOnly } });
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const headers = connection.token === undefined ? {} : { authorization: `Bearer ${connection.token}` };
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, terminalProtocol, { headers, perMessageDeflate: false });
    socket.on('unexpected-response', (_request, response) => {
      void problemOf(connection, response).then(reject, reject);
    });
    socket.on('error', (error) => reject(unreachable(connection, 'does not answer', error)));
    socket.on('open', () => resolve(connectionOf(socket, options)));
  });
}

function connectionOf(socket: WebSocket, { onOutput }: AttachOptions): TerminalConnection {
  let end: TerminalEnd = { how: 'lost' };
  const ended = new Promise<TerminalEnd>((resolve) => socket.on('close', () => resolve(end)));
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return onOutput(data);
    const said = terminalEnded.safeParse(parseJson(data.toString('utf8')));
    if (said.success) end = { how: 'ended', reason: said.data.reason };
  });
  const send = (data: Uint8Array | string): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data);
  };
  return {
    ended,
    write: (bytes) => send(bytes),
    resize: (size) => send(JSON.stringify({ type: 'resize', ...size } satisfies ViewerMessage)),
    detach() {
      end = { how: 'detached' };
      socket.close(1000);
    },
  };
}

async function problemOf(connection: Connection, response: IncomingMessage): Promise<Error> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const body = parseJson(Buffer.concat(parts).toString('utf8'));
  return problemError(connection, { status: response.statusCode ?? 500 }, body);
}
