import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';
import { errorCodes } from '../base/errors.ts';
import { execution, treeView } from '../contract/execution.ts';
import { problem } from '../contract/problem.ts';
import { routeTable } from '../contract/routes.ts';

let edge: RunningEdge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

async function problemOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return problem.parse(await response.json());
}

describe('sending a message', () => {
  test.each(['/api/v1/query', '/api/query'])('%s answers the ids of what was begun', async (path) => {
    const response = await edge.post(path, { message: 'hello', title: 'greeting', timeout: '90m' });
    expect(response.status).toBe(202);
    const answer = (await response.json()) as { queryId: string; sessionId: string };
    expect(answer).toEqual({
      queryId: expect.stringMatching(/^exe_/),
      sessionId: expect.stringMatching(/^ses_/),
      disposition: 'started',
    });
    expect(edge.ledger.calls.at(-1)?.body).toMatchObject({ message: 'hello', timeout: 5_400_000 });
    const read = await (await edge.call(`/api/v1/executions/${answer.queryId}`)).json();
    expect(execution.parse(read)).toMatchObject({ id: answer.queryId, name: 'greeting', state: 'running' });
  });

  test('the beginning of a session id is enough', async () => {
    const session = edge.ledger.addSession();
    const sessionId = session.id.slice(0, -1);
    const response = await edge.post('/api/v1/query', { message: 'again', sessionId });
    expect(await response.json()).toMatchObject({ sessionId: session.id });
  });
});

describe('ids', () => {
  test('an unknown id, another kind of id and a wild text are not found', async () => {
    for (const id of [
      'exe_01JZZZZZZZZZZZZZZZZZZZZZZZ',
      'ses_01',
      'nonsense',
      '%00',
      '..%2F..%2Fetc',
      'exe_%FF',
    ]) {
      const response = await edge.call(`/api/v1/executions/${id}`);
      expect(response.status, id).toBe(404);
      expect((await problemOf(response)).code).toBe('NOT_FOUND');
    }
  });

  test('a beginning that fits several says which', async () => {
    const one = edge.ledger.register({ name: 'one' });
    const two = edge.ledger.register({ name: 'two' });
    const response = await edge.call('/api/v1/executions/exe_0');
    expect(response.status).toBe(409);
    const { code, data } = await problemOf(response);
    expect(code).toBe('AMBIGUOUS_ID');
    expect(data?.['matches']).toEqual(expect.arrayContaining([one.id, two.id]));
    const bare = await problemOf(await edge.call('/api/v1/executions/exe_'));
    expect(bare).toMatchObject({ code: 'AMBIGUOUS_ID', detail: expect.stringContaining('Give more') });
    const whole = await edge.call(`/api/v1/executions/${two.id.toLowerCase()}`);
    expect(await whole.json()).toMatchObject({ id: two.id });
  });
});

test('an id of another kind is told as such', async () => {
  const problem = await problemOf(await edge.call('/api/v1/executions/ses_01'));
  expect(problem).toMatchObject({
    code: 'NOT_FOUND',
    detail: 'ses_01 is the id of a session; the id of an execution begins with exe_.',
  });
});

describe('waiting', () => {
  test('answers in the moment in which the whole tree closes', async () => {
    const root = edge.ledger.register({ name: 'root' });
    const child = edge.ledger.register({ name: 'child', parentId: root.id });
    const waiting = edge.call(`/api/v1/executions/${root.id}/wait?timeoutMs=10000`);
    edge.ledger.settle(root.id, 'succeeded');
    const early = await edge.call(`/api/v1/executions/${root.id}/wait?timeoutMs=0`);
    expect(await early.json()).toMatchObject({
      closed: false,
      holding: [{ executionId: child.id, name: 'child' }],
    });
    edge.ledger.settle(child.id, 'succeeded');
    expect(await (await waiting).json()).toEqual({ closed: true, outcome: 'succeeded' });
  });

  test('a client that goes away leaves no waiter behind', async () => {
    const root = edge.ledger.register({ name: 'left' });
    const before = edge.ledger.listeners.size;
    const leaving = new AbortController();
    const waiting = edge.call(`/api/v1/executions/${root.id}/wait`, { signal: leaving.signal });
    await expect.poll(() => edge.ledger.listeners.size).toBe(before + 1);
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    await expect.poll(() => edge.ledger.listeners.size).toBe(before);
    expect(edge.ledger.executions.get(root.id)?.state).toBe('running');
  });
});

