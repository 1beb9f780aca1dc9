import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';

let edge: RunningEdge;
let sessionId: string;
const bearer = 'stm_ses_one';
beforeEach(async () => {
  edge = await startEdge();
  sessionId = edge.ledger.addSession().id;
  edge.ledger.addToken(bearer, { kind: 'session', sessionId: sessionId as never });
});
afterEach(() => edge.stop());

const launchArguments = { name: 'lint', instruction: 'Lint everything.' };

interface RpcAnswer {
  readonly id?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: {
    readonly isError?: boolean;
    readonly content: { readonly text: string }[];
    readonly structuredContent?: unknown;
    readonly [key: string]: unknown;
  };
}

/** A POST as an old client sends it: plain JSON-RPC, both forms accepted. */
async function rpc(body: unknown, headers: Record<string, string> = {}, token: string = bearer) {
  const response = await edge.call('/mcp', {
    method: 'POST',
    token,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-03-26',
      ...headers,
    },
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    answer: (text === '' ? {} : JSON.parse(text)) as RpcAnswer,
  };
}

const callOf = (name: string, args: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name, arguments: args, ...more },
});

describe('the current client', () => {
  test.each(['legacy', 'auto', { pin: '2026-07-28' }] as const)(
    'negotiating %o, lists and calls the tools',
    async (mode) => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const transport = new StreamableHTTPClientTransport(new URL(`${edge.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${bearer}` } },
      });
      await client.connect(transport);
      try {
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual([
          'run_in_background',
          'list_executions',
          'get_execution',
          'send_to_execution',
          'cancel_execution',
        ]);
        expect(client.getInstructions()).toContain('end your turn');
        const meta = {
          threadId: 'th_1',
          'x-codex-turn-metadata': { turn_id: 'tu_1' },
          callId: 'c',
          itemId: 'i',
        };
        const result = await client.callTool({
          name: 'run_in_background',
          arguments: launchArguments,
          _meta: meta,
        });
        expect(result.structuredContent).toEqual({
          executionId: expect.stringMatching(/^exe_/),
          rootId: expect.stringMatching(/^exe_/),
          parentId: null,
          state: 'running',
        });
        expect(JSON.stringify(result.content)).toMatch(/end your turn/);
        expect(edge.ledger.toolCalls).toEqual([
          {
            sessionId,
            tool: 'run_in_background',
            args: launchArguments,
            meta: expect.objectContaining(meta),
          },
        ]);
        const wrong = await client.callTool({
          name: 'run_in_background',
          arguments: { name: 'x', instrction: 'y' },
        });
        expect(wrong.isError).toBe(true);
        expect(JSON.stringify(wrong.content)).toMatch(/instruction: is missing.*instrction.*did you mean/);
        await expect(client.callTool({ name: 'run_in_backgroud', arguments: {} })).rejects.toThrow(
          /run_in_background/,
        );
      } finally {
        await client.close();
      }
    },
  );
});

