import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { RunningEdge } from '../../test/edges/running-edge.ts';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';

let edge: RunningEdge;
let session: string;
const sockets: WebSocket[] = [];
beforeEach(async () => {
  edge = await startEdge();
  session = ((await (await edge.post('/api/v1/sessions', {})).json()) as { id: string }).id;
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await edge.stop();
});

interface Seen {
  readonly socket: WebSocket;
  /** What it was told, `owner 80x24` for a place, and what was drawn. */
  readonly heard: string[];
}

interface Told {
  readonly type: string;
  readonly isOwner?: boolean;
  readonly isOwned?: boolean;
  readonly isAnew?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly reason?: string;
}

function join(size: string, { token = tokens.operate as string, query = '' } = {}): Promise<Seen> {
  const [columns, rows] = size.split('x');
  const path = `/api/v1/sessions/${session}/terminal?shared=true&columns=${columns}&rows=${rows}${query}`;
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${edge.port}${path}`, ['stemma.terminal'], { headers });
  sockets.push(socket);
  const heard: string[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    const text = data.toString('utf8');
    if (isBinary) return heard.push(`drawn ${text}`);
    const said = JSON.parse(text) as Told;
    if (said.type === 'ended') return heard.push(`ended ${said.reason}`);
    const place = said.isOwner ? 'owner' : said.isOwned ? 'watches' : 'watches nobody';
    return heard.push(`${place} ${said.columns}x${said.rows}${said.isAnew ? ' anew' : ''}`);
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => resolve({ socket, heard }));
  });
}

const settled = (seen: Seen, heard: readonly string[]): Promise<void> =>
  expect.poll(() => seen.heard).toEqual(heard) as Promise<void>;

describe('a terminal that several look at', () => {
  it('is owned by who comes first; the others watch it in its size, and type nothing', async () => {
    const first = await join('80x24');
    await settled(first, ['owner 80x24 anew', 'drawn 80x24']);
    const second = await join('100x40');
    await settled(second, ['watches 80x24 anew', 'drawn 80x24']);
    second.socket.send(Buffer.from('x'));
    first.socket.send(Buffer.from('y'));
    await settled(first, ['owner 80x24 anew', 'drawn 80x24', 'drawn y']);
    expect(edge.terminals.dropped).toBe(1);
    second.socket.send('{"type":"resize","columns":120,"rows":50}');
    first.socket.send('{"type":"resize","columns":90,"rows":30}');
    await settled(second, ['watches 80x24 anew', 'drawn 80x24', 'watches 90x30']);
    expect(edge.terminals.sizes.some(({ columns }) => columns === 120)).toBe(false);
  });

  it('is taken over, and whoever had it watches', async () => {
    const first = await join('80x24');
    await settled(first, ['owner 80x24 anew', 'drawn 80x24']);
    const second = await join('100x40');
    const third = await join('60x20');
    await settled(third, ['watches 80x24 anew', 'drawn 80x24']);
    second.socket.send('{"type":"take"}');
    await settled(second, ['watches 80x24 anew', 'drawn 80x24', 'owner 100x40 anew', 'drawn 100x40']);
    await settled(first, ['owner 80x24 anew', 'drawn 80x24', 'watches 100x40 anew', 'drawn 100x40']);
    await settled(third, ['watches 80x24 anew', 'drawn 80x24', 'watches 100x40']);
    second.socket.terminate();
    await expect.poll(() => third.heard.at(-1)).toBe('watches nobody 100x40');
    const again = await join('70x20', { query: '&take=true' });
    await settled(again, ['owner 70x20 anew', 'drawn 70x20']);
    expect(edge.terminals.open).toBe(3);
  });

  it('is never taken by who may only read', async () => {
    const reader = await join('80x24', { token: tokens.read });
    reader.socket.send('{"type":"take"}');
    await settled(reader, ['watches nobody 80x24 anew', 'drawn 80x24']);
  });

  it('that there is not is told on the socket: a browser cannot read why it was not upgraded', async () => {
    edge.terminals.isThere = false;
    const viewer = await join('80x24');
    await settled(viewer, ['owner 80x24 anew', 'ended No screen here.']);
  });
});
