import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { DriverEvent } from '../../src/drivers/port.ts';
import { AgentBench, type Talk } from './agent-bench.ts';
import { claudeKit } from './claude-kit.ts';
import { findProgram } from './kit.ts';

const program = findProgram(claudeKit.name);
const slowTool = '[[tool slow_echo {"secs":2,"text":"z"}]]';

/** What happened to turns and texts, in order, without what goes to the transcript. */
function story(events: readonly DriverEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'item' || event.type === 'noise') return [];
    return [event.type === 'turnEnded' ? `turnEnded ${event.status}` : event.type];
  });
}

describe.skipIf(!program)('the real Claude Code', () => {
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
  const begin = async (talk: Talk, text: string, id = bench.deliveryId()): Promise<string> => {
    expect(await talk.conversation.start({ id, text })).toEqual({ outcome: 'written' });
    return (await talk.event('turnStarted', (e) => e.deliveryId === id)).nativeTurnId;
  };
  const endOf = (talk: Talk, turnId: string) => talk.event('turnEnded', (e) => e.nativeTurnId === turnId);

  it('answers, with usage and cost, and says so once', async () => {
    const talk = await open('simple');
    const end = await talk.turn('[[say hello]]');
    expect(end).toMatchObject({ status: 'succeeded', answer: 'hello', tasks: [] });
    expect(end.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
    const second = await talk.turn('[[say again]]');
    expect(second.usage?.usd).toBeCloseTo(end.usage?.usd ?? 0, 8);
    expect(story(talk.events)).toEqual([
      'turnStarted',
      'turnEnded succeeded',
      'turnStarted',
      'turnEnded succeeded',
    ]);
    expect(talk.all('noise')).toEqual([]);
  });

  it('calls a tool with the bearer of its session, located in its turn', async () => {
    const talk = await open('tool');
    const located: unknown[] = [];
    bench.tools.onCall = async ({ meta }) => void located.push(await talk.conversation.locate({ meta }));
    const end = await talk.turn('[[tool slow_echo {"secs":0,"text":"a"}]] [[say done]]');
    bench.tools.onCall = undefined;
    expect(located).toEqual([{ state: 'running', nativeTurnId: end.nativeTurnId }]);
    expect(bench.tools.calls.at(-1)).toMatchObject({ text: 'a', bearer: 'bearer-tool' });
  });

  it('takes a steered text up at the return of a tool, in the same turn', async () => {
    const talk = await open('steer');
    const turnId = await begin(talk, `${slowTool} [[say heard you]]`);
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const id = bench.deliveryId();
    expect(await talk.conversation.steer({ id, text: 'STEERED' }, turnId)).toEqual({ outcome: 'written' });
    expect(await talk.event('taken')).toMatchObject({ deliveryId: id, nativeTurnId: turnId });
    expect(await endOf(talk, turnId)).toMatchObject({ status: 'succeeded', answer: 'heard you' });
    expect(await talk.conversation.evidence(id)).toEqual({ state: 'consumed', nativeTurnId: turnId });
    expect(await talk.conversation.withdraw(id)).toBe('taken');
    expect(talk.all('turnStarted')).toHaveLength(1);
  });

  it('runs a text that comes during the last words as a turn of its own, begun after the end of the first', async () => {
    const talk = await open('steerLate');
    const turnId = await begin(talk, '[[slow 2 first words]]');
    await bench.model.waitFor((e) => e.type === 'request' && e.userTexts.at(-1) === '[[slow 2 first words]]');
    const id = bench.deliveryId();
    expect(await talk.conversation.steer({ id, text: '[[say second]]' })).toEqual({ outcome: 'written' });
    const next = await talk.event('turnStarted', (e) => e.deliveryId === id);
    expect(await endOf(talk, turnId)).toMatchObject({ status: 'succeeded', answer: 'first words' });
    expect(await endOf(talk, next.nativeTurnId)).toMatchObject({ status: 'succeeded', answer: 'second' });
    expect(story(talk.events)).toEqual([
      'turnStarted',
      'turnEnded succeeded',
      'turnStarted',
      'turnEnded succeeded',
    ]);
  });

  it('gives a steered text back, and never hears it', async () => {
    const talk = await open('withdraw');
    const turnId = await begin(talk, `${slowTool} [[say done]]`);
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const id = bench.deliveryId();
    await talk.conversation.steer({ id, text: 'MARK-WITHDRAWN' });
    expect(await talk.conversation.withdraw(id)).toBe('withdrawn');
    await endOf(talk, turnId);
    expect(await talk.conversation.evidence(id)).toEqual({ state: 'absent' });
    await talk.turn('[[say next]]');
    expect(bench.model.heard('MARK-WITHDRAWN')).toBe(0);
  });

  it('is interrupted, and what was queued comes back instead of running', async () => {
    const talk = await open('interrupt');
    const turnId = await begin(talk, '[[tool slow_echo {"secs":20,"text":"z"}]] [[say done]]');
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const id = bench.deliveryId();
    await talk.conversation.steer({ id, text: 'MARK-QUEUED' });
    expect(await talk.conversation.interrupt('turn:another')).toBe('idle');
    expect(await talk.conversation.interrupt(turnId)).toBe('asked');
    expect(await endOf(talk, turnId)).toMatchObject({ status: 'interrupted' });
    expect(await talk.conversation.withdraw(id)).toBe('withdrawn');
    expect(await talk.turn('[[say on]]')).toMatchObject({ status: 'succeeded', answer: 'on' });
    expect(bench.model.heard('MARK-QUEUED')).toBe(0);
    expect(await talk.conversation.interrupt()).toBe('idle');
  });

  it('refuses a text while it works, and a steer while it does not', async () => {
    const talk = await open('refused');
    expect(await talk.conversation.steer({ id: 'x', text: 'x' })).toMatchObject({ outcome: 'refused' });
    const turnId = await begin(talk, '[[slow 1]]');
    expect(await talk.conversation.start({ id: 'y', text: 'y' })).toMatchObject({ outcome: 'refused' });
    expect(await talk.conversation.steer({ id: 'z', text: 'z' }, 'turn:0')).toMatchObject({
      outcome: 'refused',
    });
    await endOf(talk, turnId);
    expect(await talk.conversation.evidence('y')).toEqual({ state: 'absent' });
  });

  it.each([
    ['429', 'capacity'],
    ['401', 'login'],
    ['400', 'agent'],
  ] as const)('fails a turn for HTTP %s as %s, and goes on after it', async (status, kind) => {
    const talk = await open(`fail${status}`);
    const end = await talk.turn(`[[fail ${status}]]`);
    expect(end).toMatchObject({
      status: 'failed',
      error: { kind, message: expect.stringContaining(status) },
    });
    expect(await talk.turn('[[say fine]]')).toMatchObject({ status: 'succeeded', answer: 'fine' });
  });

  it('waits for capacity while the provider is asked again, and goes on', async () => {
    const talk = await open('retry');
    const turnId = await begin(talk, '[[fail 529]] [[say at last]]');
    expect(await talk.event('waiting')).toMatchObject({ waitsFor: 'capacity' });
    expect(await endOf(talk, turnId)).toMatchObject({ status: 'succeeded', answer: 'at last' });
    expect(story(talk.events)).toEqual(['turnStarted', 'waiting', 'resumed', 'turnEnded succeeded']);
  });

  it('knows when a limit ends, with an account that has such limits', async () => {
    const env = { ...bench.profile().env, ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-x' };
    const talk = await open('limit', { profile: bench.profile({ env }) });
    const end = await talk.turn('[[fail 429 resets=600]]');
    expect(end).toMatchObject({ status: 'failed', error: { kind: 'capacity' } });
    expect((end.error?.resetsAt ?? 0) - Date.now()).toBeGreaterThan(300_000);
  });

  it('a conversation that nobody ever had is said to be gone', async () => {
    const nativeId = '01a22a04-de3f-4931-995a-33608aed933e';
    const { opened } = await bench.tryOpen('gone', { nativeId, position: 5 });
    expect(opened).toMatchObject({ ok: false, code: 'SESSION_GONE' });
  });

  it('is found with its version, and nothing to warn of', async () => {
    expect(await bench.driver.probe(bench.profile())).toEqual({
      signedIn: 'yes',
      found: true,
      version: '2.1.332',
      warnings: [],
    });
    const { env: _, ...bare } = bench.profile();
    expect((await bench.driver.probe(bare)).warnings.join()).toContain('no sign-in');
    expect(existsSync(join(bench.directory, 'home', 'projects'))).toBe(true);
  });
});
