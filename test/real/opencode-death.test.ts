import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, type ProcessIdentity } from '../../src/processes/process-identity.ts';
import { readProcessTable, readStartVariable } from '../../src/processes/process-table.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { type AgentBench, type Talk } from './agent-bench.ts';
import { findOpencode, startOpencodeBench } from './opencode-kit.ts';

const program = findOpencode();

async function serverOf(talk: Talk): Promise<ProcessIdentity> {
  const found = await readRecord(talk.request.directory);
  if (!found) throw new Error('no server is recorded');
  return found;
}

function bearersOf({ pid, startedAt }: ProcessIdentity): number[] {
  const rows = readProcessTable().filter((row) => !row.isZombie);
  return rows
    .filter((row) => readStartVariable(row.pid, 'STEMMA_ORIGIN') === `${pid}:${startedAt}`)
    .map((row) => row.pid);
}

describe.skipIf(!program)('when opencode dies', { timeout: 180_000 }, () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startOpencodeBench(program ?? '');
  });
  afterAll(() => bench.stop());

  it('in the middle of its answer, that is said once, and the conversation goes on in a new process', async () => {
    const talk = await bench.open('killed');
    const first = await talk.turn('[[background sleep 83]] [[say left one]]');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: 'MARK-KILLED [[slow 30 words that are never all said]]' });
    await talk.event('turnStarted', (e) => e.deliveryId === id);
    await bench.model.waitFor(
      (e) => e.type === 'request' && e.userTexts.some((t) => t.includes('MARK-KILLED')),
      20_000,
    );
    const server = await serverOf(talk);
    process.kill(-server.pid, 'SIGKILL');
    await talk.event('exited');
    expect(isAlive(server)).toBe(false);
    expect(bearersOf(server)).toEqual([]);
    expect(talk.all('turnEnded')).toHaveLength(1);
    expect(await talk.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await talk.conversation.evidence('never-sent')).toEqual({ state: 'absent' });
    expect(await talk.conversation.start({ id: 'x', text: 'x' })).toMatchObject({ outcome: 'refused' });
    expect(await talk.conversation.interrupt()).toBe('idle');
    expect(await talk.conversation.end()).toBe('dead');
    const request = { nativeId: talk.conversation.nativeId, position: first.position, unresolved: [id] };
    const again = await bench.open('killed', request);
    expect(again.how).toBe('resumed');
    expect(await again.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await again.turn('[[say back]]')).toMatchObject({ answer: 'back' });
    expect(again.all('turnEnded')).toHaveLength(1);
    expect(await again.conversation.end()).toBe('dead');
  });

  it('while a steered text waits, the text is deleted by whoever comes next, and never heard', async () => {
    const talk = await bench.open('killedSteer');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: '[[shell sleep 30]]' });
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const steer = { id: bench.deliveryId(), text: 'MARK-GONE' };
    expect(await talk.conversation.steer(steer)).toEqual({ outcome: 'written' });
    const server = await serverOf(talk);
    process.kill(server.pid, 'SIGKILL');
    await talk.event('exited');
    expect(bearersOf(server)).toEqual([]);
    expect(talk.all('taken')).toEqual([]);
    expect(await talk.conversation.evidence(steer.id)).toEqual({ state: 'absent' });
    await bench.restart(talk);
    const request = {
      nativeId: talk.conversation.nativeId,
      unresolved: [steer.id],
      position: talk.events.at(-1)?.position ?? 0,
    };
    expect(await bench.tryOpen('killedSteer', { ...request, adoptOnly: true })).toMatchObject({
      opened: { ok: false, code: 'NOT_RUNNING' },
    });
    const again = await bench.open('killedSteer', request);
    expect(await again.conversation.evidence(steer.id)).toEqual({ state: 'absent' });
    expect(await again.turn('[[say clean]]')).toMatchObject({ answer: 'clean' });
    expect(again.all('taken')).toEqual([]);
    expect(bench.model.heard('MARK-GONE')).toBe(0);
    expect(await again.conversation.end()).toBe('dead');
  });

  it('a conversation that is gone is said to be gone', async () => {
    const { opened } = await bench.tryOpen('gone', {
      nativeId: 'ses_dd37c1c6affei9XU27baXqukRG',
      position: 5,
    });
    expect(opened).toMatchObject({ ok: false, code: 'SESSION_GONE' });
  });

  it('before it listens, that is said with its last words', async () => {
    const broken = bench.profile({ env: { OPENCODE_CONFIG_CONTENT: '{"provider": 5}' } });
    const { opened } = await bench.tryOpen('broken', { profile: broken });
    expect(opened.ok).toBe(false);
  });
});

