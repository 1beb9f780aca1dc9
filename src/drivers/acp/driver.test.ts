import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { waitUntil } from '../../base/pause.ts';
import { startTestTools, type TestTools } from '../conformance/test-tools.ts';
import { Bench } from './acp-harness.ts';

vi.setConfig({ testTimeout: 90_000 });

let bench: Bench;
let tools: TestTools | undefined;

afterEach(async () => {
  await bench.close();
  await tools?.close();
  tools = undefined;
});
test('a turn begins with the first sign of work and ends with the answer', async () => {
  bench = new Bench([
    { when: 'long', do: [{ say: '{{text}}' }] },
    {
      when: 'Hello',
      do: [
        { think: 'hm' },
        { say: 'Let me see. ' },
        { work: 'ls', ms: 10, output: 'a b' },
        { say: 'Two files.' },
      ],
    },
  ]);
  const opened = await bench.open();
  if (!opened.ok) throw new Error(opened.message);
  expect(opened.how).toBe('started');
  const { conversation } = opened;
  expect(conversation.nativeId).toMatch(/^demo-/);
  expect(await conversation.start({ id: 'd1', text: 'Hello' })).toEqual({ outcome: 'written' });
  await bench.event('turnEnded');
  expect(bench.told()).toEqual([
    'started prompt:dd1',
    'thought: hm',
    'text: Let me see. ',
    'toolCall: ls',
    'toolResult: a b',
    'text: Two files.',
    'ended succeeded: Two files.',
  ]);
  expect(await conversation.evidence('d1')).toEqual({ state: 'consumed', nativeTurnId: 'prompt:d1' });
  expect(await conversation.evidence('never')).toEqual({ state: 'absent' });
  expect(await conversation.interrupt()).toBe('idle');

  // Longer than one atomic write into a FIFO.
  const text = `long ${'ü'.repeat(30_000)}`;
  expect(await conversation.start({ id: 'd2', text })).toEqual({ outcome: 'written' });
  expect((await bench.event('turnEnded', (end) => end.nativeTurnId === 'prompt:d2')).answer).toBe(text);
});

test('a second prompt, a steer and a withdrawal are not sent', async () => {
  bench = new Bench([{ when: '', do: [{ say: 'x' }, { wait: 60_000 }] }]);
  const conversation = await bench.conversation();
  await conversation.start({ id: 'd1', text: 'go' });
  await bench.event('turnStarted');
  expect(await conversation.start({ id: 'd2', text: 'go' })).toMatchObject({ outcome: 'refused' });
  expect(await conversation.evidence('d2')).toEqual({ state: 'absent' });
  expect(await conversation.steer({ id: 'd3', text: 'go' })).toMatchObject({ outcome: 'refused' });
  expect(await conversation.withdraw('d1')).toBe('unknown');
  expect(await conversation.interrupt()).toBe('asked');
  expect(await bench.event('turnEnded')).toMatchObject({ status: 'interrupted', answer: 'x' });
});

test('failures of the agent are told by what they mean', async () => {
  bench = new Bench([
    { when: 'broken', do: [{ fail: 'I broke' }] },
    { when: 'limit', do: [{ limit: 'out of tokens', resetsInMs: 1000 }] },
    { when: 'login', do: [{ login: 'who are you?' }] },
    { when: 'refuse', do: [{ say: 'no' }, { end: 'refusal' }] },
    { when: 'max', do: [{ say: 'the word error' }, { end: 'max_tokens' }] },
  ]);
  const conversation = await bench.conversation();
  for (const text of ['broken', 'limit', 'login', 'refuse', 'max']) {
    await conversation.start({ id: text, text });
    await bench.event('turnEnded', (end) => end.nativeTurnId === `prompt:${text}`);
  }
  expect(bench.told().filter((line) => line.startsWith('ended'))).toEqual([
    'ended failed: agent: I broke',
    'ended failed: capacity: out of tokens',
    'ended failed: login: who are you?',
    'ended failed: agent: the agent refused to go on',
    'ended succeeded: the word error',
  ]);
  const limited = await bench.event('turnEnded', (end) => end.nativeTurnId === 'prompt:limit');
  expect(limited.error?.resetsAt).toBeGreaterThan(systemClock.now() - 30_000);
});

test('what no agent should do is noise and changes nothing', async () => {
  bench = new Bench({
    onSession: [{ update: { sessionUpdate: 'available_commands_update', availableCommands: [] } }],
    rules: [
      {
        when: 'go',
        do: [
          { garbage: 'Debugger attached' },
          { garbage: '' },
          { respond: 'end_turn', id: 'prompt:other' },
          {
            update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'not here' } },
            session: 'elsewhere',
          },
          { update: { sessionUpdate: 'telepathy' } },
          { say: 'fine' },
          { respond: 'end_turn' },
        ],
      },
      { when: 'big', do: [{ bigLine: 1_100_000 }, { say: 'done' }] },
    ],
  });
  const conversation = await bench.conversation();
  await conversation.start({ id: 'd1', text: 'go' });
  await bench.event('noise', ({ what }) => what.includes('a second answer'));
  expect(bench.told()).toEqual([
    'noise: not JSON: Debugger attached',
    'noise: not JSON: ',
    'noise: an answer to a request that was never made: "prompt:other"',
    'noise: a session/update of another conversation: elsewhere',
    'noise: a session/update of unknown kind: telepathy',
    'started prompt:dd1',
    'text: fine',
    'ended succeeded: fine',
    'noise: a second answer to prompt:d1',
  ]);
  await conversation.start({ id: 'd2', text: 'big' });
  const { answer } = await bench.event('turnEnded', (end) => end.nativeTurnId === 'prompt:d2');
  expect(answer.endsWith('[the rest of the answer was cut off]')).toBe(true);
});

