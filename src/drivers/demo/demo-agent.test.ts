import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  type ClientConnection,
  client,
  type McpServer,
  methods,
  ndJsonStream,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { waitUntil } from '../../base/pause.ts';
import { startTestTools, type TestTools } from '../conformance/test-tools.ts';
import { demoFromSource } from './demo-from-source.ts';

/*
 * The demo agent against the official client: what it does when it behaves is what the SDK calls right. Its misbehaviour
 * is tested where it matters, in the tests of the driver.
 */

vi.setConfig({ testTimeout: 90_000 });

let home = '';
let child: ChildProcess | undefined;
let tools: TestTools | undefined;
let updates: SessionUpdate[] = [];
let choice = 'allow';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stemma-demo-'));
  updates = [];
});

afterEach(async () => {
  child?.kill('SIGKILL');
  await tools?.close();
  tools = undefined;
  rmSync(home, { recursive: true, force: true });
});

function connect(script: unknown): ClientConnection {
  const [program = '', ...args] = demoFromSource(home, script);
  const env = { ...process.env, STEMMA_DEMO_HOME: home };
  const started = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child = started;
  const app = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, () => ({
      outcome: { outcome: 'selected', optionId: choice },
    }));
  const output = Readable.toWeb(started.stdout) as ReadableStream<Uint8Array>;
  return app.connect(ndJsonStream(Writable.toWeb(started.stdin), output));
}

async function session(connection: ClientConnection): Promise<string> {
  await connection.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const headers = [{ name: 'Authorization', value: `Bearer ${tools?.token}` }];
  const mcpServers: McpServer[] = tools ? [{ type: 'http', name: 'stemma', url: tools.url, headers }] : [];
  return (await connection.agent.request(methods.agent.session.new, { cwd: home, mcpServers })).sessionId;
}

function prompt(
  connection: ClientConnection,
  sessionId: string,
  text: string,
): Promise<{ stopReason: string }> {
  return connection.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: 'text', text }],
  });
}

function said(): string {
  return updates
    .map((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
        ? update.content.text
        : '',
    )
    .join('');
}

test('the first rule that matches and is not used up answers, also after the conversation was loaded again', async () => {
  const script = {
    rules: [
      { when: '^go (\\w+)', times: 1, do: [{ think: 'hm' }, { say: 'first {{1}} of "{{text}}"' }] },
      { when: '^go', do: [{ say: 'again' }, { end: 'max_tokens' }] },
    ],
  };
  const first = connect(script);
  const id = await session(first);
  expect(await prompt(first, id, 'go north')).toEqual({ stopReason: 'end_turn' });
  expect(said()).toBe('first north of "go north"');
  child?.kill('SIGKILL');

  updates = [];
  const second = connect(script);
  await second.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  await second.agent.request(methods.agent.session.load, { sessionId: id, cwd: home, mcpServers: [] });
  expect(updates.map((update) => update.sessionUpdate)).toEqual([
    'user_message_chunk',
    'agent_message_chunk',
  ]);
  updates = [];
  expect(await prompt(second, id, 'go north')).toEqual({ stopReason: 'max_tokens' });
  expect(said()).toBe('again');
});

test('a prompt without a rule gets a reply that says so', async () => {
  const connection = connect({ rules: [] });
  await prompt(connection, await session(connection), 'What now?\nmore');
  expect(said()).toBe('The script has no answer to: What now?');
});

test('tools are called with the token of the conversation, and their results can be said', async () => {
  tools = await startTestTools();
  const connection = connect({
    rules: [
      {
        when: '^launch (\\w+) (\\w+)',
        do: [
          {
            parallel: [
              { call: 'echo', with: { text: '{{1}}' }, saveAs: 'one' },
              { call: 'echo', with: { text: '{{2}}' }, saveAs: 'two' },
            ],
          },
          { call: 'missing' },
          { say: '{{one.echoed}} and {{two.echoed}}' },
        ],
      },
    ],
  });
  await prompt(connection, await session(connection), 'launch lint tests');
  expect(said()).toBe('lint and tests');
  expect(tools.calls.map(({ args }) => args['text']).sort()).toEqual(['lint', 'tests']);
  expect(updates.filter((update) => update.sessionUpdate === 'tool_call')).toHaveLength(3);
  const ends = updates.flatMap((update) =>
    update.sessionUpdate === 'tool_call_update' ? [update.status] : [],
  );
  expect(ends.sort()).toEqual(['completed', 'completed', 'failed']);
});

test('a cancel ends waits and tool calls', async () => {
  tools = await startTestTools();
  const connection = connect({
    rules: [
      { when: '^wait', do: [{ say: 'a' }, { wait: 60_000 }] },
      { when: '^call', do: [{ say: 'b' }, { call: 'slow', with: { ms: 60_000 } }] },
    ],
  });
  const id = await session(connection);
  for (const text of ['wait', 'call']) {
    const answer = prompt(connection, id, text);
    await waitUntil(systemClock, () => said().endsWith(text === 'wait' ? 'a' : 'b'), 30_000);
    await connection.agent.notify(methods.agent.session.cancel, { sessionId: id });
    expect(await answer).toEqual({ stopReason: 'cancelled' });
  }
});

test('failures are JSON-RPC errors that say what kind they are', async () => {
  const connection = connect({
    rules: [
      { when: 'fail', do: [{ fail: 'broken', code: -32001, data: { a: 1 } }] },
      { when: 'limit', do: [{ limit: 'out of quota', resetsInMs: 1000 }] },
      { when: 'login', do: [{ login: 'who are you?' }] },
    ],
  });
  const id = await session(connection);
  await expect(prompt(connection, id, 'fail')).rejects.toMatchObject({
    code: -32001,
    message: 'broken',
    data: { a: 1 },
  });
  await expect(prompt(connection, id, 'limit')).rejects.toMatchObject({ data: { errorKind: 'rate_limit' } });
  await expect(prompt(connection, id, 'login')).rejects.toMatchObject({ code: -32000 });
});

test('a question goes on as it was answered', async () => {
  const connection = connect({
    rules: [
      {
        when: 'ask',
        do: [{ ask: 'May I?', allowed: [{ say: 'yes' }], denied: [{ say: 'no' }] }, { say: '!' }],
      },
    ],
  });
  const id = await session(connection);
  choice = 'allow';
  await prompt(connection, id, 'ask');
  choice = 'deny';
  await prompt(connection, id, 'ask');
  expect(said()).toBe('yes!no!');
});
