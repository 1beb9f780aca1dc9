import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendRaw } from '../../test/edges/raw-http.ts';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';

let edge: RunningEdge;
let executionId: string;
beforeAll(async () => {
  edge = await startEdge();
  executionId = edge.ledger.register({ name: 'victim' }).id;
});
afterAll(() => edge.stop());

interface Attack {
  readonly what: string;
  readonly method?: string;
  readonly path: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
  readonly token?: string | null;
  readonly status: number;
  readonly code: string;
  /** What the detail must say, for whoever has to correct it. */
  readonly says?: string | RegExp;
}

const query = '/api/v1/query';
const json = (value: unknown): string => JSON.stringify(value);
const post = { method: 'POST', path: query };
const bad = { status: 400, code: 'INVALID_INPUT' };
const malformed = { status: 400, code: 'MALFORMED_JSON' };
const deep = '['.repeat(200_000);

const attacks: readonly Attack[] = [
  { what: 'no JSON', ...post, body: 'message=hi', ...malformed, says: 'not JSON' },
  { what: 'half of JSON', ...post, body: '{"message": "hi"', ...malformed },
  { what: 'two documents', ...post, body: '{"message":"a"}{"message":"b"}', ...malformed },
  { what: 'NaN', ...post, body: '{"message":NaN}', ...malformed },
  {
    what: 'bytes that are no UTF-8',
    ...post,
    body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
    ...malformed,
    says: 'UTF-8',
  },
  { what: 'no body', ...post, ...bad, says: 'message: is missing' },
  { what: 'an empty body', ...post, body: '', ...bad, says: 'message: is missing' },
  { what: 'null', ...post, body: 'null', ...bad, says: 'expected object' },
  { what: 'a list', ...post, body: '[]', ...bad, says: 'expected object' },
  { what: 'a text', ...post, body: '"hi"', ...bad, says: 'expected object' },
  {
    what: 'a number as message',
    ...post,
    body: json({ message: 7 }),
    ...bad,
    says: 'message: expected string',
  },
  { what: 'an empty message', ...post, body: json({ message: '' }), ...bad, says: 'message' },
  {
    what: 'a blank message',
    ...post,
    body: json({ message: ' \n\t ' }),
    ...bad,
    says: 'message: must not be empty',
  },
  { what: 'a NUL', ...post, body: json({ message: 'a\0b' }), ...bad, says: 'NUL' },
  { what: 'half of a surrogate pair', ...post, body: '{"message":"\\ud800"}', ...bad, says: 'surrogate' },
  { what: 'a misspelt key', ...post, body: json({ mesage: 'hi' }), ...bad, says: 'did you mean "message"?' },
  {
    what: '__proto__',
    ...post,
    body: '{"message":"hi","__proto__":{"scope":"admin"}}',
    ...bad,
    says: '__proto__',
  },
  {
    what: 'constructor',
    ...post,
    body: '{"message":"hi","constructor":{"prototype":{}}}',
    ...bad,
    says: 'constructor',
  },
  {
    what: 'a relative directory',
    ...post,
    body: json({ message: 'hi', cwd: '../..' }),
    ...bad,
    says: 'cwd: must be an absolute path',
  },
  {
    what: 'a directory with NUL',
    ...post,
    body: json({ message: 'hi', cwd: '/tmp\0/x' }),
    ...bad,
    says: 'cwd',
  },
  {
    what: 'a title of two lines',
    ...post,
    body: json({ message: 'hi', title: 'a\nb' }),
    ...bad,
    says: 'one line',
  },
  {
    what: 'a timeout without unit',
    ...post,
    body: json({ message: 'hi', timeout: '30' }),
    ...bad,
    says: 'timeout',
  },
  {
    what: 'a negative timeout',
    ...post,
    body: json({ message: 'hi', timeout: -1 }),
    ...bad,
    says: 'timeout',
  },
  {
    what: 'a timeout without end',
    ...post,
    body: '{"message":"hi","timeout":1e999}',
    ...bad,
    says: 'timeout',
  },
  {
    what: 'a session that is none',
    ...post,
    body: json({ message: 'hi', sessionId: '../x' }),
    status: 404,
    code: 'NOT_FOUND',
  },
  {
    what: 'an id of another kind',
    ...post,
    body: json({ message: 'hi', sessionId: 'exe_01' }),
    status: 404,
    code: 'NOT_FOUND',
  },
  { what: 'deep nesting', ...post, body: deep, ...bad, says: 'nested deeper than 64' },
  {
    what: 'deep nesting in a result',
    method: 'POST',
    path: '/api/v1/executions/exe_0/settle',
    body: `{"state":"succeeded","result":${deep}}`,
    ...bad,
  },
  {
    what: 'a body over the bound',
    ...post,
    body: json({ message: 'x'.repeat(1_100_000) }),
    status: 413,
    code: 'BODY_TOO_LARGE',
    says: '1048576',
  },
  {
    what: 'a kind that only the server makes',
    method: 'POST',
    path: '/api/v1/executions',
    body: json({ kind: 'message', name: 'x' }),
    ...bad,
    says: 'kind',
  },
  {
    what: 'an attempt of one and a half',
    method: 'POST',
    path: '/api/v1/executions',
    body: json({ name: 'x', attempt: 1.5 }),
    ...bad,
    says: 'attempt',
  },
  {
    what: 'a state of its own',
    method: 'POST',
    path: '/api/v1/executions/exe_0/settle',
    body: json({ state: 'done' }),
    ...bad,
    says: 'state',
  },
  {
    what: 'a waiver without a reason',
    method: 'POST',
    path: '/api/v1/notices/ntc_0/waive',
    body: '{}',
    ...bad,
    says: 'reason: is missing',
  },
  {
    what: 'a run without messages',
    method: 'POST',
    path: '/api/v1/runs',
    body: json({ agent: 'a', messages: [] }),
    ...bad,
    says: 'at least one message',
  },
  {
    what: 'a run with a wrong message',
    method: 'POST',
    path: '/api/v1/runs',
    body: json({ agent: 'a', messages: ['a', {}] }),
    ...bad,
    says: 'messages[1].text: is missing',
  },
  { what: 'a limit of letters', path: '/api/v1/executions?limit=all', ...bad, says: 'limit' },
  { what: 'a limit of zero', path: '/api/v1/executions?limit=0', ...bad, says: 'limit' },
  {
    what: 'a limit without end',
    path: '/api/v1/executions?limit=99999999999999999999',
    ...bad,
    says: 'limit',
  },
  {
    what: 'a filter said twice',
    path: '/api/v1/executions?state=a&state=b',
    ...bad,
    says: 'state: is given more than once',
  },
  {
    what: 'a filter misspelt',
    path: '/api/v1/executions?stat=running',
    ...bad,
    says: 'did you mean "state"?',
  },
  { what: 'a parameter where none is', path: '/version?x=1', ...bad, says: 'x' },
  {
    what: 'a wait below zero',
    path: '/api/v1/executions/exe_0/wait?timeoutMs=-1',
    ...bad,
    says: 'timeoutMs',
  },
  {
    what: 'a wait of a century',
    path: '/api/v1/executions/exe_0/wait?timeoutMs=999999999999',
    ...bad,
    says: 'timeoutMs',
  },
  {
    what: 'an idempotency key without end',
    ...post,
    body: json({ message: 'x' }),
    headers: { 'idempotency-key': 'k'.repeat(256) },
    ...bad,
    says: 'Idempotency-Key',
  },
  {
    what: 'no token',
    path: '/api/v1/monitor',
    token: null,
    status: 401,
    code: 'UNAUTHORIZED',
    says: 'Authorization',
  },
  {
    what: 'a wrong token',
    path: '/api/v1/monitor',
    token: 'stm_api_wrong',
    status: 401,
    code: 'UNAUTHORIZED',
  },
  {
    what: 'a token of a megabyte',
    path: '/api/v1/monitor',
    token: 'x'.repeat(8_000),
    status: 401,
    code: 'UNAUTHORIZED',
  },
  {
    what: 'basic authentication',
    path: '/api/v1/monitor',
    token: null,
    headers: { authorization: 'Basic YWRtaW46YWRtaW4=' },
    status: 401,
    code: 'UNAUTHORIZED',
  },
  {
    what: 'a token in the address',
    path: `/api/v1/monitor?token=${tokens.admin}`,
    token: null,
    status: 401,
    code: 'UNAUTHORIZED',
  },
  {
    what: 'a made-up cookie',
    path: '/api/v1/monitor',
    token: null,
    headers: { cookie: 'stemma_1=admin; stemma=admin' },
    status: 401,
    code: 'UNAUTHORIZED',
  },
  { what: 'metrics without a token', path: '/metrics', token: null, status: 401, code: 'UNAUTHORIZED' },
  { what: 'the page without a token', path: '/', token: null, status: 401, code: 'UNAUTHORIZED' },
  {
    what: 'the tools with an API token',
    method: 'POST',
    path: '/mcp',
    body: '{}',
    status: 403,
    code: 'FORBIDDEN',
    says: 'session token',
  },
  {
    what: 'a foreign origin',
    path: '/api/v1/monitor',
    headers: { origin: 'https://evil.example' },
    status: 403,
    code: 'FOREIGN_HOST',
    says: 'evil.example',
  },
  {
    what: 'an origin of another port',
    path: '/api/v1/monitor',
    headers: { origin: 'http://127.0.0.1:1' },
    status: 403,
    code: 'FOREIGN_HOST',
  },
  {
    what: 'an origin of nobody',
    path: '/api/v1/monitor',
    headers: { origin: 'null' },
    status: 403,
    code: 'FOREIGN_HOST',
  },
  { what: 'an unknown path', path: '/api/v1/nothing', status: 404, code: 'NOT_FOUND' },
  { what: 'a slash too many', path: '/api/v1/query/', status: 404, code: 'NOT_FOUND' },
  { what: 'a way out of the page', path: '/..%2f..%2fpackage.json', status: 404, code: 'NOT_FOUND' },
  {
    what: 'a sign-in code that nobody issued',
    path: '/signin?code=guess',
    token: null,
    status: 401,
    code: 'UNAUTHORIZED',
  },
  { what: 'a wrong method', path: query, status: 405, code: 'METHOD_NOT_ALLOWED', says: 'allowed: POST' },
  {
    what: 'a method that does not exist here',
    method: 'DELETE',
    path: '/api/v1/sessions',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    says: 'GET, POST',
  },
  { what: 'a preflight', method: 'OPTIONS', path: query, status: 405, code: 'METHOD_NOT_ALLOWED' },
  { what: 'a GET of the tools', path: '/mcp', status: 405, code: 'METHOD_NOT_ALLOWED' },
];

