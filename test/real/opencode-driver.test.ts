import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpencodeApi } from '../../src/drivers/opencode/api.ts';
import { readAttachment } from '../../src/drivers/opencode/server.ts';
import { type AgentBench, type Talk } from './agent-bench.ts';
import { findOpencode, startOpencodeBench } from './opencode-kit.ts';

const program = findOpencode();

/** Sends a text and waits for the start of its turn. */
async function begin(talk: Talk, text: string, id: string): Promise<string> {
  expect(await talk.conversation.start({ id, text })).toEqual({ outcome: 'written' });
  return (await talk.event('turnStarted', (e) => e.deliveryId === id)).nativeTurnId;
}

describe.skipIf(!program)('the opencode driver and the real program', { timeout: 180_000 }, () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startOpencodeBench(program ?? '');
  });
  afterAll(() => bench.stop());

  it('finds the program and its version without a conversation', async () => {
    expect(await bench.driver.probe(bench.profile())).toMatchObject({
      found: true,
      version: '1.18.33',
      warnings: [],
    });
    const probe = await bench.driver.probe(bench.profile({ command: ['no-such-program'] }));
    expect(probe).toMatchObject({ found: false });
  });

  it('runs turns, each with one start and one end, and counts their cost', async () => {
    const talk = await bench.open('simple');
    expect(talk.how).toBe('started');
    expect(await talk.conversation.interrupt()).toBe('idle');
    const first = await talk.turn('[[say hello]]');
    expect(first).toMatchObject({ status: 'succeeded', answer: 'hello', tasks: [] });
    expect(first.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
    const second = await talk.turn('[[shell echo from a shell]] [[say got {{lastResult}}]]');
    expect(second.answer).toContain('got from a shell');
    expect(second.usage).toMatchObject({ inputTokens: 200, outputTokens: 40 });
    expect(second.nativeTurnId).not.toBe(first.nativeTurnId);
    expect(talk.all('turnStarted')).toHaveLength(2);
    expect(talk.all('turnEnded')).toHaveLength(2);
    const kinds = talk.all('item').map((e) => e.item.kind);
    expect(kinds).toEqual(['user', 'text', 'user', 'toolCall', 'toolResult', 'text']);
    const positions = talk.events.map((e) => e.position);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(new Set(positions).size).toBe(positions.length);
    // No title was asked for.
    expect(bench.model.requests).toHaveLength(3);
    expect(await talk.conversation.end()).toBe('dead');
  });

  it('locates its tool calls, with the bearer of its session', async () => {
    const [a, b] = await Promise.all([bench.open('toolsA'), bench.open('toolsB')]);
    const located: unknown[] = [];
    bench.tools.onCall = async (call) => {
      const talk = call.bearer === 'bearer-toolsA' ? a : b;
      located.push([call.bearer, call.text, await talk.conversation.locate(call)]);
    };
    const text = (name: string): string =>
      `[[tool slow_echo {"secs":0,"text":"${name}"}]] [[say ${name} done]]`;
    const [endA, endB] = await Promise.all([a.turn(text('a')), b.turn(text('b'))]);
    bench.tools.onCall = undefined;
    expect([endA.answer, endB.answer]).toEqual(['a done', 'b done']);
    expect(located.sort()).toEqual([
      ['bearer-toolsA', 'a', { state: 'running', nativeTurnId: endA.nativeTurnId }],
      ['bearer-toolsB', 'b', { state: 'running', nativeTurnId: endB.nativeTurnId }],
    ]);
    expect(await a.conversation.locate({ meta: {} })).toEqual({ state: 'ended' });
    // Two conversations in one directory at once: nothing of one reaches the other.
    for (const talk of [a, b]) {
      expect(talk.all('turnStarted')).toHaveLength(1);
      expect(talk.all('turnEnded')).toHaveLength(1);
      expect(await talk.conversation.end()).toBe('dead');
    }
    expect(a.all('item').some((e) => e.item.text.includes('"b"'))).toBe(false);
  });

  it('steers: what is taken is proven, also while the last answer is written', async () => {
    const talk = await bench.open('steer');
    const turn = await begin(talk, '[[shell sleep 5]] [[say done]]', bench.deliveryId());
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const steer = { id: bench.deliveryId(), text: 'MARK-STEER' };
    expect(await talk.conversation.start({ id: bench.deliveryId(), text: 'no' })).toMatchObject({
      outcome: 'refused',
    });
    expect(await talk.conversation.steer(steer, 'another turn')).toMatchObject({ outcome: 'refused' });
    expect(await talk.conversation.steer(steer, turn)).toEqual({ outcome: 'written' });
    expect(await talk.conversation.withdraw(steer.id)).not.toBe('withdrawn');
    await talk.event('turnEnded');
    expect(talk.all('taken')).toMatchObject([{ deliveryId: steer.id, nativeTurnId: turn }]);
    expect(await talk.conversation.withdraw(steer.id)).toBe('taken');
    expect(await talk.conversation.evidence(steer.id)).toEqual({ state: 'consumed', nativeTurnId: turn });
    expect(bench.model.heard('MARK-STEER')).toBeGreaterThan(0);
    const id = bench.deliveryId();
    const second = await begin(talk, '[[slow 2 long words]]', id);
    await bench.model.waitFor(
      (e) => e.type === 'request' && e.userTexts.some((t) => t.includes('long words')),
    );
    const late = { id: bench.deliveryId(), text: 'MARK-LATE [[say heard late]]' };
    expect(await talk.conversation.steer(late)).toEqual({ outcome: 'written' });
    const ended = await talk.event('turnEnded', (e) => e.nativeTurnId === second);
    expect(ended.answer).toBe('heard late');
    expect(talk.all('taken')).toHaveLength(2);
    expect(await talk.conversation.end()).toBe('dead');
  });

  it('knows that a text is gone that an interrupt left behind', async () => {
    const talk = await bench.open('dropped');
    const turn = await begin(talk, '[[shell sleep 20]]', bench.deliveryId());
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const [one, two] = [bench.deliveryId(), bench.deliveryId()];
    expect(await talk.conversation.steer({ id: one, text: 'MARK-DROPPED one' })).toEqual({
      outcome: 'written',
    });
    expect(await talk.conversation.steer({ id: two, text: 'MARK-DROPPED two' })).toEqual({
      outcome: 'written',
    });
    expect(await talk.conversation.evidence(one)).toEqual({ state: 'queued' });
    expect(await talk.conversation.interrupt('another turn')).toBe('idle');
    expect(await talk.conversation.interrupt(turn)).toBe('asked');
    expect(await talk.event('turnEnded')).toMatchObject({ status: 'interrupted', answer: '' });
    expect(await talk.conversation.withdraw(one)).toBe('withdrawn');
    expect(await talk.conversation.evidence(two)).toEqual({ state: 'absent' });
    expect(await talk.conversation.evidence(one)).toEqual({ state: 'absent' });
    expect(await talk.turn('again [[say again]]')).toMatchObject({ answer: 'again' });
    expect(talk.all('taken')).toEqual([]);
    expect(talk.all('turnEnded')).toHaveLength(2);
    expect(bench.model.heard('MARK-DROPPED')).toBe(0);
    expect(await talk.conversation.end()).toBe('dead');
  });

  it('does not run a text twice that it is given twice', async () => {
    const talk = await bench.open('twice');
    const delivery = { id: bench.deliveryId(), text: 'MARK-TWICE [[say once]]' };
    await talk.conversation.start(delivery);
    await talk.event('turnEnded');
    expect(await talk.conversation.start(delivery)).toEqual({ outcome: 'written' });
    await talk.turn('other [[say other]]');
    expect(talk.all('turnStarted')).toHaveLength(2);
    expect(await talk.conversation.end()).toBe('dead');
  });

  it('fails once, after its retries, with the right kind of error', async () => {
    const talk = await bench.open('fails');
    for (const [script, kind] of [
      ['[[fail 401]]', 'login'],
      ['[[fail 400]]', 'agent'],
    ] as const) {
      const ended = await talk.turn(script);
      expect(ended).toMatchObject({ status: 'failed', answer: '', error: { kind } });
    }
    expect(await talk.turn('[[say better]]')).toMatchObject({ status: 'succeeded', answer: 'better' });
    expect(talk.all('turnEnded')).toHaveLength(3);
    expect(await talk.conversation.end()).toBe('dead');
  });

  it('tells of a usage limit while it waits, and of its end', async () => {
    const talk = await bench.open('limit');
    const ended = await talk.turn('[[fail 429 resets=1]]');
    expect(ended).toMatchObject({ status: 'failed', error: { kind: 'capacity' } });
    const [waiting] = talk.all('waiting');
    expect(waiting).toMatchObject({ waitsFor: 'capacity', until: expect.any(Number) });
    expect(await talk.conversation.end()).toBe('dead');
  });

  it('tells what a person types at its screen as theirs, alone and within a turn of ours', async () => {
    const talk = await bench.open('typed');
    const attachment = await readAttachment(talk.request.directory);
    expect(attachment).toMatchObject({ nativeId: talk.conversation.nativeId });
    const api = new OpencodeApi({
      url: '',
      password: '',
      ...attachment,
      identity: { pid: 2, startedAt: '' },
    });
    const type = (text: string): Promise<unknown> =>
      api.call('POST', `/session/${talk.conversation.nativeId}/prompt_async`, {
        parts: [{ type: 'text', text }],
      });
    await type('[[say to a person]]');
    const ended = await talk.event('turnEnded');
    expect(ended.answer).toBe('to a person');
    const [started] = talk.all('turnStarted');
    expect(started).toMatchObject({ typed: { id: ended.nativeTurnId, text: '[[say to a person]]' } });
    expect(started?.deliveryId).toBeUndefined();
    await begin(talk, '[[shell sleep 2]] [[say both]]', bench.deliveryId());
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    await type('MARK-TYPED');
    expect(await talk.event('typed')).toMatchObject({ typed: { text: 'MARK-TYPED' } });
    await talk.event('turnEnded', (e) => e.answer === 'both');
    expect(talk.all('taken')).toEqual([]);
    expect(await talk.conversation.end()).toBe('dead');
    expect(await readAttachment(talk.request.directory)).toBeUndefined();
  });
});