describe('an execution token', () => {
  test('registers, heartbeats and settles its own children, and reads its own tree', async () => {
    const root = edge.ledger.register({ name: 'step', kind: 'step' });
    const token = edge.ledger.addToken('stm_exe_step', { kind: 'execution', executionId: root.id as never });
    const registered = await edge.post(
      '/api/v1/executions',
      { kind: 'outside', name: 'job', key: 'job' },
      token,
    );
    expect(registered.status).toBe(201);
    const child = (await registered.json()) as { id: string; parentId: string; token: string };
    expect(child.parentId).toBe(root.id);
    expect(child.token).toMatch(/^stm_exe_/);
    const beat = await edge.post(`/api/v1/executions/${child.id}/heartbeat`, {}, token);
    expect(await beat.json()).toEqual({ state: 'running', closed: false, cancelRequested: false });
    const settled = await edge.post(`/api/v1/executions/${child.id}/settle`, { state: 'succeeded' }, token);
    expect(await settled.json()).toMatchObject({ id: child.id, state: 'succeeded', closed: true });
    const tree = await edge.call(`/api/v1/executions/${child.id}/tree`, { token });
    expect(treeView.parse(await tree.json()).root).toBe(root.id);
  });

  test('may touch nothing else', async () => {
    const own = edge.ledger.register({ name: 'own' });
    const other = edge.ledger.register({ name: 'other' });
    const token = edge.ledger.addToken('stm_exe_own', { kind: 'execution', executionId: own.id as never });
    const refusals = [
      edge.call(`/api/v1/executions/${other.id}/tree`, { token }),
      edge.post(`/api/v1/executions/${other.id}/settle`, { state: 'failed' }, token),
      edge.post(`/api/v1/executions/${own.id}/settle`, { state: 'succeeded' }, token),
      edge.post(`/api/v1/executions/${own.id}/cancel`, {}, token),
      edge.post('/api/v1/query', { message: 'hi' }, token),
      edge.call('/api/v1/sessions', { token }),
      edge.call('/api/v1/events', { token }),
      edge.call('/', { token }),
      edge.post('/mcp', {}, token),
    ];
    for (const response of await Promise.all(refusals)) {
      expect(response.status, response.url).toBe(403);
      expect((await problemOf(response)).code).toBe('FORBIDDEN');
    }
    expect(edge.ledger.executions.get(other.id)?.state).toBe('running');
  });

  test('a closed parent takes no more children', async () => {
    const own = edge.ledger.register({ name: 'ended' });
    const token = edge.ledger.addToken('stm_exe_ended', { kind: 'execution', executionId: own.id as never });
    edge.ledger.settle(own.id, 'succeeded');
    const response = await edge.post('/api/v1/executions', { name: 'late' }, token);
    expect(response.status).toBe(409);
    expect(await problemOf(response)).toMatchObject({ code: 'PARENT_CLOSED', data: { parentId: own.id } });
  });
});

describe('scopes', () => {
  test('read reads, operate sends, admin lets browsers in', async () => {
    const { post, call } = edge;
    expect((await call('/api/v1/executions', { token: tokens.read })).status).toBe(200);
    const refused = await post('/api/v1/query', { message: 'x' }, tokens.read);
    expect(await problemOf(refused)).toMatchObject({ status: 403, data: { needs: 'operate' } });
    expect((await post('/api/v1/query', { message: 'x' }, tokens.operate)).status).toBe(202);
    expect((await post('/api/v1/signin-links', {}, tokens.operate)).status).toBe(403);
    expect((await post('/api/v1/signin-links', {}, tokens.admin)).status).toBe(201);
  });

  test('a run that brings its own agents needs admin', async () => {
    const run = { agent: 'own', messages: ['a'], agents: { own: { driver: 'acp', command: ['sh'] } } };
    expect((await edge.post('/api/v1/runs', run, tokens.operate)).status).toBe(403);
    expect((await edge.post('/api/v1/runs', run)).status).toBe(202);
  });
});

describe('idempotency', () => {
  const send = (key: string, body: unknown, token: string = tokens.admin, path = '/api/v1/query') =>
    edge.call(path, {
      method: 'POST',
      body: JSON.stringify(body),
      token,
      headers: { 'idempotency-key': key },
    });

  test('the same key and body answer the same, also at once and with the keys in another order', async () => {
    const answers = await Promise.all([
      send('k1', { message: 'once', title: 't' }),
      send('k1', { title: 't', message: 'once' }),
      send('k1', { message: 'once', title: 't' }),
    ]);
    const ids = await Promise.all(
      answers.map(async (each) => ((await each.json()) as { queryId: string }).queryId),
    );
    expect(new Set(ids).size).toBe(1);
    const call = edge.ledger.calls.filter(({ what }) => what === 'query').at(-1)?.call;
    expect(call?.idempotency).toMatchObject({ tokenName: 'api:admin', route: 'query', key: 'k1' });
  });

  test('another body is a conflict, another token another key', async () => {
    await send('k2', { message: 'one' });
    const conflict = await send('k2', { message: 'two' });
    expect(await problemOf(conflict)).toMatchObject({ status: 409, code: 'IDEMPOTENCY_MISMATCH' });
    expect((await send('k2', { message: 'two' }, tokens.operate)).status).toBe(202);
    expect((await send('\u00e9', { message: 'two' })).status).toBe(400);
  });
});