describe('hostile input', () => {
  test.each(attacks)('$what', async ({ method = 'GET', path, body, headers, token, status, code, says }) => {
    const before = edge.ledger.executions.size;
    const init = { method, headers: headers ?? {}, ...(body === undefined ? {} : { body }) };
    const response = await edge.call(path, { ...init, ...(token === undefined ? {} : { token }) });
    const text = await response.text();
    expect(response.status, text).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const answer = JSON.parse(text) as {
      code: string;
      detail: string;
      title: string;
      status: number;
      type: string;
    };
    expect(answer).toMatchObject({
      code,
      status,
      type: `urn:stemma:error:${code}`,
      title: expect.any(String),
    });
    if (says !== undefined) expect(answer.detail).toMatch(says);
    expect(text).not.toMatch(/node_modules|\.ts:\d|at [A-Z]\w+ \(/);
    expect(edge.ledger.executions.size).toBe(before);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    if (status === 405) expect(response.headers.get('allow')).toMatch(/^[A-Z, ]+$/);
    if (status === 401) expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  test('the server lives after all of it', async () => {
    expect((await edge.call(`/api/v1/executions/${executionId}`)).status).toBe(200);
    expect(({} as { scope?: string }).scope).toBeUndefined();
  });
});

describe('below HTTP', () => {
  const head = (host: string, more = ''): string =>
    `GET /api/v1/monitor HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens.admin}\r\n${more}\r\n`;

  test.each([
    'evil.example',
    'evil.example:80',
    '127.0.0.1',
    '127.0.0.1.evil.example:PORT',
    'localhost:1',
    '0.0.0.0:PORT',
    '',
  ])('the host "%s" is refused: a rebound name', async (host) => {
    const answer = await sendRaw(edge.port, [head(host.replace('PORT', String(edge.port)))]);
    expect([400, 403]).toContain(answer.status);
    expect(answer.body).toMatch(/FOREIGN_HOST|INVALID_INPUT/);
  });

  test.each(['127.0.0.1:PORT', 'localhost:PORT', 'LOCALHOST:PORT', '[::1]:PORT'])(
    'the host "%s" is ours',
    async (host) => {
      const answer = await sendRaw(edge.port, [head(host.replace('PORT', String(edge.port)))]);
      expect(answer.status).toBe(200);
    },
  );

  test('an address of another server in the request line does not help', async () => {
    const request = head('evil.example').replace('/api', `http://127.0.0.1:${edge.port}/api`);
    expect((await sendRaw(edge.port, [request])).status).toBe(403);
  });

  test('a chunked body without a length is cut off at the bound', async () => {
    const start = `POST ${query} HTTP/1.1\r\nHost: 127.0.0.1:${edge.port}\r\nAuthorization: Bearer ${tokens.admin}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const answer = await sendRaw(edge.port, [start, ...Array.from({ length: 40 }, () => chunk), '0\r\n\r\n']);
    expect(answer.status).toBe(413);
    expect(answer.body).toContain('BODY_TOO_LARGE');
  });

  test('what is no HTTP gets a problem too', async () => {
    const answer = await sendRaw(edge.port, ['EHLO there\r\n\r\n']);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
  });

  test('headers without end are refused', async () => {
    const answer = await sendRaw(edge.port, [
      head(`127.0.0.1:${edge.port}`, `X-Long: ${'x'.repeat(40_000)}\r\n`),
    ]);
    expect([400, 431]).toContain(answer.status);
  });
});
