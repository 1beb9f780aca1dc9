import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AgentBench, type Talk } from './agent-bench.ts';
import { claudeKit } from './claude-kit.ts';
import { findProgram } from './kit.ts';

const program = findProgram(claudeKit.name);

/** What a server that died left: the conversation is taken over in the middle of something. */
describe.skipIf(!program)('a conversation with the real Claude Code, taken over', () => {
  let bench: AgentBench;
  const talks: Talk[] = [];
  beforeAll(async () => {
    bench = await AgentBench.start(claudeKit, program ?? '');
  });
  afterEach(async () => {
    for (const talk of talks.splice(0)) await talk.conversation.end();
  });
  afterAll(() => bench.stop());

  const begin = async (talk: Talk, text: string, id = bench.deliveryId()): Promise<string> => {
    expect(await talk.conversation.start({ id, text })).toEqual({ outcome: 'written' });
    return (await talk.event('turnStarted', (e) => e.deliveryId === id)).nativeTurnId;
  };
  const endOf = (talk: Talk, turnId: string): ReturnType<Talk['turn']> =>
    talk.event('turnEnded', (e) => e.nativeTurnId === turnId);
  /** The next server's, with what the last one stored: `position` is that of the last turn that ended. */
  const adopt = async (talk: Talk, unresolved: string[] = []): Promise<Talk> => {
    const position = talk.all('turnEnded').at(-1)?.position ?? 0;
    await bench.restart(talk);
    const name = talk.request.sessionId.replace('ses_', '');
    const { nativeId } = talk.conversation;
    const { profile } = talk.request;
    const next = await bench.open(name, { nativeId, position, unresolved, profile });
    talks.push(next);
    expect(next.how).toBe('adopted');
    return next;
  };

  it('while it streams: the end is heard, under the same name', async () => {
    const talk = await bench.open('stream');
    await talk.turn('[[say warm]]');
    const id = bench.deliveryId();
    const turnId = await begin(talk, '[[slow 2 long words]]', id);
    const next = await adopt(talk, [id]);
    expect(await endOf(next, turnId)).toMatchObject({ status: 'succeeded', answer: 'long words' });
    expect(await next.conversation.evidence(id)).toEqual({ state: 'consumed', nativeTurnId: turnId });
    expect(next.all('turnEnded')).toHaveLength(1);
    expect(await next.turn('[[say more]]')).toMatchObject({ answer: 'more' });
  });

  it('while a tool runs and a text waits: it is taken up, in the same turn', async () => {
    const talk = await bench.open('steer');
    const turnId = await begin(talk, '[[tool slow_echo {"secs":2,"text":"z"}]] [[say heard]]');
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const id = bench.deliveryId();
    expect(await talk.conversation.steer({ id, text: 'STEERED' })).toEqual({ outcome: 'written' });
    const next = await adopt(talk, [id]);
    expect(await next.event('taken')).toMatchObject({ deliveryId: id, nativeTurnId: turnId });
    expect(await endOf(next, turnId)).toMatchObject({ status: 'succeeded', answer: 'heard' });
  });

  it('after everything: the end that nobody heard is told, once', async () => {
    const talk = await bench.open('after');
    const id = bench.deliveryId();
    const turnId = await begin(talk, '[[slow 1 unheard]]', id);
    await bench.restart(talk);
    const heard = (e: { type: string; how?: string }): boolean => e.type === 'ended';
    await bench.model.waitFor((e) => e.type === 'request' && e.userTexts.at(-1) === '[[slow 1 unheard]]');
    const { number } = bench.model.log.findLast((e) => e.type === 'request')!;
    await bench.model.waitFor((e) => heard(e) && e.number === number);
    const next = await adopt(talk, [id]);
    expect(await endOf(next, turnId)).toMatchObject({ answer: 'unheard' });
    const again = await adopt(next);
    expect(again.all('turnEnded')).toEqual([]);
    expect(again.all('turnStarted')).toEqual([]);
  });

  it('while a question waits: it is asked again, answered, and the command runs', async () => {
    const talk = await bench.open('question', { profile: bench.profile({ onQuestion: 'ask' }) });
    const turnId = await begin(talk, '[[escalate touch asked.txt]] [[say did it]]');
    const asked = await talk.event('waiting');
    expect(asked).toMatchObject({ waitsFor: 'input', choices: ['Allow', 'Refuse'] });
    expect(asked.text).toContain('touch asked.txt');
    const next = await adopt(talk);
    const { questionId = '' } = await next.event('waiting');
    expect(questionId).toBe(asked.questionId);
    expect(await next.conversation.answer(questionId, 'Always')).toBe(false);
    expect(await next.conversation.answer(questionId, 'Allow')).toBe(true);
    expect(await next.conversation.answer(questionId, 'Allow')).toBe(false);
    await next.event('resumed');
    expect(await endOf(next, turnId)).toMatchObject({ status: 'succeeded', answer: 'did it' });
    expect(existsSync(join(bench.cwd, 'asked.txt'))).toBe(true);
    expect(next.all('resumed')).toHaveLength(1);
  });

  it('while background work runs: it is among what lives, and its end makes the agent go on', async () => {
    const talk = await bench.open('background');
    const first = await talk.turn('[[background sleep 2; echo late]] [[say left]]');
    expect(first.tasks).toHaveLength(1);
    const next = await adopt(talk);
    const taskId = first.tasks[0]?.taskId ?? '';
    expect(await next.event('taskEnded')).toMatchObject({ taskId, status: 'succeeded' });
    const wake = await next.event('turnStarted', (e) => e.taskId === taskId);
    expect(await endOf(next, wake.nativeTurnId)).toMatchObject({ status: 'succeeded', tasks: [] });
  });
});
