import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentBench, type Talk } from './agent-bench.ts';
import { claudeKit } from './claude-kit.ts';
import { findProgram } from './kit.ts';

const program = findProgram(claudeKit.name);

describe.skipIf(!program)('what the real Claude Code runs in the background, and what it asks', () => {
  let bench: AgentBench;
  const talks: Talk[] = [];
  beforeAll(async () => {
    bench = await AgentBench.start(claudeKit, program ?? '');
  });
  afterEach(async () => {
    bench.tools.onCall = undefined;
    for (const talk of talks.splice(0)) await talk.conversation.end();
  });
  afterAll(() => bench.stop());

  const open = async (name: string, more: Parameters<AgentBench['open']>[1] = {}): Promise<Talk> => {
    const talk = await bench.open(name, more);
    talks.push(talk);
    return talk;
  };
  const endOf = (talk: Talk, turnId: string): ReturnType<Talk['turn']> =>
    talk.event('turnEnded', (e) => e.nativeTurnId === turnId);
  const wakeFor = async (talk: Talk, taskId: string): Promise<string> =>
    (await talk.event('turnStarted', (e) => e.taskId === taskId)).nativeTurnId;

  it('two commands that end together make it go on for each', async () => {
    const talk = await open('two');
    const end = await talk.turn('[[background sleep 1]] [[background sleep 1; exit 3]] [[say left]]');
    const [one, two] = end.tasks.map(({ taskId }) => taskId);
    for (const id of [one, two]) await endOf(talk, await wakeFor(talk, id ?? ''));
    expect(talk.all('taskEnded').map(({ taskId, status }) => [taskId, status])).toEqual([
      [one, 'succeeded'],
      [two, 'failed'],
    ]);
    expect(talk.all('noise')).toEqual([]);
  });

  it.each(['full', 'readOnly'] as const)('never wakes by a clock of its own (%s)', async (sandbox) => {
    const talk = await open(`clock-${sandbox}`, { profile: bench.profile({ sandbox }) });
    const later = '{"cron":"* * * * *","prompt":"later","recurring":false}';
    const soon = '{"delaySeconds":60,"reason":"r","prompt":"later"}';
    await talk.turn(`[[tool CronCreate ${later}]] [[tool ScheduleWakeup ${soon}]] [[say done]]`);
    // A tool that is not offered cannot be called.
    expect(talk.all('item').filter(({ item }) => item.kind === 'toolCall')).toEqual([]);
    const output = readFileSync(join(talk.request.directory, 'out.log'), 'utf8');
    expect(/"subtype":"init".*?"tools":\[(.*?)\]/.exec(output)?.[1]).not.toMatch(/Cron|Wakeup/);
  });

  it('one that ends while a tool runs is told within that turn, and makes nothing go on', async () => {
    const talk = await open('within');
    const end = await talk.turn('[[background sleep 1.5]] [[say left]]');
    const taskId = end.tasks[0]?.taskId ?? '';
    const next = await talk.turn('[[shell sleep 3]] [[say done]]');
    expect(talk.all('taskTold')).toMatchObject([{ taskId, nativeTurnId: next.nativeTurnId }]);
    expect(talk.all('turnStarted').filter((e) => e.taskId !== undefined)).toEqual([]);
  });

  it('one that is stopped ends as cancelled, and makes nothing go on', async () => {
    const talk = await open('stopped');
    await talk.turn('[[background sleep 60]] [[say left]]');
    await talk.conversation.stopTasks?.();
    expect(await talk.event('taskEnded')).toMatchObject({ status: 'cancelled', wakes: false });
    expect((await talk.turn('[[say next]]')).tasks).toEqual([]);
    expect(talk.all('turnStarted').filter((e) => e.taskId !== undefined)).toEqual([]);
  });

  it('an interruption leaves it alone', async () => {
    const talk = await open('spared');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: '[[background sleep 3]] [[shell sleep 30]]' });
    await talk.event('item', (e) => e.item.kind === 'toolCall' && e.item.text.includes('sleep 30'));
    await talk.conversation.interrupt();
    const end = await talk.event('turnEnded');
    expect(end).toMatchObject({ status: 'interrupted', tasks: [{ name: 'scripted' }] });
    await endOf(talk, await wakeFor(talk, end.tasks[0]?.taskId ?? ''));
  });

  it('a sub-agent holds back no end; its calls are then of no turn; its end makes it go on', async () => {
    const talk = await open('subAgent');
    const located: unknown[] = [];
    bench.tools.onCall = async ({ meta }) => void located.push(await talk.conversation.locate({ meta }));
    const prompt = '[[shell sleep 2]] [[tool slow_echo {"secs":0,"text":"sub"}]] [[say child]]';
    const args = { description: 'helper', prompt, subagent_type: 'general-purpose', run_in_background: true };
    const end = await talk.turn(`[[tool Agent ${JSON.stringify(args)}]] [[say parent]]`);
    expect(end).toMatchObject({ answer: 'parent', tasks: [{ name: 'helper' }] });
    expect(talk.all('taskEnded')).toEqual([]);
    const wake = await wakeFor(talk, end.tasks[0]?.taskId ?? '');
    expect(await endOf(talk, wake)).toMatchObject({ status: 'succeeded', tasks: [] });
    expect(located).toEqual([{ state: 'unknown' }]);
  });

  it('what nobody may say yes to is refused at once, and the turn goes on', async () => {
    const talk = await open('deny', { profile: bench.profile({ sandbox: 'workspace' }) });
    const outside = join(bench.directory, 'denied.txt');
    const end = await talk.turn(`[[escalate touch ${outside}]] [[say went on]]`);
    expect(end).toMatchObject({ status: 'succeeded', answer: 'went on' });
    expect(existsSync(outside)).toBe(false);
    expect(talk.all('waiting')).toEqual([]);
    const tool = await talk.turn('[[tool slow_echo {"secs":0,"text":"ours"}]] [[say called]]');
    expect(tool.answer).toBe('called');
    expect(bench.tools.calls.at(-1)?.text).toBe('ours');
  });

  it('what everybody says yes to runs, except where only reading is allowed', async () => {
    const { sandbox: _, ...bare } = bench.profile({ onQuestion: 'allow' });
    const free = await open('allow', { profile: bare });
    await free.turn('[[escalate touch allowed.txt]] [[say done]]');
    expect(existsSync(join(bench.cwd, 'allowed.txt'))).toBe(true);
    const reading = await open('readOnly', { profile: { ...bare, sandbox: 'readOnly' } });
    await reading.turn('[[escalate touch written.txt]] [[say done]]');
    expect(existsSync(join(bench.cwd, 'written.txt'))).toBe(false);
    expect(bench.model.requests.at(-1)?.tools.map(({ name }) => name)).not.toContain('Write');
  });
});
