import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';
import { newToken } from '../contract/token.ts';

let edge: RunningEdge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

const path = '/api/v1/tokens';

test('an administrator makes a token, which is shown once, lists and revokes it', async () => {
  const made = await edge.post(path, { name: 'the page', scope: 'operate' });
  expect(made.status).toBe(201);
  const { token, createdAt } = newToken.parse(await made.json());
  const listed = (await (await edge.call(path)).json()) as { items: unknown[] };
  const shown = { name: 'the page', kind: 'token', scope: 'operate', createdAt };
  expect(listed.items).toEqual([shown]);
  expect(JSON.stringify(listed)).not.toContain(token);
  expect((await edge.post(path, { name: 'the page', scope: 'read' })).status).toBe(409);
  const revoked = await edge.call(`${path}/the%20page`, { method: 'DELETE' });
  expect([revoked.status, await revoked.json()]).toEqual([
    200,
    { ...shown, revokedAt: expect.stringMatching(/Z$/) },
  ]);
  expect((await edge.call(`${path}/nobody`, { method: 'DELETE' })).status).toBe(404);
});

test('nobody else may even see them', async () => {
  const revoke = (token: string) => edge.call(`${path}/x`, { method: 'DELETE', token });
  for (const token of [tokens.read, tokens.operate]) {
    const answers = [await edge.call(path, { token }), await edge.post(path, {}, token), await revoke(token)];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  }
});

test.each(['', ' x', 'browser x', 'a\nb', 'a/b', 'x'.repeat(61)])('%j is no name', async (name) => {
  const answer = await edge.post(path, { name, scope: 'read' });
  expect([answer.status, await answer.json()]).toMatchObject([400, { data: { issues: [{ path: 'name' }] } }]);
});

test('the secret is never kept, also not to repeat an answer', async () => {
  const send = () =>
    edge.call(path, {
      method: 'POST',
      body: '{"name":"kept","scope":"read"}',
      headers: { 'idempotency-key': 'once' },
    });
  expect((await send()).status).toBe(201);
  expect((await send()).status).toBe(409);
});

test('a revoked token ends what its holder has open, and nobody else', async () => {
  const make = async (name: string): Promise<string> =>
    newToken.parse(await (await edge.post(path, { name, scope: 'operate' })).json()).token;
  const [gone, stays] = [await make('gone'), await make('stays')];
  const read = async (token: string, leaving: AbortSignal): Promise<void> => {
    const response = await edge.call('/api/v1/events', { token, signal: leaving });
    expect(response.status).toBe(200);
    for await (const _ of response.body ?? []) if (token === stays) return;
  };
  const leaving = new AbortController();
  const session = (await (await edge.post('/api/v1/sessions', {})).json()) as { id: string };
  const socket = new WebSocket(
    `ws://127.0.0.1:${edge.port}/api/v1/sessions/${session.id}/terminal?columns=90&rows=20`,
    ['stemma.terminal'],
    { headers: { authorization: `Bearer ${gone}` } },
  );
  const closed = new Promise((resolve) =>
    socket.on('close', (code, reason) => resolve([code, reason.toString()])),
  );
  await new Promise((resolve) => socket.on('open', resolve));
  const ended = read(gone, leaving.signal);
  await read(stays, leaving.signal);
  await edge.call(`${path}/gone`, { method: 'DELETE' });
  await ended;
  expect(await closed).toEqual([1001, 'the token was revoked']);
  expect((await edge.call('/api/v1/monitor', { token: gone })).status).toBe(401);
  expect((await edge.call('/api/v1/monitor', { token: stays })).status).toBe(200);
});
