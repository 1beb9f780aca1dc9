import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { cookieName } from './authentication.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';

let edge: RunningEdge;
let session: string;
const sockets: WebSocket[] = [];
beforeEach(async () => {
  edge = await startEdge({ streamBufferBytes: 1_000_000 });
  session = ((await (await edge.post('/api/v1/sessions', {})).json()) as { id: string }).id;
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await edge.stop();
});

interface Attached {
  readonly socket: WebSocket;
  /** All that came as bytes. */
  readonly bytes: () => Buffer;
  readonly texts: string[];
  readonly closed: Promise<number>;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

function attach(
  headers: Record<string, string> = bearer(tokens.operate),
  { path = `/api/v1/sessions/${session}/terminal?columns=90&rows=20`, protocols = ['stemma.terminal'] } = {},
): Promise<Attached> {
  const socket = new WebSocket(`ws://127.0.0.1:${edge.port}${path}`, protocols, { headers });
  sockets.push(socket);
  const parts: Buffer[] = [];
  const texts: string[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) parts.push(data);
    else texts.push(data.toString());
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => resolve({ socket, bytes: () => Buffer.concat(parts), texts, closed }));
    socket.on('unexpected-response', (_request, response) => {
      const body: Buffer[] = [];
      response.on('data', (part: Buffer) => body.push(part));
      response.on('end', () => {
        const problem = JSON.parse(Buffer.concat(body).toString()) as { code: string };
        reject(new Error(`${response.statusCode} ${problem.code}`));
      });
    });
  });
}

describe('the terminal of a session', () => {
  it('is bytes both ways, from the first one on, and sizes as text', async () => {
    const view = await attach();
    expect(view.socket.protocol).toBe('stemma.terminal');
    await expect.poll(() => view.bytes().toString()).toBe('90x20');
    view.socket.send(Buffer.from([0xff, 0x00, 0x1b]));
    await expect.poll(() => view.bytes().subarray(5)).toEqual(Buffer.from([0xff, 0x00, 0x1b]));
    view.socket.send('{"type":"resize","columns":120,"rows":50}');
    await expect.poll(() => edge.terminals.sizes.at(-1)).toMatchObject({ columns: 120, rows: 50 });
  });

  it('has any number of views, each of which ends with its socket', async () => {
    const [first, second] = [await attach(), await attach()];
    expect(edge.terminals.open).toBe(2);
    first.socket.terminate();
    await expect.poll(() => edge.terminals.open).toBe(1);
    second.socket.close();
    await expect.poll(() => edge.terminals.open).toBe(0);
  });

  it('says why it ended before it closes', async () => {
    const view = await attach();
    view.socket.send(Buffer.from('q'));
    expect(await view.closed).toBe(1000);
    expect(view.texts.map((text) => JSON.parse(text) as unknown)).toEqual([
      { type: 'ended', reason: 'The terminal has ended.' },
    ]);
  });

  it('is paused for a viewer that does not read, and goes on when it does', async () => {
    const view = await attach();
    const size = 60_000_000;
    view.socket.pause();
    view.socket.send(Buffer.from(`flood ${size}`));
    await expect.poll(() => edge.terminals.isPaused).toBe(true);
    // What may be said beyond the bound is with the operating system.
    expect(edge.terminals.said).toBeLessThan(size / 4);
    view.socket.resume();
    await expect.poll(() => edge.terminals.said, { timeout: 15_000 }).toBe(size);
  });

  it('is closed to text that is no size', async () => {
    const view = await attach();
    view.socket.send('{"type":"resize","columns":0,"rows":50}');
    expect(await view.closed).toBe(1003);
  });

  it('is closed when the server stops', async () => {
    const view = await attach();
    edge.api.stop();
    expect(await view.closed).toBe(1001);
  });
});

describe('who may only watch a terminal', () => {
  it.each([
    ['a token that may only read', tokens.read, ''],
    ['one that asks for no more', tokens.operate, '&readOnly=true'],
  ])('%s: sees, and types nothing', async (_who, token, more) => {
    const path = `/api/v1/sessions/${session}/terminal?columns=90&rows=20${more}`;
    const view = await attach(bearer(token), { path, protocols: ['stemma.terminal'] });
    await expect.poll(() => view.bytes().toString()).toBe('90x20');
    view.socket.send(Buffer.from('typed'));
    await expect.poll(() => edge.terminals.dropped).toBe(1);
    expect(view.bytes().toString()).toBe('90x20');
  });

  it('opens none', async () => {
    edge.terminals.isOpen = false;
    await expect(attach(bearer(tokens.read))).rejects.toThrow('409 TERMINAL_UNAVAILABLE');
    await attach();
  });
});

describe('who may have a terminal', () => {
  it.each([
    ['without a token', {}, '401 UNAUTHORIZED'],
    ['from a foreign page', { ...bearer(tokens.operate), origin: 'http://evil.example' }, '403 FOREIGN_HOST'],
    ['under a foreign name', { ...bearer(tokens.operate), host: 'evil.example' }, '403 FOREIGN_HOST'],
  ] as const)('nobody %s, and the refusal is a problem document', async (_who, headers, refusal) => {
    await expect(attach(headers)).rejects.toThrow(refusal);
    expect(edge.terminals.open).toBe(0);
  });

  it('a browser by its cookie, with its own origin only', async () => {
    const link = (await (await edge.post('/api/v1/signin-links', {})).json()) as { url: string };
    const signedIn = await edge.call(link.url.replace(edge.url, ''), { token: null });
    const cookie = /^([^;]+)/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? '';
    expect(cookie).toContain(cookieName(edge.port));
    await expect(attach({ cookie })).rejects.toThrow('403 FORBIDDEN');
    await attach({ cookie, origin: edge.url });
    expect(edge.terminals.open).toBe(1);
  });

  it('a browser by a token among the protocols, which is not told back', async () => {
    const protocols = ['stemma.terminal', `stemma.bearer.${tokens.operate}`];
    const view = await attach({}, { protocols });
    expect(view.socket.protocol).toBe('stemma.terminal');
  });
});

describe('a terminal that cannot be had', () => {
  it.each([
    ['of no session', '/api/v1/sessions/ses_00000000000000000000000000/terminal', '404 NOT_FOUND'],
    ['with a wrong size', '/api/v1/sessions/ses_0/terminal?columns=none', '400 INVALID_INPUT'],
  ] as const)('%s is refused with the reason', async (_what, path, refusal) => {
    await expect(attach(undefined, { path })).rejects.toThrow(refusal);
  });

  it('for a reason of its own is refused with that', async () => {
    edge.terminals.isThere = false;
    await expect(attach()).rejects.toThrow('409 TERMINAL_UNAVAILABLE');
  });

  it('while the server recovers or stops is refused as such', async () => {
    edge.ledger.state = 'recovering';
    await expect(attach()).rejects.toThrow('503 RECOVERING');
    edge.ledger.state = 'stopping';
    await expect(attach()).rejects.toThrow('503 STOPPING');
  });

  it('without an upgrade says what it is', async () => {
    const answer = await edge.call(`/api/v1/sessions/${session}/terminal`);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'INVALID_INPUT']);
  });
});