test('activity after the answer, and before the first prompt, is a late turn of its own', async () => {
  bench = new Bench({
    onSession: [{ later: [{ say: 'early bird' }], afterMs: 50 }],
    rules: [{ when: 'go', do: [{ say: 'done' }, { later: [{ say: 'and another thing' }], afterMs: 100 }] }],
  });
  const conversation = await bench.conversation();
  await bench.event('turnEnded');
  await conversation.start({ id: 'd1', text: 'go' });
  await bench.event('turnEnded', (end) => end.answer === 'and another thing');
  expect(bench.told()).toEqual([
    'started late:',
    'text: early bird',
    'ended succeeded: early bird',
    'started prompt:dd1',
    'text: done',
    'ended succeeded: done',
    'started late:',
    'text: and another thing',
    'ended succeeded: and another thing',
  ]);
});

test('a process that dies in a turn is told as such, and takes nothing any more', async () => {
  bench = new Bench([
    { when: 'read', do: [{ say: 'x' }, { exit: 3 }] },
    { when: 'silent', do: [{ kill: true }] },
  ]);
  let conversation = await bench.conversation();
  await conversation.start({ id: 'd1', text: 'read' });
  expect(await bench.event('exited')).toMatchObject({ reason: 'exited with code 3' });
  expect(bench.told()).toEqual(['started prompt:dd1', 'text: x', 'exited: exited with code 3']);
  expect(await conversation.evidence('d1')).toMatchObject({ state: 'consumed' });
  expect(await conversation.start({ id: 'd2', text: 'go' })).toMatchObject({ outcome: 'refused' });
  expect(await conversation.locate({ meta: {} })).toEqual({ state: 'ended' });
  expect(await conversation.interrupt()).toBe('idle');

  const { nativeId } = conversation;
  const position = bench.events.at(-1)?.position ?? 0;
  bench.events.length = 0;
  const resumed = await bench.open({ nativeId, position });
  if (!resumed.ok) throw new Error(resumed.message);
  expect(resumed.how).toBe('resumed');
  conversation = resumed.conversation;
  expect(conversation.nativeId).toBe(nativeId);
  // What was told before is not told again, and the past that the agent tells is no activity.
  expect(bench.told()).toEqual([]);
  expect(await conversation.evidence('d1')).toMatchObject({ state: 'consumed' });
  await conversation.start({ id: 'd3', text: 'silent' });
  await bench.event('exited');
  expect(bench.told()).toEqual(['exited: ended by SIGKILL']);
  expect(bench.events[0]?.position).toBeGreaterThan(position);
  expect(await conversation.evidence('d3')).toEqual({ state: 'absent' });
  // The agent had kept the text before it died, and tells it when it is loaded: it was taken up after all.
  conversation = await bench.conversation({ nativeId, position: bench.events[0]?.position ?? 0 });
  expect(await conversation.evidence('d3')).toMatchObject({ state: 'consumed' });
});

test('an agent that hangs, ignores a cancel or stops reading can only be ended', async () => {
  bench = new Bench([
    { when: 'deaf', do: [{ ignoreCancel: true }, { say: 'x' }, { wait: 300 }, { say: 'y' }] },
    { when: 'stop', do: [{ stopReading: true }, { say: 'no more' }] },
    { when: 'hang', do: [{ say: 'z' }, { hang: true }] },
  ]);
  const conversation = await bench.conversation();
  await conversation.start({ id: 'd1', text: 'deaf' });
  await bench.event('turnStarted');
  expect(await conversation.interrupt()).toBe('asked');
  expect(await bench.event('turnEnded')).toMatchObject({ status: 'succeeded', answer: 'xy' });
  await conversation.start({ id: 'd2', text: 'stop' });
  await bench.event('turnEnded', (end) => end.nativeTurnId === 'prompt:d2');
  // The FIFO takes it, nobody reads it: that is all that can be known.
  expect(await conversation.start({ id: 'd3', text: 'hang' })).toEqual({ outcome: 'written' });
  expect(await conversation.evidence('d3')).toEqual({ state: 'queued' });
  expect(await conversation.end()).toBe('dead');
  expect(bench.told().at(-1)).toMatch(/^exited: /);
  expect(await conversation.evidence('d3')).toEqual({ state: 'absent' });
});

