import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { type RunningEdge, startEdge, tokens } from '../../test/edges/running-edge.ts';
import { StemmaClient } from './stemma-client.ts';
import { waitUntilClosed } from './wait.ts';

let edge: RunningEdge;
let client: StemmaClient;
beforeEach(async () => {
  edge = await startEdge();
  client = new StemmaClient({ url: edge.url, token: tokens.admin }, systemClock);
});
afterEach(() => edge.stop());

describe('the client, against the HTTP edge', () => {
  it('sends, reads and waits until what it sent is closed', async () => {
    const { queryId, sessionId } = await client.call('query', { body: { message: 'Hello.' } });
    const tree = await client.call('getTree', { id: queryId });
    expect(tree).toMatchObject({ root: queryId, closed: false });
    expect((await client.call('listSessions')).items.map(({ id }) => id)).toContain(sessionId);
    expect(await waitUntilClosed(client, queryId, { timeoutMs: 20 })).toMatchObject({ closed: false });
  });

  it('throws the code of the server, and of its token', async () => {
    await expect(client.call('getExecution', { id: 'exe_0' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('query', { body: { message: ' ' } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    const stranger = new StemmaClient({ url: edge.url, token: 'stm_api_none' }, systemClock);
    await expect(stranger.call('monitor')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const nobody = new StemmaClient({ url: 'http://127.0.0.1:1' }, systemClock);
    await expect(nobody.call('monitor')).rejects.toMatchObject({
      code: 'UNREACHABLE',
      data: { url: 'http://127.0.0.1:1' },
    });
    const nonsense = new StemmaClient({ url: 'nowhere' }, systemClock);
    await expect(nonsense.call('monitor')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('follows events from a cursor on, and hears when the cursor is of another database', async () => {
    const { eventCursor } = await client.call('monitor');
    const { queryId } = await client.call('query', { body: { message: 'Hello.' } });
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const event of client.events({ after: eventCursor, root: queryId, signal: stop.signal })) {
      seen.push(event.rootId ?? '');
      if (seen.length > 0) break;
    }
    expect(seen).toEqual([queryId]);
    for await (const event of client.events({ after: 'of another database', signal: stop.signal })) {
      expect(event.type).toBe('reset');
      break;
    }
    stop.abort();
  });

  it('goes on waiting when the server dies within the very first request, and finds the next one', async () => {
    let requests = 0;
    const mortal = createServer((request, response) => {
      if (++requests === 1) return request.socket.destroy();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ closed: true, outcome: 'succeeded' }));
    });
    await new Promise<void>((resolve) => mortal.listen(0, '127.0.0.1', resolve));
    const { port } = mortal.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    try {
      const waiting = new StemmaClient({ url, token: 'x' }, systemClock);
      expect(await waitUntilClosed(waiting, 'exe_1')).toMatchObject({ closed: true });
    } finally {
      mortal.close();
      mortal.closeAllConnections();
    }
    // One that was never there is not waited for.
    const gone = new StemmaClient({ url, token: 'x' }, systemClock);
    await expect(waitUntilClosed(gone, 'exe_1')).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
});