describe.skipIf(!program)('an opencode conversation survives', { timeout: 180_000 }, () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startOpencodeBench(program ?? '');
  });
  afterAll(() => bench.stop());

  it('our death: a turn goes on, and its end is told once, with what was missed', async () => {
    const first = await bench.open('away');
    const id = bench.deliveryId();
    await first.conversation.start({ id, text: '[[shell sleep 2]] [[say whole answer]]' });
    const started = await first.event('turnStarted');
    await bench.restart(first);
    const talk = await bench.open('away', { unresolved: [id], position: started.position });
    expect(talk.how).toBe('adopted');
    const ended = await talk.event('turnEnded');
    expect(ended).toMatchObject({
      nativeTurnId: started.nativeTurnId,
      status: 'succeeded',
      answer: 'whole answer',
    });
    expect(talk.all('turnStarted')).toEqual([]);
    await bench.restart(talk);
    // Everybody is told of what was not processed, and nobody of what was.
    const all = await bench.open('away', { position: started.position });
    expect(all.all('turnEnded')).toMatchObject([{ answer: 'whole answer', position: ended.position }]);
    await bench.restart(all);
    const again = await bench.open('away', { position: ended.position });
    expect(again.events).toEqual([]);
    expect(await again.turn('[[say and on]]')).toMatchObject({ answer: 'and on' });
    expect(await again.conversation.end()).toBe('dead');
  });

  it('with a question that is open, which is answered by whoever comes next', async () => {
    const { bench: own, close } = await asks();
    try {
      const first = await own.open('asked', { profile: own.profile({ onQuestion: 'ask' }) });
      await first.conversation.start({
        id: own.deliveryId(),
        text: '[[shell echo permitted]] [[say {{lastResult}}]]',
      });
      const asked = await first.event('waiting');
      expect(asked).toMatchObject({
        waitsFor: 'input',
        choices: ['once', 'reject'],
        text: expect.stringContaining('echo permitted'),
      });
      await own.restart(first);
      const talk = await own.open('asked', {
        profile: own.profile({ onQuestion: 'ask' }),
        position: asked.position,
      });
      const questionId = asked.questionId ?? '';
      expect(await talk.conversation.answer(questionId, 'always')).toBe(false);
      expect(await talk.conversation.answer(questionId, 'once')).toBe(true);
      expect(await talk.conversation.answer(questionId, 'once')).toBe(false);
      expect((await talk.event('turnEnded')).answer).toContain('permitted');
      expect(talk.all('resumed')).toHaveLength(1);
      expect(talk.all('waiting')).toEqual([]);
      expect(await talk.conversation.end()).toBe('dead');
      const denied = await own.open('denied', { profile: own.profile({ onQuestion: 'deny' }) });
      expect((await denied.turn('[[shell echo permitted]] [[say {{lastResult}}]]')).answer).toContain(
        'Nobody is here',
      );
      expect(denied.all('waiting')).toEqual([]);
      expect(await denied.conversation.end()).toBe('dead');
    } finally {
      await close();
    }
  });

  it('a move of its tools', async () => {
    const first = await bench.open('moved');
    await first.turn('[[tool slow_echo {"secs":0,"text":"old"}]] [[say a]]');
    await bench.restart(first);
    const tools = { url: bench.tools.url, token: 'bearer-new' };
    const talk = await bench.open('moved', { tools, position: first.events.at(-1)?.position ?? 0 });
    await talk.turn('[[tool slow_echo {"secs":0,"text":"new"}]] [[say b]]');
    expect(bench.tools.calls.map((c) => c.bearer)).toEqual(['bearer-moved', 'bearer-new']);
    expect(await talk.conversation.end()).toBe('dead');
  });
});

/** A bench whose user wants to be asked before a command runs. */
async function asks(): Promise<{ bench: AgentBench; close: () => Promise<void> }> {
  const bench = await startOpencodeBench(program ?? '', { permission: { bash: 'ask' } });
  const { profile } = bench;
  bench.profile = (more) => {
    const { sandbox: _, ...rest } = profile.call(bench, more);
    return rest;
  };
  return { bench, close: () => bench.stop() };
}
