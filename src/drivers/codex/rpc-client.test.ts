import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { type Connected, RpcClient, type RpcHandlers } from './rpc-client.ts';

describe('the connection to an app-server', () => {
  let directory: string;
  let path: string;
  let server: Server;
  let peer: WebSocket | undefined;
  let received: string[];
  let heard: unknown[];
  let wake: (() => void) | undefined;
  const handlers: RpcHandlers = {
    onNotification: (method, params) => note({ method, params }),
    onRequest: (request, client) => {
      note(request);
      client.respond(request.id, { decision: 'decline' });
    },
    onNoise: (what) => note({ noise: what }),
    onClose: () => note('closed'),
  };
  const note = (what: unknown): void => {
    heard.push(what);
    wake?.();
  };
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise<void>((resolve) => (wake = resolve));
  };
  const client = (connected: Connected): RpcClient => {
    if (!connected.ok) throw new Error(connected.message);
    return connected.client;
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-rpc-'));
    // A colon and a blank are legal in a path.
    path = join(directory, 'a b:c');
    [received, heard, peer] = [[], [], undefined];
    server = createServer();
    new WebSocketServer({ server }).on('connection', (socket) => {
      peer = socket;
      socket.on('message', (data) => {
        received.push((data as Buffer).toString('utf8'));
        wake?.();
      });
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
  });
  afterEach(async () => {
    peer?.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  });

  it('says that nobody is there, and that somebody is silent', async () => {
    const missing = await RpcClient.connect(join(directory, 'none'), systemClock, 1000, handlers);
    expect(missing).toMatchObject({ ok: false, reason: 'absent' });
    const mute = createServer();
    const sockets: Duplex[] = [];
    mute.on('upgrade', (_, socket) => sockets.push(socket));
    await new Promise<void>((resolve) => mute.listen(join(directory, 'mute'), resolve));
    expect(await RpcClient.connect(join(directory, 'mute'), systemClock, 100, handlers)).toMatchObject({
      ok: false,
      reason: 'silent',
    });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => mute.close(resolve));
  });

  it('gives each request its own answer, in whatever order they come', async () => {
    const rpc = client(await RpcClient.connect(path, systemClock, 1000, handlers));
    const answers = Promise.all([rpc.request('a', {}, 1000), rpc.request('b', {}, 1000)]);
    await until(() => received.length === 2);
    peer?.send('{"id":2,"error":{"code":-32600,"message":"no","data":{"reason":"serverShuttingDown"}}}');
    peer?.send('{"id":1,"result":{"ok":true}}');
    expect(await answers).toEqual([
      { outcome: 'ok', result: { ok: true } },
      { outcome: 'refused', message: 'no', reason: 'serverShuttingDown' },
    ]);
    rpc.close();
    await until(() => heard.includes('closed'));
  });

  it('calls a request lost at its deadline, and its late answer noise', async () => {
    const clock = new VirtualClock();
    const rpc = client(await RpcClient.connect(path, clock, 1000, handlers));
    const answer = rpc.request('turn/start', {}, 30_000);
    clock.advance(30_000);
    expect(await answer).toMatchObject({ outcome: 'lost' });
    await until(() => peer !== undefined);
    peer?.send('{"id":1,"result":{}}');
    await until(() => heard.length > 0);
    expect(heard).toMatchObject([{ noise: expect.stringContaining('no request of ours') }]);
    rpc.close();
    await until(() => heard.includes('closed'));
  });

  it('calls what was written lost when the connection breaks, and what comes later unsent', async () => {
    const rpc = client(await RpcClient.connect(path, systemClock, 1000, handlers));
    const answer = rpc.request('turn/start', {}, 1000);
    await until(() => received.length === 1);
    peer?.terminate();
    expect(await answer).toMatchObject({ outcome: 'lost' });
    await until(() => heard.includes('closed'));
    expect(await rpc.request('turn/start', {}, 1000)).toMatchObject({ outcome: 'unsent' });
  });

  it('hears notifications, answers questions, and goes on over garbage', async () => {
    const rpc = client(await RpcClient.connect(path, systemClock, 1000, handlers));
    for (const text of [
      'not json',
      '[]',
      '{}',
      '{"method":"m","params":{"x":1}}',
      '{"id":"q","method":"ask"}',
    ])
      peer?.send(text);
    await until(() => heard.length === 5 && received.length === 1);
    expect(heard.slice(3)).toMatchObject([
      { method: 'm', params: { x: 1 } },
      { id: 'q', method: 'ask' },
    ]);
    expect(JSON.parse(received[0] ?? '')).toEqual({ id: 'q', result: { decision: 'decline' } });
    rpc.close();
    await until(() => heard.includes('closed'));
  });
});
