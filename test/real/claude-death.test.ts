import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, type ProcessIdentity } from '../../src/processes/process-identity.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { processesWithEnvironment } from '../e2e/living-processes.ts';
import { AgentBench, type Talk } from './agent-bench.ts';
import { claudeKit } from './claude-kit.ts';
import { findProgram } from './kit.ts';

const program = findProgram(claudeKit.name);

const readOutput = (talk: Talk): string => readFileSync(join(talk.request.directory, 'out.log'), 'utf8');

describe.skipIf(!program)('when the real Claude Code dies', () => {
  let bench: AgentBench;
  const talks: Talk[] = [];
  beforeAll(async () => {
    bench = await AgentBench.start(claudeKit, program ?? '');
  });
  afterEach(async () => {
    for (const talk of talks.splice(0)) await talk.conversation.end();
  });
  afterAll(() => bench.stop());

  const open = async (name: string, more: Parameters<AgentBench['open']>[1] = {}): Promise<Talk> => {
    const talk = await bench.open(name, more);
    talks.push(talk);
    return talk;
  };
  const kill = async (talk: Talk): Promise<void> => {
    const leader = (await readRecord(talk.request.directory)) as ProcessIdentity;
    expect(isAlive(leader)).toBe(true);
    process.kill(-leader.pid, 'SIGKILL');
    await talk.event('exited');
    expect(isAlive(leader)).toBe(false);
  };
  const again = (talk: Talk, unresolved: string[] = [], more: Parameters<AgentBench['open']>[1] = {}) => {
    const name = talk.request.sessionId.replace('ses_', '');
    const position = talk.events.at(-1)?.position ?? 0;
    const { nativeId } = talk.conversation;
    return open(name, { nativeId, position, unresolved, ...more });
  };

  it('in a turn, that is said once, and the conversation goes on in a new process with its history', async () => {
    const talk = await open('turn');
    await talk.turn('MARK-FIRST [[say one]]');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: 'MARK-SECOND [[slow 20]]' });
    await bench.model.waitFor((e) => e.type === 'request' && e.userTexts.at(-1)?.includes('SECOND') === true);
    await kill(talk);
    expect(talk.all('turnEnded')).toHaveLength(1);
    expect(await talk.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await talk.conversation.start({ id: 'x', text: 'x' })).toMatchObject({ outcome: 'refused' });
    const next = await again(talk, [id]);
    expect(next.how).toBe('resumed');
    expect(await next.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await next.conversation.evidence('never-sent')).toEqual({ state: 'absent' });
    expect(await next.turn('[[say back]]')).toMatchObject({ status: 'succeeded', answer: 'back' });
    expect(next.all('exited')).toEqual([]);
    const told = bench.model.requests.at(-1)?.conversation ?? [];
    expect(JSON.stringify(told)).toContain('MARK-FIRST');
    expect(JSON.stringify(told)).not.toMatch(/interrupted by user/i);
  });

  it('while a text waits, that text is proven gone, and never comes back', async () => {
    const talk = await open('queued');
    await talk.turn('[[say warm]]');
    await talk.conversation.start({
      id: bench.deliveryId(),
      text: '[[tool slow_echo {"secs":20,"text":"z"}]]',
    });
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const id = bench.deliveryId();
    expect(await talk.conversation.steer({ id, text: 'MARK-GONE' })).toEqual({ outcome: 'written' });
    await kill(talk);
    expect(talk.all('taken')).toEqual([]);
    expect(await talk.conversation.evidence(id)).toEqual({ state: 'absent' });
    expect(await talk.conversation.withdraw(id)).toBe('withdrawn');
    const next = await again(talk, [id]);
    expect(await next.conversation.evidence(id)).toEqual({ state: 'absent' });
    await next.turn('[[say clean]]');
    expect(bench.model.heard('MARK-GONE')).toBe(0);
  });

  it('within moments of its first text, it begins anew under the same id', async () => {
    const talk = await open('early');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: '[[slow 20]]' });
    await talk.event('turnStarted');
    await kill(talk);
    const next = await again(talk, [id]);
    expect(next.conversation.nativeId).toBe(talk.conversation.nativeId);
    expect((await next.conversation.evidence(id)).state).toBe('consumed');
    expect(await next.turn('[[say anew]]')).toMatchObject({ answer: 'anew' });
  });

  it('while nobody listens, whoever comes next hears of everything and of the death', async () => {
    const talk = await open('unheard');
    const leader = (await readRecord(talk.request.directory)) as ProcessIdentity;
    const first = await talk.turn('[[say heard]]');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: '[[say unheard]]' });
    await bench.restart(talk);
    await bench.model.waitFor((e) => e.type === 'request' && e.userTexts.at(-1) === '[[say unheard]]');
    const { number } = bench.model.log.findLast((e) => e.type === 'request')!;
    await bench.model.waitFor((e) => e.type === 'ended' && e.number === number);
    // It says so some moments later, and then dies.
    await expect.poll(() => readOutput(talk).split('"state":"idle"').length, { timeout: 5000 }).toBe(3);
    process.kill(-leader.pid, 'SIGKILL');
    await expect.poll(() => isAlive(leader)).toBe(false);
    const next = await again(talk, [id], { position: first.position });
    expect(next.all('turnEnded')).toMatchObject([{ status: 'succeeded', answer: 'unheard' }]);
    expect(next.all('exited')).toHaveLength(1);
    expect(next.how).toBe('resumed');
    expect(await next.turn('[[say on]]')).toMatchObject({ answer: 'on' });
  });

  it('with a question open, the death names it, and the command has not run', async () => {
    const talk = await open('question', { profile: bench.profile({ onQuestion: 'ask' }) });
    await talk.conversation.start({ id: bench.deliveryId(), text: '[[escalate touch never.txt]] [[say x]]' });
    const { questionId = '' } = await talk.event('waiting');
    await kill(talk);
    expect(talk.all('exited')[0]?.reason).toContain('touch never.txt');
    expect(await talk.conversation.answer(questionId, 'Allow')).toBe(false);
    expect(existsSync(join(bench.cwd, 'never.txt'))).toBe(false);
  });

  it('its background shells are ended with the conversation, whatever they left', async () => {
    const talk = await open('shells', {
      profile: bench.profile({ env: { ...bench.profile().env, MARK: 'shells-of-the-dead' } }),
    });
    await talk.turn('[[background sleep 300]] [[say left]]');
    await kill(talk);
    expect(processesWithEnvironment('shells-of-the-dead').length).toBeGreaterThan(0);
    expect(await talk.conversation.end()).toBe('dead');
    expect(processesWithEnvironment('shells-of-the-dead')).toEqual([]);
  });

  it('asked to end, it ends its turn and its shells', async () => {
    const talk = await open('ended', {
      profile: bench.profile({ env: { ...bench.profile().env, MARK: 'shells-of-the-ended' } }),
    });
    await talk.turn('[[background sleep 300]] [[say left]]');
    await talk.conversation.start({ id: bench.deliveryId(), text: '[[slow 20 long words]]' });
    await bench.model.waitFor((e) => e.type === 'request' && e.userTexts.at(-1) === '[[slow 20 long words]]');
    expect(await talk.conversation.end()).toBe('dead');
    expect(talk.all('turnEnded').at(-1)).toMatchObject({ status: 'interrupted' });
    expect(talk.events.at(-1)?.type).toBe('exited');
    expect(processesWithEnvironment('shells-of-the-ended')).toEqual([]);
  });

  it('a process is not started where one must be adopted', async () => {
    const talk = await open('cold');
    await talk.turn('[[say warm]]');
    expect(await talk.conversation.end()).toBe('dead');
    const { nativeId } = talk.conversation;
    const { opened } = await bench.tryOpen('cold', { nativeId, adoptOnly: true, position: 1_000_000 });
    expect(opened).toMatchObject({ ok: false, code: 'NOT_RUNNING' });
  });
});
