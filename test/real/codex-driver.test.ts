import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentBench, type Talk } from './agent-bench.ts';
import { findCodex, startCodexBench } from './codex-kit.ts';

const program = findCodex();
const slowTool = '[[tool slow_echo {"secs":2,"text":"z"}]]';

async function begin(talk: Talk, text: string, id: string): Promise<string> {
  expect(await talk.conversation.start({ id, text })).toEqual({ outcome: 'written' });
  return (await talk.event('turnStarted', (e) => e.deliveryId === id)).nativeTurnId;
}

describe.skipIf(!program)('the codex driver, with the real program', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startCodexBench(program ?? '');
  });
  afterAll(() => bench.stop());

  it('runs a turn and reports its answer, its end and its usage, each once', async () => {
    const talk = await bench.open('simple');
    const ended = await talk.turn('hello [[say good morning]]');
    expect(ended).toMatchObject({ status: 'succeeded', answer: 'good morning', tasks: [] });
    expect(ended.usage).toEqual({ inputTokens: 100, outputTokens: 20 });
    const told = talk.events.map((e) => e.type).filter((type) => type !== 'usage');
    expect(told).toEqual(['turnStarted', 'item', 'item', 'turnEnded']);
    expect(talk.all('usage')[0]?.usage).toEqual(ended.usage);
  });

  it('finds the program and its version', async () => {
    const probe = await bench.driver.probe(bench.profile());
    // Its provider brings a key of its own, which nobody can see from here.
    expect(probe).toMatchObject({ found: true, version: '0.171.0', signedIn: 'unknown', warnings: [] });
    const missing = await bench.driver.probe(bench.profile({ command: ['/nowhere/codex'] }));
    expect(missing).toMatchObject({ found: false, warnings: [expect.stringContaining('/nowhere/codex')] });
  });

  it('keeps the bearers of two sessions on one server apart, and finds the turn of each call', async () => {
    const [a, b] = [await bench.open('left'), await bench.open('right')];
    const located: unknown[] = [];
    bench.tools.onCall = async (call) => {
      const owner = call.bearer === 'bearer-left' ? a : b;
      located.push([call.text, await owner.conversation.locate(call)]);
    };
    const text = (side: string) => `[[tool slow_echo {"secs":0.2,"text":"${side}"}]] [[say ${side} done]]`;
    const [endA, endB] = await Promise.all([a.turn(text('left')), b.turn(text('right'))]);
    bench.tools.onCall = undefined;
    expect(located).toHaveLength(2);
    expect(located).toContainEqual(['left', { state: 'running', nativeTurnId: endA.nativeTurnId }]);
    expect(located).toContainEqual(['right', { state: 'running', nativeTurnId: endB.nativeTurnId }]);
    const call = bench.tools.calls.find((c) => c.text === 'left');
    expect(call?.bearer).toBe('bearer-left');
    expect(await a.conversation.locate(call ?? { meta: {} })).toEqual({ state: 'ended' });
    expect(await b.conversation.locate(call ?? { meta: {} })).toEqual({ state: 'unknown' });
    expect(await a.conversation.locate({ meta: {} })).toEqual({ state: 'unknown' });
  });

  it('reports a steered text as taken when the tool has returned, in the same turn', async () => {
    const talk = await bench.open('steerTool');
    const turnId = await begin(talk, `${slowTool} [[say done]]`, bench.deliveryId());
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const steer = bench.deliveryId();
    expect(await talk.conversation.steer({ id: steer, text: 'MARK-TOOL' })).toEqual({ outcome: 'written' });
    expect(talk.all('taken')).toEqual([]);
    expect(await talk.conversation.evidence(steer)).toEqual({ state: 'queued' });
    const ended = await talk.event('turnEnded');
    expect(talk.all('taken')).toMatchObject([{ deliveryId: steer, nativeTurnId: turnId }]);
    expect(ended.status).toBe('succeeded');
    expect(await talk.conversation.evidence(steer)).toEqual({ state: 'consumed', nativeTurnId: turnId });
    expect(await talk.conversation.withdraw(steer)).toBe('taken');
    expect(bench.model.heard('MARK-TOOL')).toBe(1);
  });

  it('reports a steered text as taken while the answer is being streamed', async () => {
    const talk = await bench.open('steerStream');
    const turnId = await begin(talk, '[[slow 5]] [[say heard you]]', bench.deliveryId());
    await bench.model.waitFor((e) => e.type === 'request' && e.turnId === turnId);
    const steer = bench.deliveryId();
    await talk.conversation.steer({ id: steer, text: 'MARK-STREAM' });
    const ended = await talk.event('turnEnded');
    expect(talk.all('taken')).toMatchObject([{ deliveryId: steer, nativeTurnId: turnId }]);
    expect(ended).toMatchObject({ status: 'succeeded', answer: 'heard you' });
  });

  it('refuses a steer without a turn, and a start during one', async () => {
    const talk = await bench.open('refusals');
    const steer = await talk.conversation.steer({ id: bench.deliveryId(), text: 'nobody listens' });
    expect(steer).toMatchObject({ outcome: 'refused' });
    await begin(talk, '[[slow 1]]', bench.deliveryId());
    const start = await talk.conversation.start({ id: bench.deliveryId(), text: 'MARK-SECOND' });
    expect(start).toMatchObject({ outcome: 'refused' });
    await talk.event('turnEnded');
    expect(bench.model.heard('MARK-SECOND')).toBe(0);
  });

  it('proves by the end of the turn that an interrupted steer was never taken', async () => {
    const talk = await bench.open('dropped');
    await begin(talk, `${slowTool} [[say done]]`, bench.deliveryId());
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const steer = bench.deliveryId();
    expect(await talk.conversation.steer({ id: steer, text: 'MARK-DROPPED' })).toEqual({
      outcome: 'written',
    });
    expect(await talk.conversation.interrupt('another turn')).toBe('idle');
    expect(await talk.conversation.interrupt()).toBe('asked');
    expect(await talk.event('turnEnded')).toMatchObject({ status: 'interrupted', answer: '' });
    expect(await talk.conversation.evidence(steer)).toEqual({ state: 'absent' });
    await talk.turn('again [[say again]]');
    expect(talk.all('taken')).toEqual([]);
    expect(bench.model.heard('MARK-DROPPED')).toBe(0);
    expect(await talk.conversation.interrupt()).toBe('idle');
  });

  it('never sends a text again that the agent has, although its turn failed before the model heard it', async () => {
    const talk = await bench.open('failedTaken');
    const turnId = await begin(talk, '[[fail 429 1.2]]', bench.deliveryId());
    await bench.model.waitFor((e) => e.type === 'request' && e.turnId === turnId);
    const steer = { id: bench.deliveryId(), text: 'MARK-FAILED' };
    expect(await talk.conversation.steer(steer)).toEqual({ outcome: 'written' });
    expect(await talk.event('turnEnded')).toMatchObject({ status: 'failed' });
    expect(talk.all('taken')).toMatchObject([{ deliveryId: steer.id, nativeTurnId: turnId }]);
    expect(await talk.conversation.start(steer)).toEqual({ outcome: 'written' });
    await talk.turn('next [[say next]]');
    expect(talk.all('turnStarted')).toHaveLength(2);
  });

  it('does not run a text twice that it is given twice', async () => {
    const talk = await bench.open('twice');
    const delivery = { id: bench.deliveryId(), text: 'MARK-TWICE [[say once]]' };
    await talk.conversation.start(delivery);
    await talk.event('turnEnded');
    expect(await talk.conversation.start(delivery)).toEqual({ outcome: 'written' });
    await talk.turn('other [[say other]]');
    expect(talk.all('turnStarted')).toHaveLength(2);
  });

  it.each([
    ['[[fail 429 resets=600]]', 'capacity'],
    ['[[fail 401]]', 'login'],
    ['[[fail 500]]', 'agent'],
    ['[[drop 0.3]]', 'agent'],
  ])('fails once, after its retries, with the right kind of error: %s', async (script, kind) => {
    const talk = await bench.open(`fails${script.replace(/\W/g, '')}`);
    const ended = await talk.turn(script);
    expect(ended).toMatchObject({ status: 'failed', answer: '', error: { kind } });
    expect(talk.all('turnEnded')).toHaveLength(1);
    if (kind === 'capacity') expect(ended.error?.resetsAt).toBeGreaterThan(Date.now() + 500_000);
    expect(await talk.turn('[[say better]]')).toMatchObject({ status: 'succeeded', answer: 'better' });
  });

  it('counts a command that outlives its turn as a task, and reports its end', async () => {
    const talk = await bench.open('background');
    const ended = await talk.turn('[[background sleep 2; echo late words]] [[say left it running]]');
    expect(ended.answer).toBe('left it running');
    expect(ended.tasks).toMatchObject([{ name: expect.stringContaining('sleep 2') }]);
    const done = await talk.event('taskEnded');
    expect(done).toMatchObject({
      taskId: ended.tasks[0]?.taskId,
      status: 'succeeded',
      result: 'late words\n',
    });
    expect((await talk.turn('[[say nothing left]]')).tasks).toEqual([]);
  });

  it('counts what an interrupt leaves running, and ends it when asked', async () => {
    const talk = await bench.open('leftovers');
    await begin(talk, '[[background sleep 71]] [[shell sleep 72]]', bench.deliveryId());
    await talk.event('item', (e) => e.item.kind === 'toolCall' && e.item.text.includes('sleep 72'));
    await talk.conversation.interrupt();
    const ended = await talk.event('turnEnded');
    expect(ended.tasks.map((task) => task.name).sort()).toMatchObject([
      expect.stringContaining('sleep 71'),
      expect.stringContaining('sleep 72'),
    ]);
    await talk.conversation.stopTasks?.();
    await talk.event('taskEnded', (e) => e.taskId === ended.tasks[0]?.taskId);
    await talk.event('taskEnded', (e) => e.taskId === ended.tasks[1]?.taskId);
  });

  it('counts a sub-agent that outlives the turn as a task, and finds the turn of its calls', async () => {
    const talk = await bench.open('subAgent');
    const located: unknown[] = [];
    bench.tools.onCall = async (call) => {
      if (call.bearer === 'bearer-subAgent') located.push([call.text, await talk.conversation.locate(call)]);
    };
    const child =
      '[[tool slow_echo {\\"secs\\":0,\\"text\\":\\"early\\"}]] [[shell sleep 2]] [[tool slow_echo {\\"secs\\":0,\\"text\\":\\"late\\"}]] [[say child done]]';
    const ended = await talk.turn(
      `[[tool spawn_agent {"message":"${child}"}]] [[shell sleep 1]] [[say parent done]]`,
    );
    expect(ended).toMatchObject({ status: 'succeeded', answer: 'parent done' });
    expect(ended.tasks).toMatchObject([{ name: expect.stringContaining('sub-agent') }]);
    const done = await talk.event('taskEnded');
    bench.tools.onCall = undefined;
    expect(done).toMatchObject({ taskId: ended.tasks[0]?.taskId, status: 'succeeded', result: 'child done' });
    expect(located).toEqual([
      ['early', { state: 'running', nativeTurnId: ended.nativeTurnId }],
      ['late', { state: 'ended' }],
    ]);
    expect(talk.all('turnStarted')).toHaveLength(1);
  });

  it('offers its tools in a sandbox without asking, and offers no goals', async () => {
    const talk = await bench.open('sandboxed', { profile: bench.profile({ sandbox: 'readOnly' }) });
    const ended = await talk.turn(
      '[[tool slow_echo {"secs":0,"text":"in the box"}]] [[shell touch here]] [[say {{lastResult}}]]',
    );
    expect(bench.tools.calls.filter((c) => c.bearer === 'bearer-sandboxed')).toHaveLength(1);
    expect(ended.answer).toContain('Read-only file system');
    const request = bench.model.log.find(
      (e) => e.type === 'request' && e.userTexts[0]?.includes('in the box'),
    );
    expect(request?.type === 'request' && request.tools.filter((name) => name.includes('goal'))).toEqual([]);
  });
});

