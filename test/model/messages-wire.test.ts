import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMessagesBody } from './messages-body.ts';
import { type ModelServer, startModelServer } from './model-server.ts';

const session = '22222222-2222-4222-8222-222222222222';
const bash = [{ name: 'Bash' }, { name: 'mcp__stemma__run_in_background' }];
const user = (...content: unknown[]): unknown => ({ role: 'user', content });
const text = (said: string): unknown => ({ type: 'text', text: said });
const agent = (said: string): unknown => ({ role: 'assistant', content: [text(said)] });
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }] };
const result = { type: 'tool_result', tool_use_id: 't1', content: 'done' };
const steered =
  'The user sent a new message while you were working:\nsteered\n\nThis is how Claude Code surfaces messages.';

function read(
  messages: unknown[],
  headers: Record<string, string> = {},
): ReturnType<typeof readMessagesBody> {
  const metadata = { user_id: JSON.stringify({ device_id: 'd', session_id: session }) };
  const body = { model: 'm', messages, metadata, tools: bash };
  return readMessagesBody({ headers, body, number: 1, receivedAt: 0, requestOfTurn: () => 0 });
}

describe('a request on the Messages wire', () => {
  it('names the conversation, and a sub-agent apart from it', () => {
    expect(read([user(text('hello'))]).threadId).toBe(session);
    const header = { 'x-claude-code-agent-id': 'a1' };
    expect(read([user(text('hello'))], header).threadId).toBe(`${session}/a1`);
  });

  it('tells texts of the user from notes and results', () => {
    const note = text('<system-reminder>\nsomething\n</system-reminder>');
    const { conversation } = read([user(note, text('hello')), call, user(result, text(steered))]);
    expect(conversation.map(({ kind }) => kind)).toEqual(['context', 'user', 'call', 'result', 'user']);
    expect(conversation.at(-1)).toEqual({ kind: 'user', text: 'steered' });
  });

  it.each([
    ['the first text', [user(text('a'))], 0],
    ['a text after an answer', [user(text('a')), agent('b'), user(text('c'))], 1],
    ['a steered text belongs to the turn', [user(text('a')), call, user(result, text(steered))], 0],
    ['a text after a turn that was cut off', [user(text('a')), user(text('b'))], 1],
    [
      'a text after an interruption',
      [
        user(text('a')),
        call,
        user(result),
        user(text('[Request interrupted by user for tool use]')),
        user(text('b')),
      ],
      1,
    ],
  ] as const)('makes a turn of %s', (_, messages, start) => {
    expect(read([...messages]).turnId).toMatch(new RegExp(`^${session}#${start}-`));
  });

  it('takes another text in the same place for another turn: the one before was never written down', () => {
    const turn = (said: string): string | undefined =>
      read([user(text('a')), agent('b'), user(text(said))]).turnId;
    expect(turn('c')).toBe(turn('c'));
    expect(turn('c')).not.toBe(turn('d'));
  });
});

describe('the scripted model on the Messages wire', () => {
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
  });
  afterAll(() => model.stop());

  const ask = (said: string): Promise<Response> =>
    fetch(`${model.url}/messages?beta=true`, {
      method: 'POST',
      // A conversation of its own for each text.
      headers: { 'x-claude-code-session-id': said },
      body: JSON.stringify({ model: 'm', messages: [user(text(said))], tools: bash }),
    });

  it('streams a text, and calls a tool with arguments', async () => {
    expect(await (await ask('[[say hello]]')).text()).toMatch(
      /text_delta","text":"hello".*end_turn.*message_stop/s,
    );
    const called = await (await ask('[[background sleep 1]]')).text();
    expect(called).toMatch(/"name":"Bash".*run_in_background.*tool_use.*message_stop/s);
  });

  it('fails with a limit that says when it ends', async () => {
    const response = await ask('[[fail 429 resets=60]]');
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('anthropic-ratelimit-unified-reset')) * 1000).toBeGreaterThan(
      Date.now(),
    );
  });

  it('counts tokens without a turn of the model', async () => {
    const before = model.log.length;
    const response = await fetch(`${model.url}/messages/count_tokens`, { method: 'POST', body: '{}' });
    expect(await response.json()).toEqual({ input_tokens: 100 });
    expect(model.log.length).toBe(before);
  });
});
