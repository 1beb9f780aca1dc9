import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { ProcessIdentity } from '../../src/processes/process-identity.ts';
import { endGroup } from '../../src/processes/group.ts';
import { AgentBench, type Talk } from './agent-bench.ts';
import { geminiKit } from './gemini-kit.ts';
import { type AgentKit, findProgram } from './kit.ts';
import { qwenKit } from './qwen-kit.ts';

/** What differs from agent to agent, as it was seen. */
interface Habits {
  readonly version: string;
  /** Without this argument it asks before it runs a command. */
  readonly trusting: readonly string[];
}

driverCases(geminiKit, { version: '0.61.0', trusting: ['-y'] });
driverCases(qwenKit, { version: '0.15.10', trusting: ['--approval-mode', 'yolo'] });

function driverCases(kit: AgentKit, habits: Habits): void {
  const program = findProgram(kit.name);
  describe.skipIf(!program)(`the acp driver with the real ${kit.name}`, () => {
    let bench: AgentBench;
    let old: Talk;
    beforeAll(async () => {
      bench = await AgentBench.start(kit, program ?? '');
      old = await bench.open('old');
      await old.turn('MARK-OLD [[say I am old]]');
    });
    afterAll(() => bench.stop());

    const begin = async (talk: Talk, text: string): Promise<string> => {
      const id = bench.deliveryId();
      expect(await talk.conversation.start({ id, text })).toEqual({ outcome: 'written' });
      return id;
    };
    const end = async (talk: Talk): Promise<void> => expect(await talk.conversation.end()).toBe('dead');

    it('is found with its version', async () => {
      const probe = await bench.driver.probe(bench.profile());
      expect(probe).toMatchObject({ found: true, version: habits.version });
      expect(probe.warnings.join()).not.toContain('was proved with');
    });

    it('runs a turn, finds the turn of a tool call, and reports one start and one end', async () => {
      const talk = await bench.open('tool');
      const located: unknown[] = [];
      bench.tools.onCall = async (call) => void located.push(await talk.conversation.locate(call));
      const ended = await talk.turn('[[tool slow_echo {"secs":0.2,"text":"t"}]] [[say {{lastResult}}]]');
      bench.tools.onCall = undefined;
      expect(located).toEqual([{ state: 'running', nativeTurnId: ended.nativeTurnId }]);
      expect(ended).toMatchObject({ status: 'succeeded', answer: expect.stringContaining('echo t') });
      expect(bench.tools.calls.at(-1)?.bearer).toBe('bearer-tool');
      expect(talk.all('turnStarted')).toHaveLength(1);
      expect(talk.all('turnEnded')).toHaveLength(1);
      await end(talk);
    });

    it('gets no second text while it is busy, and ends as interrupted when it is asked to', async () => {
      const talk = await bench.open('cancel');
      const id = await begin(talk, '[[slow 20]]');
      await talk.event('turnStarted');
      const second = { id: bench.deliveryId(), text: 'MARK-SECOND' };
      expect(await talk.conversation.start(second)).toMatchObject({ outcome: 'refused' });
      expect(await talk.conversation.steer(second)).toMatchObject({ outcome: 'refused' });
      expect(await talk.conversation.evidence(second.id)).toEqual({ state: 'absent' });
      expect(await talk.conversation.interrupt()).toBe('asked');
      expect(await talk.event('turnEnded')).toMatchObject({ status: 'interrupted' });
      expect(await talk.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
      expect(await talk.turn('again [[say again]]')).toMatchObject({ status: 'succeeded', answer: 'again' });
      expect(bench.model.heard('MARK-SECOND')).toBe(0);
      await end(talk);
    });

    it('is not taken to have ended while it waits for its model, and can be interrupted then', async () => {
      const talk = await bench.open('limit');
      const id = await begin(talk, 'MARK-LIMIT [[fail 429]]');
      const isRefused = (n: number): boolean => bench.model.heard('MARK-LIMIT') >= n;
      await bench.model.waitFor(() => isRefused(2), 30_000).catch(() => undefined);
      const ended = talk.all('turnEnded')[0];
      if (ended) expect(ended).toMatchObject({ status: 'failed', error: { kind: 'capacity' } });
      else {
        // It tries again and again, and says nothing of it.
        expect(['queued', 'consumed']).toContain((await talk.conversation.evidence(id)).state);
        expect(await talk.conversation.interrupt()).toBe('asked');
        // Qwen answers with the error that broke off its tries.
        expect(['interrupted', 'failed']).toContain((await talk.event('turnEnded')).status);
      }
      await end(talk);
    });

    it('goes on with its turn when we are gone, and its end is told to who takes over', async () => {
      const talk = await bench.open('adopted');
      const id = await begin(talk, '[[tool slow_echo {"secs":1,"text":"a"}]] [[slow 1 all done]]');
      const { nativeTurnId, position } = await talk.event('turnStarted');
      await bench.restart(talk);
      const { nativeId } = talk.conversation;
      const next = await bench.open('adopted', { nativeId, position, unresolved: [id] });
      expect(next.how).toBe('adopted');
      const ended = await next.event('turnEnded');
      expect(ended).toMatchObject({ nativeTurnId, status: 'succeeded', answer: 'all done' });
      expect(await next.turn('more [[say more]]')).toMatchObject({ answer: 'more' });
      await end(next);
    });

    it('keeps two conversations in one directory apart', async () => {
      const [left, right] = [await bench.open('left'), await bench.open('right')];
      const text = (side: string): string =>
        `[[tool slow_echo {"secs":0.5,"text":"${side}"}]] [[slow 0.5 ${side} done]]`;
      const [one, other] = await Promise.all([left.turn(text('left')), right.turn(text('right'))]);
      expect([one.answer, other.answer]).toEqual(['left done', 'right done']);
      expect(JSON.stringify(left.events)).not.toContain('right');
      expect(JSON.stringify(right.events)).not.toContain('left');
      const calls = bench.tools.calls.filter(({ text }) => text === 'left' || text === 'right');
      expect(calls.map(({ bearer }) => bearer).sort()).toEqual(['bearer-left', 'bearer-right']);
      expect(calls.every(({ bearer, text }) => bearer === `bearer-${text}`)).toBe(true);
      await Promise.all([end(left), end(right)]);
    });

    it.each(['deny', 'allow', 'ask'] as const)('has its questions answered, once: %s', async (onQuestion) => {
      const { command } = bench.profile();
      const careful = command.filter((part) => !habits.trusting.includes(part));
      const profile = bench.profile({ onQuestion, command: careful });
      const talk = await bench.open(`asks-${onQuestion}`, { profile });
      await begin(talk, `[[shell touch ${onQuestion}-was-here; echo it ran]] [[say {{lastResult}}]]`);
      if (onQuestion === 'ask') {
        const asked = await talk.event('waiting');
        const once = asked.choices?.find((choice) => /once|^allow$|^yes$/i.test(choice)) ?? '';
        expect(asked.choices).toContain(once);
        expect(await talk.conversation.answer(asked.questionId ?? '', once)).toBe(true);
        expect(await talk.conversation.answer(asked.questionId ?? '', once)).toBe(false);
      }
      const ended = await talk.event('turnEnded');
      if (onQuestion === 'deny') expect(ended.answer).not.toContain('it ran');
      else expect(ended.answer).toContain('it ran');
      expect(talk.all('waiting')).toHaveLength(onQuestion === 'ask' ? 1 : 0);
      await end(talk);
    });

    it('has its conversation again after its process was killed in a turn', async () => {
      const id = await begin(old, '[[slow 20]]');
      await old.event('turnStarted', (event) => event.deliveryId === id);
      const file = join(old.request.directory, 'process.json');
      const identity = JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
      await endGroup(identity, { graceMs: 0, clock: systemClock });
      const { position } = await old.event('exited');
      await old.conversation.detach();
      const next = await bench.open('old', { nativeId: old.conversation.nativeId, position });
      expect(next.how).toBe('resumed');
      expect(await next.turn('again [[say {{heard}}]]')).toMatchObject({
        status: 'succeeded',
        answer: expect.stringContaining('MARK-OLD'),
      });
      expect(bench.model.heard('[[slow 20]]')).toBeGreaterThan(0);
      await end(next);
    }, 90_000);
  });
}