describe('the state of the server', () => {
  test('while it recovers it launches nothing, and says when to come back', async () => {
    edge.ledger.state = 'recovering';
    try {
      const refused = await Promise.all([
        edge.post('/api/v1/query', { message: 'x' }),
        edge.post('/api/v1/executions', { name: 'x' }),
        edge.call('/readyz'),
      ]);
      for (const response of refused) {
        expect(response.headers.get('retry-after')).toBe('1');
        expect(await problemOf(response)).toMatchObject({ status: 503, code: 'RECOVERING' });
      }
      expect((await edge.call('/api/v1/monitor')).status).toBe(200);
      expect((await edge.call('/healthz', { token: null })).status).toBe(200);
    } finally {
      edge.ledger.state = 'ready';
    }
    expect((await edge.call('/readyz')).status).toBe(200);
  });

  test('while it stops it takes nothing more but can be read', async () => {
    edge.ledger.state = 'stopping';
    try {
      const refused = await edge.post('/api/v1/query', { message: 'x' });
      expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'STOPPING' });
      expect((await edge.call('/api/v1/events')).status).toBe(503);
      expect((await edge.call('/api/v1/executions')).status).toBe(200);
    } finally {
      edge.ledger.state = 'ready';
    }
  });

  test('a bug shows nothing of itself', async () => {
    edge.ledger.bug = new Error('secret: SELECT * FROM tokens');
    const response = await edge.call('/api/v1/sessions');
    edge.ledger.bug = undefined;
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toContain('secret');
    expect(text).not.toContain('.ts');
    expect(JSON.parse(text)).toMatchObject({ code: 'INTERNAL', data: { requestId: expect.any(Number) } });
  });
});

describe('documents', () => {
  test('OpenAPI has every route, and refers to nothing that is missing', async () => {
    const text = await (await edge.call('/openapi.json')).text();
    const document = JSON.parse(text) as { paths: object; components: { schemas: object } };
    for (const { path, method } of Object.values(routeTable)) {
      expect(document.paths).toHaveProperty([path.replace(/:([a-z]+)/g, '{$1}'), method.toLowerCase()]);
    }
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]);
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) expect(document.components.schemas).toHaveProperty([name ?? '']);
    expect(text).not.toContain('$defs');
  });

  test('docs, version and metrics', async () => {
    const docs = await (await edge.call('/docs')).text();
    expect(docs).toContain('/api/v1/executions/{id}/tree');
    expect(docs).not.toContain('<script');
    const errors = await (await edge.call('/docs/errors')).text();
    for (const code of errorCodes) expect(errors).toContain(`id="${code}"`);
    expect(await (await edge.call('/version')).json()).toEqual({ name: 'stemma', version: '0.0.0-test' });
    expect(await (await edge.call('/metrics')).text()).toMatch(
      /^# HELP stemma_executions Executions\n# TYPE/,
    );
  });
});

test('everything else about notices, sessions, agents and runs reaches its port', async () => {
  const session = edge.ledger.addSession();
  const owner = edge.ledger.register({ name: 'owner' });
  const notice = edge.ledger.addNotice(owner.id, session.id);
  const ok = async (path: string, body?: unknown, status = 200): Promise<unknown> => {
    const response = body === undefined ? await edge.call(path) : await edge.post(path, body);
    expect(response.status, path).toBe(status);
    return response.json();
  };
  expect(await ok(`/api/v1/notices/${notice.id}/waive`, { reason: 'moved on' })).toMatchObject({
    id: notice.id,
  });
  await ok(`/api/v1/notices/${notice.id}/redeliver`, {});
  await ok('/api/v1/notices');
  await ok('/api/v1/sessions', { agent: 'demo' }, 201);
  await ok('/api/v1/sessions');
  expect(await ok(`/api/v1/sessions/${session.id}`)).toMatchObject({ id: session.id });
  expect(await ok(`/api/v1/sessions/${session.id}/transcript?limit=5`)).toEqual({ items: [] });
  await ok(`/api/v1/sessions/${session.id}/interrupt`, {}, 202);
  await ok(`/api/v1/sessions/${session.id}/stop`, { reason: 'enough' });
  await ok(`/api/v1/sessions/${session.id}/capacity`, { action: 'resume' });
  expect(await ok('/api/v1/runs', { agent: 'demo', messages: ['a', 'b'] }, 202)).toEqual({
    runId: expect.stringMatching(/^run_/),
  });
  await ok('/api/v1/runs');
  await ok('/api/v1/runs/run_01', undefined, 404);
  expect(await ok('/api/v1/agents')).toEqual({ items: [expect.objectContaining({ name: 'demo' })] });
  expect(await ok('/api/v1/agents/demo/check', {})).toMatchObject({ found: true });
  await ok('/api/v1/agents/nobody/check', {}, 404);
  await ok(`/api/v1/executions/${owner.id}/detach`, {});
  expect(await ok(`/api/v1/executions/${owner.id}/cancel`, { scope: 'tree' })).toMatchObject({
    state: 'cancelled',
  });
  expect(await ok('/api/v1/executions?state=cancelled&limit=1')).toMatchObject({
    items: [{ state: 'cancelled' }],
  });
  expect(await ok('/api/v1/monitor')).toMatchObject({
    items: expect.any(Array),
    eventCursor: expect.any(String),
  });
});
