import { afterEach, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from './model-server.ts';

type Message = Readonly<Record<string, unknown>>;
interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly {
        readonly id?: string;
        readonly function: { readonly arguments: string };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly total_tokens: number };
}

const bash = {
  type: 'function',
  function: { name: 'bash', parameters: { properties: { command: {} }, required: ['command'] } },
};
const user = (content: string): Message => ({ role: 'user', content });
const answer = (content: string): Message => ({ role: 'assistant', content });
const call: Message = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
};
const result: Message = { role: 'tool', tool_call_id: 'c1', content: 'README.md' };

let model: ModelServer | undefined;
afterEach(async () => {
  await model?.stop();
  model = undefined;
});

async function post(messages: readonly Message[], more: Message = {}): Promise<Response> {
  model ??= await startModelServer();
  return fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-id': 'one' },
    body: JSON.stringify({ model: 'scripted', stream: true, tools: [bash], messages, ...more }),
  });
}

async function chunksOf(response: Response): Promise<Chunk[]> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Chunk);
}

async function say(...messages: readonly Message[]): Promise<string> {
  const chunks = await chunksOf(await post(messages));
  return chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
}

describe('the chat-completions wire', () => {
  it('streams a text, why it is over, and what it cost last', async () => {
    const chunks = await chunksOf(await post([user('[[say two words]]')]));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('two words');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 120 } });
  });

  it("runs commands with the agent's own shell tool, and goes on after the result", async () => {
    const chunks = await chunksOf(await post([user('[[shell ls]] [[say saw {{lastResult}}]]')]));
    const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(calls.map((one) => one.function.arguments).join('')).toBe('{"command":"ls"}');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(await say(user('[[shell ls]] [[say saw {{lastResult}}]]'), call, result)).toBe('saw README.md');
  });

  it('begins a turn after a finished answer, and never obeys an old one again', async () => {
    expect(await say(user('[[say first]]'))).toBe('first');
    expect(await say(user('[[say first]]'), answer('first'), user('plain'))).toBe('Heard: plain');
  });

  it('begins a turn after an answer that broke off, which the history leaves out', async () => {
    const asked = user('[[shell ls]] [[fail 500]] [[say never]]');
    await chunksOf(await post([asked]));
    expect((await post([asked, call, result])).status).toBe(500);
    expect(await say(asked, call, result, user('plain'))).toBe('Heard: plain');
  });

  it('goes on with its script when a plain text comes between its steps', async () => {
    const asked = user('[[shell ls]] [[say still mine]]');
    await chunksOf(await post([asked]));
    expect(await say(asked, call, result, user('by the way'))).toBe('still mine');
  });

  it('says when a limit ends, and cuts a stream off', async () => {
    const limited = await post([user('[[fail 429 resets=7]]')]);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await post([user('[[fail 401]]')])).status).toBe(401);
    await expect((await post([user('[[drop 0.01]]')])).text()).rejects.toThrow();
  });

  it('answers requests for titles beside the script', async () => {
    const title = [{ role: 'system', content: 'You are a title generator.' }, user('[[say stolen]]')];
    expect(await (await post(title, { tools: [] })).text()).not.toContain('stolen');
    expect(model?.log).toEqual([]);
    expect(await say(user('[[say mine]]'))).toBe('mine');
  });

  it('answers in one piece when it is not asked to stream', async () => {
    const response = await post([user('[[say whole]]')], { stream: false });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'whole' } }] });
  });
});