test('a tool call proves the turn that it belongs to, also before the agent says anything', async () => {
  tools = await startTestTools();
  bench = new Bench([
    {
      when: 'go',
      do: [
        { call: 'echo', with: { text: 'a' }, silent: true },
        { call: 'echo', with: { text: 'b' } },
        { say: 'ok' },
      ],
    },
    {
      when: 'late',
      do: [{ say: 'bye' }, { later: [{ call: 'echo', with: { text: 'c' }, silent: true }], afterMs: 50 }],
    },
  ]);
  const conversation = await bench.conversation({ tools });
  const located: unknown[] = [];
  tools.onCall(async ({ meta }) => void located.push(await conversation.locate({ meta })));
  await conversation.start({ id: 'd1', text: 'go' });
  await bench.event('turnEnded');
  await conversation.start({ id: 'd2', text: 'late' });
  await waitUntil(systemClock, () => located.length === 3, 30_000);
  expect(located).toEqual([
    { state: 'running', nativeTurnId: 'prompt:d1' },
    { state: 'running', nativeTurnId: 'prompt:d1' },
    { state: 'ended' },
  ]);
  expect(bench.told().slice(0, 3)).toEqual([
    'started prompt:dd1',
    'toolCall: echo',
    'toolResult: {"echoed":"b"}',
  ]);
});

test('permission is given as the profile says', async () => {
  const rules = [
    { when: 'go', do: [{ ask: 'rm -rf', allowed: [{ say: 'gone' }], denied: [{ say: 'kept' }] }] },
  ];
  for (const [onQuestion, answer] of [
    ['deny', 'kept'],
    ['allow', 'gone'],
  ] as const) {
    bench = new Bench(rules, { onQuestion });
    const conversation = await bench.conversation();
    await conversation.start({ id: 'd1', text: 'go' });
    expect((await bench.event('turnEnded')).answer).toBe(answer);
    expect(bench.told().some((line) => line.startsWith('waiting'))).toBe(false);
    await bench.close();
  }
  bench = new Bench(rules, { onQuestion: 'ask' });
  const conversation = await bench.conversation();
  await conversation.start({ id: 'd1', text: 'go' });
  const { questionId = '' } = await bench.event('waiting');
  expect(await conversation.answer('ask:99', 'Allow')).toBe(false);
  expect(await conversation.answer(questionId, 'Perhaps')).toBe(false);
  expect(await conversation.answer(questionId, 'Allow')).toBe(true);
  expect(await conversation.answer(questionId, 'Allow')).toBe(false);
  expect((await bench.event('turnEnded')).answer).toBe('gone');
  expect(bench.told().slice(0, 3)).toEqual([
    'started prompt:dd1',
    'waiting: rm -rf [Allow, Deny]',
    'resumed',
  ]);

  // An interrupt answers what is open, since the agent may wait for that before it stops.
  await conversation.start({ id: 'd2', text: 'go' });
  await bench.event('waiting', (event) => event.questionId !== questionId);
  expect(await conversation.interrupt()).toBe('asked');
  expect(await bench.event('turnEnded', (end) => end.nativeTurnId === 'prompt:d2')).toMatchObject({
    status: 'interrupted',
  });
});

test('an agent that prints without end is ended, while it opens and in a turn', {
  timeout: 60_000,
}, async () => {
  bench = new Bench([], { command: ['yes', 'no protocol'] });
  const refused = await bench.open();
  expect(refused).toMatchObject({ ok: false, code: 'AGENT_UNAVAILABLE' });
  expect(refused.ok ? '' : refused.message).toMatch(/in a row that are no messages of ACP/);
  expect((refused.ok ? '' : refused.message).length).toBeLessThan(1000);
  await bench.close();
  const lines = Array.from({ length: 20_000 }, () => ({ garbage: 'x' }));
  bench = new Bench([{ when: 'go', do: [...lines, { hang: true }] }]);
  const conversation = await bench.conversation();
  await conversation.start({ id: 'd1', text: 'go' });
  const { reason } = await bench.event('exited');
  expect(reason).toMatch(/^ended by SIG(TERM|KILL): it printed 10001 lines/);
  const noises = bench.events.filter(({ type }) => type === 'noise');
  expect(noises.length).toBeLessThan(200);
});

test('a text whose write was not confirmed is uncertain while its process lives', async () => {
  bench = new Bench([]);
  const first = await bench.conversation();
  const { nativeId } = first;
  await first.detach();
  // As a server leaves it that dies between its note and its write.
  const log = join(bench.root, 'session', 'sent.log');
  const { at } = JSON.parse(readFileSync(log, 'utf8').trim().split('\n').at(-1) ?? '{}') as { at: number };
  appendFileSync(log, `${JSON.stringify({ t: 'prompt', id: 'd1', at, hash: 'x' })}\n{"t":"prom`);
  const second = await bench.conversation({ nativeId });
  expect(await second.evidence('d1')).toEqual({ state: 'unknown' });
  expect(await second.locate({ meta: {} })).toEqual({ state: 'unknown' });
  await second.end();
  const third = await bench.conversation({ nativeId });
  expect(await third.evidence('d1')).toEqual({ state: 'absent' });
});