describe('an old client', () => {
  test('initializes, notifies, lists and calls', async () => {
    const params = {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    };
    const begun = await rpc({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    expect(begun.status).toBe(200);
    expect(begun.answer.result).toMatchObject({
      protocolVersion: '2025-03-26',
      serverInfo: { name: 'stemma' },
    });
    expect(begun.headers.get('mcp-session-id')).toBeNull();
    expect((await rpc({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    const listed = await rpc({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect(listed.answer.result?.['tools']).toHaveLength(5);
    const called = await rpc(callOf('run_in_background', launchArguments));
    expect(called.answer).toMatchObject({ id: 7, result: { structuredContent: { state: 'running' } } });
    expect((await rpc({ jsonrpc: '2.0', id: 3, method: 'ping' })).answer).toMatchObject({
      id: 3,
      result: {},
    });
  });

  test('is served with a session id from before a restart, without any initialize', async () => {
    const headers = { 'mcp-session-id': '0195c0de-dead-beef' };
    for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const { status, answer } = await rpc(callOf('list_executions', {}), {
        ...headers,
        'mcp-protocol-version': version,
      });
      expect([version, status, answer.result?.structuredContent]).toEqual([version, 200, { items: [] }]);
    }
  });

  test('that accepts only JSON, or says nothing of what it accepts, is served too', async () => {
    for (const accept of ['application/json', '*/*', 'text/event-stream']) {
      expect((await rpc(callOf('list_executions', {}), { accept })).status).toBe(200);
    }
  });

  test('may send a batch; each call keeps its own _meta', async () => {
    const calls = ['a', 'b', 'c'].map((id) => ({
      ...callOf('list_executions', {}, { _meta: { callId: id } }),
      id,
    }));
    const { answer } = await rpc([...calls, { jsonrpc: '2.0', method: 'notifications/initialized' }]);
    expect((answer as RpcAnswer[]).map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
    expect(edge.ledger.toolCalls.map(({ meta }) => meta)).toEqual([
      { callId: 'a' },
      { callId: 'b' },
      { callId: 'c' },
    ]);
  });

  test('GET and DELETE are answered as the protocol allows: not here', async () => {
    for (const method of ['GET', 'DELETE']) {
      const response = await edge.call('/mcp', {
        method,
        token: bearer,
        headers: { accept: 'text/event-stream' },
      });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    }
  });
});

describe('a call', () => {
  test('passes the whole _meta on, protocol keys and wild ones included', async () => {
    const meta = {
      'claudecode/toolUseId': 'toolu_1',
      'io.modelcontextprotocol/related-task': { taskId: 't' },
      progressToken: 3,
      nested: { deep: [1, { two: null }] },
    };
    await rpc(callOf('list_executions', {}, { _meta: meta }));
    expect(edge.ledger.toolCalls[0]?.meta).toEqual(meta);
  });

  test.each([
    ['run_in_background', {}, /name: is missing.*instruction: is missing/],
    ['run_in_background', { name: 'x', instruction: '' }, /instruction: must not be empty/],
    ['run_in_background', { name: 'x', instruction: 'y', agnet: 'z' }, /did you mean "agent"/],
    ['run_in_background', { name: 'x', instruction: 'y', messages: [{ txt: 'z' }] }, /messages\[0\]\.txt/],
    ['run_full_workflow', {}, /workflow: is missing/],
    ['run_full_workflow', { workflow: 'x', inputs: { a: [1] } }, /inputs\.a: expected/],
    ['run_full_workflow', { workflow: 'x', disable_evaluations: true }, /did you mean "disable_evaluation"/],
    ['run_full_evaluation', { run: 'run_1' }, /workflow: is missing/],
    ['execute_step', { workflow: 'x' }, /step: is missing/],
    ['start_review', { kind: 3 }, /kind: expected string/],
    ['list_executions', { state: 'runing' }, /state: expected "queued" or "running"/],
    ['get_execution', { id: 7 }, /id: expected string/],
    ['send_to_execution', { id: 'exe_1' }, /text: is missing/],
    ['cancel_execution', {}, /id: is missing/],
  ])('of %s with %o is a tool error that names the field', async (name, args, says) => {
    const { status, answer } = await rpc(callOf(name, args));
    expect(status).toBe(200);
    expect(answer.result?.isError).toBe(true);
    expect(answer.result?.content[0]?.text).toMatch(/^INVALID_INPUT: /);
    expect(answer.result?.content[0]?.text).toMatch(says);
    expect(edge.ledger.toolCalls).toEqual([]);
  });

  test('that is refused tells the model why, by code', async () => {
    edge.ledger.toolAnswer = {
      ok: false,
      code: 'TURN_ENDED',
      message: 'The turn has ended; nothing was started.',
    };
    const { answer } = await rpc(callOf('run_in_background', launchArguments));
    expect(answer.result).toMatchObject({
      isError: true,
      content: [{ text: 'TURN_ENDED: The turn has ended; nothing was started.' }],
    });
  });

  test('that hits a bug shows nothing of it', async () => {
    edge.ledger.bug = new Error('secret path /secret/x.ts:1');
    const { answer } = await rpc(callOf('list_executions', {}));
    expect(answer.result?.content[0]?.text).toMatch(/^INTERNAL: /);
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  test('goes on when its client has gone', async () => {
    const leaving = new AbortController();
    let openGate = (): void => undefined;
    edge.ledger.toolGate = new Promise((resolve) => {
      openGate = resolve;
    });
    const init = { method: 'POST', token: bearer, signal: leaving.signal };
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify(callOf('run_in_background', launchArguments));
    const call = edge.call('/mcp', { ...init, headers, body });
    await expect.poll(() => edge.ledger.toolCalls.length).toBe(1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    expect(edge.ledger.executions.size).toBe(0);
    openGate();
    await expect
      .poll(() => [...edge.ledger.executions.values()].map(({ state }) => state))
      .toEqual(['running']);
  });

  test('while the server recovers gets 503 and when to come back; listing the tools works', async () => {
    edge.ledger.state = 'recovering';
    const { status, headers } = await rpc(callOf('run_in_background', launchArguments));
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect((await rpc([callOf('list_executions', {})])).status).toBe(503);
    expect((await rpc({ jsonrpc: '2.0', id: 2, method: 'tools/list' })).status).toBe(200);
    expect(edge.ledger.toolCalls).toEqual([]);
    edge.ledger.state = 'stopping';
    expect((await rpc({ jsonrpc: '2.0', id: 2, method: 'tools/list' })).status).toBe(503);
  });
});

describe('hostile input', () => {
  test.each([
    ['no JSON', '{"jsonrpc"', 400],
    ['null', 'null', 400],
    ['a number', '7', 400],
    ['an empty batch', '[]', 400],
    ['no protocol', '{"id":1,"method":"tools/list"}', 400],
    [
      'deep nesting',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      400,
    ],
    [
      'a batch without end',
      JSON.stringify(Array.from({ length: 5_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))),
      400,
    ],
  ])('%s is a JSON-RPC error', async (_what, body, expected) => {
    const { status, answer } = await rpc(body);
    expect(status).toBe(expected);
    expect(answer.error?.code).toBeLessThan(0);
    expect(JSON.stringify(answer)).not.toMatch(/node_modules|\.ts:/);
  });

  test('an unknown method and an unknown tool are protocol errors', async () => {
    expect((await rpc({ jsonrpc: '2.0', id: 1, method: 'tools/delete' })).answer.error?.code).toBe(-32_601);
    expect((await rpc(callOf('__proto__', {}))).answer.error?.code).toBe(-32_602);
    expect((await rpc(callOf('constructor', {}))).answer.error?.code).toBe(-32_602);
  });

  test('no other token opens the tools, and the session token opens nothing else', async () => {
    expect((await rpc(callOf('list_executions', {}), {}, tokens.admin)).status).toBe(403);
    expect((await rpc(callOf('list_executions', {}), {}, 'stm_ses_other')).status).toBe(401);
    const paths = ['/', '/api/v1/monitor', '/api/v1/events', `/api/v1/sessions/${sessionId}`, '/metrics'];
    for (const path of paths) expect((await edge.call(path, { token: bearer })).status, path).toBe(403);
    const wait = async ({ id }: { id: string }): Promise<number> =>
      (await edge.call(`/api/v1/executions/${id}/wait?timeoutMs=0`, { token: bearer })).status;
    const own = edge.ledger.register({ name: 'own', runsIn: sessionId });
    expect(await wait(edge.ledger.register({ name: 'below', parentId: own.id }))).toBe(200);
    expect(await wait(edge.ledger.register({ name: "somebody else's" }))).toBe(403);
  });

  test('a body over the bound is refused before it is read', async () => {
    const { status } = await rpc(
      callOf('run_in_background', { name: 'x', instruction: 'y'.repeat(1_200_000) }),
    );
    expect(status).toBe(413);
  });
});
