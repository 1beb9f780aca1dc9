import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentBench, type Talk } from './agent-bench.ts';
import { findPi, piKit, stopWhole } from './pi-kit.ts';

const program = findPi();

// An extension of the user's that asks before each command, in every way that there is.
const gate = `export default (pi) => {
  pi.on('tool_call', async (event, ctx) => {
    const command = event.input.command ?? '';
    if (!command.includes('ask-')) return;
    if (command.includes('ask-confirm') && !(await ctx.ui.confirm('Run it?', command))) return { block: true, reason: 'not confirmed' };
    if (command.includes('ask-select')) {
      const chosen = await ctx.ui.select('Which one?', ['red', 'blue']);
      if (!chosen) return { block: true, reason: 'not chosen' };
      event.input.command = 'echo chosen ' + chosen;
    }
  });
};`;

describe.skipIf(!program)("questions of pi's extensions", () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await AgentBench.start(piKit, program ?? '');
    mkdirSync(join(bench.directory, 'home', 'extensions'), { recursive: true });
    writeFileSync(join(bench.directory, 'home', 'extensions', 'gate.ts'), gate);
  });
  afterAll(() => stopWhole(bench));

  const open = (name: string, onQuestion: 'deny' | 'allow' | 'ask'): Promise<Talk> =>
    bench.open(name, { profile: bench.profile({ onQuestion }) });
  const script = (kind: string): string => `[[shell echo ask-${kind}]] [[say {{lastResult}}]]`;

  it('are answered by the profile without asking anybody', async () => {
    const denied = await open('deny', 'deny');
    expect((await denied.turn(script('confirm'))).answer).toContain('not confirmed');
    expect((await denied.turn(script('select'))).answer).toContain('not chosen');
    const allowed = await open('allow', 'allow');
    expect((await allowed.turn(script('confirm'))).answer).toContain('ask-confirm');
    expect((await allowed.turn(script('select'))).answer).toContain('not chosen');
    expect([...denied.all('waiting'), ...allowed.all('waiting')]).toEqual([]);
    await Promise.all([denied.conversation.end(), allowed.conversation.end()]);
  });

  it('wait for a person, survive our death, and are answered once', async () => {
    const first = await open('ask', 'ask');
    const id = bench.deliveryId();
    await first.conversation.start({ id, text: script('select') });
    const asked = await first.event('waiting');
    expect(asked).toMatchObject({ waitsFor: 'input', text: 'Which one?', choices: ['red', 'blue'] });
    await bench.restart(first);
    const again = await bench.open('ask', {
      profile: bench.profile({ onQuestion: 'ask' }),
      nativeId: first.conversation.nativeId,
      position: asked.position,
    });
    expect(again.how).toBe('adopted');
    const { questionId = '' } = await again.event('waiting');
    expect(questionId).toBe(asked.questionId);
    expect(await again.conversation.answer(questionId, 'green')).toBe(false);
    expect(await again.conversation.answer(questionId, 'blue')).toBe(true);
    expect(await again.conversation.answer(questionId, 'blue')).toBe(false);
    expect((await again.event('turnEnded')).answer).toContain('chosen blue');
    expect(again.all('resumed')).toHaveLength(1);
    await again.conversation.start({ id: bench.deliveryId(), text: script('confirm') });
    const second = await again.event('waiting', (e) => e.questionId !== questionId);
    expect(second).toMatchObject({ choices: ['yes', 'no'], text: expect.stringContaining('ask-confirm') });
    expect(await again.conversation.interrupt()).toBe('asked');
    expect(await again.event('turnEnded', (e) => e.status === 'interrupted')).toBeTruthy();
    await again.conversation.end();
  });
});
