import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promptScript } from '../model/prompt-script.ts';
import { AgentBench, type Talk } from './agent-bench.ts';
import { findPi, piKit, stopWhole } from './pi-kit.ts';

const program = findPi();
const slowTool = '[[tool slow_echo {"secs":2,"text":"z"}]]';

async function begin(talk: Talk, text: string, id: string): Promise<string> {
  expect(await talk.conversation.start({ id, text })).toEqual({ outcome: 'written' });
  return (await talk.event('turnStarted', (e) => e.deliveryId === id)).nativeTurnId;
}

describe.skipIf(!program)('the pi driver, with the real program', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await AgentBench.start(piKit, program ?? '');
  });
  afterAll(() => stopWhole(bench));

  it('runs turns and reports answer, end and usage, each once', async () => {
    const talk = await bench.open('simple');
    expect(talk.how).toBe('started');
    const ended = await talk.turn('hello [[say good morning]]');
    expect(ended).toMatchObject({ status: 'succeeded', answer: 'good morning', tasks: [] });
    expect(ended.usage).toEqual({ inputTokens: 100, outputTokens: 20, usd: expect.closeTo(0.00014) });
    expect(talk.events.map((e) => e.type)).toEqual(['turnStarted', 'item', 'item', 'turnEnded']);
    expect(existsSync(talk.conversation.nativeId)).toBe(true);
    expect(await talk.turn('/not-a-command [[say a text is a text]]')).toMatchObject({
      answer: 'a text is a text',
    });
    const ids = talk.all('turnStarted').map((e) => e.deliveryId ?? '');
    expect(await talk.conversation.evidence(ids[0] ?? '')).toMatchObject({ state: 'consumed' });
    expect(await talk.conversation.evidence('never')).toEqual({ state: 'absent' });
    expect(await talk.conversation.start({ id: ids[0] ?? '', text: 'x' })).toMatchObject({
      outcome: 'refused',
    });
    expect(await talk.conversation.interrupt()).toBe('idle');
    expect(await talk.conversation.end()).toBe('dead');
  });

  it('finds the program, its version and its sign-in', async () => {
    const probe = await bench.driver.probe(bench.profile());
    expect(probe).toEqual({ found: true, version: '0.74.2', signedIn: 'yes', warnings: [] });
    const missing = await bench.driver.probe(bench.profile({ command: ['/nowhere/pi'] }));
    expect(missing).toMatchObject({ found: false, warnings: [expect.stringContaining('/nowhere/pi')] });
    const home = join(bench.directory, 'empty');
    const { model: _, ...profile } = bench.profile({ home });
    expect((await bench.driver.probe(profile)).warnings).toEqual([expect.stringContaining('/login')]);
    const { opened } = await bench.tryOpen('unsigned', { profile });
    expect(opened).toMatchObject({
      ok: false,
      code: 'AGENT_FAILED',
      message: expect.stringContaining('sign in'),
    });
    const wrong = await bench.tryOpen('wrong', { profile: bench.profile({ model: 'no-such-model' }) });
    expect(wrong.opened).toMatchObject({ ok: false, message: expect.stringContaining('no-such-model') });
  });

  it('keeps two sessions in one directory apart, and finds the turn of each call', async () => {
    const [a, b] = await Promise.all([bench.open('left'), bench.open('right')]);
    const located: unknown[] = [];
    bench.tools.onCall = async (call) => {
      const owner = call.bearer === 'bearer-left' ? a : b;
      located.push([call.text, await owner.conversation.locate(call)]);
    };
    const text = (side: string): string =>
      `[[tool slow_echo {"secs":0.2,"text":"${side}"}]] [[say ${side} done]]`;
    const [endA, endB] = await Promise.all([a.turn(text('left')), b.turn(text('right'))]);
    bench.tools.onCall = undefined;
    expect([endA.answer, endB.answer]).toEqual(['left done', 'right done']);
    expect(a.conversation.nativeId).not.toBe(b.conversation.nativeId);
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
    expect(await talk.conversation.steer({ id: steer, text: 'x' }, 'another')).toMatchObject({
      outcome: 'refused',
    });
    expect(await talk.conversation.steer({ id: steer, text: 'MARK-TOOL' })).toEqual({ outcome: 'written' });
    expect(talk.all('taken')).toEqual([]);
    expect(await talk.conversation.evidence(steer)).toEqual({ state: 'queued' });
    expect(await talk.conversation.start({ id: bench.deliveryId(), text: 'x' })).toMatchObject({
      outcome: 'refused',
    });
    const ended = await talk.event('turnEnded');
    expect(talk.all('taken')).toMatchObject([{ deliveryId: steer, nativeTurnId: turnId }]);
    expect(ended).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(bench.model.heard('MARK-TOOL')).toBe(1);
  });

  it('takes a text steered into the last stream up in the same turn', async () => {
    const talk = await bench.open('steerStream');
    await begin(talk, '[[slow 1.5]]', bench.deliveryId());
    const steer = { id: bench.deliveryId(), text: 'MARK-STREAM [[say heard it]]' };
    expect(await talk.conversation.steer(steer)).toEqual({ outcome: 'written' });
    expect(await talk.event('turnEnded')).toMatchObject({ answer: 'heard it' });
    expect(talk.all('taken')).toMatchObject([{ deliveryId: steer.id }]);
    expect(talk.all('turnEnded')).toHaveLength(1);
  });

  it('takes a steered text up at the end of a tool that an interrupt stopped; the next turn tells it to the model', async () => {
    const talk = await bench.open('abortTool');
    const turnId = await begin(talk, '[[tool slow_echo {"secs":20,"text":"z"}]]', bench.deliveryId());
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const steer = { id: bench.deliveryId(), text: 'MARK-ABORTED' };
    expect(await talk.conversation.steer(steer)).toEqual({ outcome: 'written' });
    expect(await talk.conversation.interrupt('another turn')).toBe('idle');
    expect(await talk.conversation.interrupt(turnId)).toBe('asked');
    expect(await talk.event('turnEnded')).toMatchObject({ status: 'interrupted', answer: '' });
    expect(talk.all('taken')).toMatchObject([{ deliveryId: steer.id, nativeTurnId: turnId }]);
    expect(await talk.conversation.evidence(steer.id)).toMatchObject({ state: 'consumed' });
    expect(await talk.conversation.start(steer)).toMatchObject({ outcome: 'refused' });
    await talk.turn('again [[say again]]');
    expect(bench.model.heard('MARK-ABORTED')).toBe(1);
  });

  it('drops a steered text that an interrupt left queued, before it tells the end', async () => {
    const talk = await bench.open('dropped');
    await talk.turn('[[say warm]]');
    await begin(talk, '[[slow 20]]', bench.deliveryId());
    const steer = { id: bench.deliveryId(), text: 'MARK-DROPPED' };
    expect(await talk.conversation.steer(steer)).toEqual({ outcome: 'written' });
    expect(await talk.conversation.interrupt()).toBe('asked');
    await talk.event('turnEnded', (e) => e.status === 'interrupted');
    expect(await talk.conversation.evidence(steer.id)).toEqual({ state: 'absent' });
    expect(await talk.turn('again [[tool slow_echo {"secs":0,"text":"kept"}]] [[say again]]')).toMatchObject({
      answer: 'again',
    });
    expect(talk.all('taken')).toEqual([]);
    expect(bench.model.heard('MARK-DROPPED')).toBe(0);
    expect(talk.all('exited')).toEqual([]);
    // Now it may be sent again.
    expect(await talk.conversation.start(steer)).toEqual({ outcome: 'written' });
    await talk.event('turnEnded', (e) => e.nativeTurnId.endsWith(steer.id));
    expect(bench.model.heard('MARK-DROPPED')).toBe(1);
  });

  it('drops a steered text that a failed turn left queued', async () => {
    const talk = await bench.open('failedQueue');
    await talk.turn('[[say warm]]');
    const before = bench.model.log.length;
    await begin(talk, '[[fail 401 0.8]]', bench.deliveryId());
    await bench.model.waitFor((e) => e.type === 'request' && bench.model.log.indexOf(e) >= before);
    const steer = { id: bench.deliveryId(), text: 'MARK-FAILED' };
    expect(await talk.conversation.steer(steer)).toEqual({ outcome: 'written' });
    expect(await talk.event('turnEnded', (e) => e.status === 'failed')).toMatchObject({
      error: { kind: 'login' },
    });
    expect(await talk.conversation.evidence(steer.id)).toEqual({ state: 'absent' });
    await talk.turn('next [[say next]]');
    expect(bench.model.heard('MARK-FAILED')).toBe(0);
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
    const waits = talk.all('waiting').map((e) => e.waitsFor);
    expect(waits).toEqual(kind === 'capacity' ? ['capacity', 'capacity'] : []);
    expect(talk.all('resumed')).toHaveLength(waits.length);
    expect(await talk.turn('[[say better]]')).toMatchObject({ status: 'succeeded', answer: 'better' });
  });

  it('goes on when a retry works, and is interrupted while it waits for one', async () => {
    const talk = await bench.open('retries');
    let failed = false;
    const obey = promptScript();
    bench.model.setScript((request) => {
      if (failed) return obey(request);
      failed = true;
      return { do: 'fail', status: 500 };
    });
    expect(await talk.turn('[[say fine]]')).toMatchObject({ status: 'succeeded', answer: 'fine' });
    await begin(talk, '[[fail 429]]', bench.deliveryId());
    await talk.event('waiting');
    expect(await talk.conversation.interrupt()).toBe('asked');
    expect(await talk.event('turnEnded', (e) => e.status === 'interrupted')).toMatchObject({ answer: '' });
    expect(await talk.turn('[[say still here]]')).toMatchObject({ answer: 'still here' });
  });

  it('has no writing tools in a read-only session, and keeps ours', async () => {
    const talk = await bench.open('readOnly', { profile: bench.profile({ sandbox: 'readOnly' }) });
    const ended = await talk.turn(
      '[[tool slow_echo {"secs":0,"text":"in the box"}]] [[shell touch here]] [[say {{lastResult}}]]',
    );
    expect(bench.tools.calls.filter((c) => c.bearer === 'bearer-readOnly')).toHaveLength(1);
    expect(ended.answer).toContain('NO TOOL bash');
    expect(existsSync(join(bench.cwd, 'here'))).toBe(false);
    const offered = bench.model.requests.findLast((r) => r.tools.some((t) => t.name === 'slow_echo'))?.tools;
    expect(offered?.map((t) => t.name).sort()).toEqual(['find', 'grep', 'ls', 'read', 'slow_echo']);
  });

  it('says so when the tools cannot be had', async () => {
    const tools = { url: 'http://127.0.0.1:1/mcp', token: 'x' };
    const talk = await bench.open('noTools', { tools });
    expect(talk.all('noise').map((e) => e.what)).toEqual([expect.stringContaining("none of Stemma's tools")]);
    expect(await talk.turn('[[say without]]')).toMatchObject({ answer: 'without' });
  });
});