describe.skipIf(!program)('questions of the real program', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startCodexBench(program ?? '');
  });
  afterAll(() => bench.stop());

  const asking = (onQuestion: 'deny' | 'allow' | 'ask') =>
    ({ profile: bench.profile({ sandbox: 'workspace', onQuestion }) }) as const;

  it('are refused by the profile without asking anybody', async () => {
    const talk = await bench.open('deny', asking('deny'));
    const ended = await talk.turn('[[escalate echo out]] [[say {{lastResult}}]]');
    expect(ended.status).toBe('succeeded');
    expect(ended.answer).not.toContain('\nout');
    expect(talk.all('waiting')).toEqual([]);
  });

  it('are allowed by the profile without asking anybody', async () => {
    const talk = await bench.open('allow', asking('allow'));
    const ended = await talk.turn('[[escalate echo let out]] [[say {{lastResult}}]]');
    expect(ended.answer).toContain('let out');
    expect(talk.all('waiting')).toEqual([]);
  });

  it('wait for a person, survive our death, and are offered no rule that would stay', async () => {
    const first = await bench.open('ask', asking('ask'));
    await begin(first, '[[escalate echo asked first]] [[say {{lastResult}}]]', bench.deliveryId());
    const asked = await first.event('waiting');
    expect(asked).toMatchObject({ waitsFor: 'input', choices: ['accept', 'decline'] });
    expect(asked.text).toContain('echo asked first');
    await bench.restart(first);
    const again = await bench.open('ask', { ...asking('ask'), position: asked.position });
    expect(again.how).toBe('adopted');
    const questionId = (await again.event('waiting')).questionId ?? '';
    expect(questionId).toBe(asked.questionId);
    expect(await again.conversation.answer(questionId, 'acceptForSession')).toBe(false);
    expect(await again.conversation.answer(questionId, 'accept')).toBe(true);
    expect((await again.event('turnEnded')).answer).toContain('asked first');
    expect(again.all('resumed')).toHaveLength(1);
    expect(await again.conversation.answer(questionId, 'accept')).toBe(false);
  });

  it('declined by a person leave the turn running', async () => {
    const talk = await bench.open('declined', asking('ask'));
    await begin(talk, '[[escalate echo never]] [[say went on]]', bench.deliveryId());
    const { questionId = '' } = await talk.event('waiting');
    expect(await talk.conversation.answer(questionId, 'decline')).toBe(true);
    expect(await talk.event('turnEnded')).toMatchObject({ status: 'succeeded', answer: 'went on' });
  });
});

describe.skipIf(!program)('the configuration of the user', () => {
  it('keeps its own tool server of our name, and ours gets another one', async () => {
    const own = [
      '[mcp_servers.stemma]',
      'url = "http://127.0.0.1:1/mcp"',
      'bearer_token_env_var = "SCRIPTED_KEY"',
      'enabled = false',
    ];
    const bench = await startCodexBench(program ?? '', own.join('\n'));
    try {
      const talk = await bench.open('named');
      await talk.turn('[[tool slow_echo {"secs":0,"text":"named"}]] [[say done]]');
      expect(bench.tools.calls.map((c) => c.bearer)).toEqual(['bearer-named']);
    } finally {
      await bench.stop();
    }
  });
});
