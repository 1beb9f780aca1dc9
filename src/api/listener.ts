import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { StemmaError } from '../base/errors.ts';
import { problemResponse, toProblem } from './problems.ts';
import { Upgrades } from './upgrade.ts';

/** A server that listens. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Takes no more connections, waits for open requests up to `graceMs`, then cuts off what is left. */
  close(graceMs: number): Promise<void>;
}

/** What to serve, and where. `port` 0 takes a free one. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  /** Which request handler; `env` has node's own `incoming` and `outgoing`. */
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>;
}

/** Listens. Rejects with `PORT_IN_USE`, or with `INVALID_CONFIG` for an address that cannot be listened on. */
export async function listen({ host, port, clock, fetch }: ListenOptions): Promise<Listener> {
  const badRequest = new StemmaError('INVALID_INPUT', 'The request is not valid HTTP.');
  // The library's own Request and Response stay out of the globals: agents' clients and tests share this process.
  const answer = getRequestListener(fetch, {
    overrideGlobalObjects: false,
    errorHandler: () => problemResponse(badRequest),
  });
  const server = createServer(
    // A slow sender must not keep a connection for ever; answers may take as long as they like (waits, streams).
    { headersTimeout: 20_000, requestTimeout: 60_000, keepAliveTimeout: 20_000 },
    (incoming, outgoing) => void answer(incoming, outgoing),
  );
  const upgrades = new Upgrades(fetch, badRequest);
  server.on('upgrade', (incoming, socket, head) => void upgrades.serve(incoming, socket, head));
  server.on('clientError', (_error, socket) => refuse(socket as Socket, badRequest));
  await bound(server, host, port);
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close: (graceMs) => close(server, upgrades, clock, graceMs),
  };
}

function bound(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? inUse(host, port) : unusable(host, port, error));
    });
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function inUse(host: string, port: number): StemmaError {
  const message = `The port ${port} of ${host} is in use. Name another one with --port; 0 takes any free one.`;
  return new StemmaError('PORT_IN_USE', message, { host, port });
}

function unusable(host: string, port: number, error: NodeJS.ErrnoException): StemmaError {
  const isPrivileged = error.code === 'EACCES';
  const why = isPrivileged ? `the port ${port} needs more rights` : `this machine has no such address`;
  const message = `Nothing can listen on ${host}, port ${port}: ${why} (${error.code ?? error.message}).`;
  const key = isPrivileged ? 'server.port' : 'server.host';
  return new StemmaError('INVALID_CONFIG', message, { key, host, port }, error);
}

function refuse(socket: Socket, error: StemmaError): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(toProblem(error));
  const head = ['HTTP/1.1 400 Bad Request', 'content-type: application/problem+json', 'connection: close'];
  socket.end(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** How often connections that have fallen idle are looked for while the server closes, in milliseconds. */
const lookForIdleMs = 20;

function close(server: Server, upgrades: Upgrades, clock: Clock, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(graceMs, () => {
      upgrades.cutOff();
      server.closeAllConnections();
    });
    let cancelLook: CancelTimer | undefined;
    // A client keeps its connection when its answer or its stream has ended, and would be waited for to the last moment.
    const closeIdle = (): void => {
      server.closeIdleConnections();
      cancelLook = clock.after(lookForIdleMs, closeIdle);
    };
    server.close(() => {
      cancel();
      cancelLook?.();
      resolve();
    });
    closeIdle();
  });
}
