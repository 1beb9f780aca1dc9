import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/contract/run.ts';
import type { Occurrence, Schedule } from '../../src/contract/schedule.ts';
import { Bench } from './bench.ts';
import { isAlive } from './living-processes.ts';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';
import { type ScriptedAgent, on, until } from './script-words.ts';
import { waitFor } from './wait-for.ts';
import { worker } from './worker.ts';

/** An agent whose work lasts until the directory has a file. */
export const occurrenceAgents: Readonly<Record<string, ScriptedAgent>> = {
  patient: { rules: [on('^Wait', until('go'))] },
};

/** What a schedule says in JSON; without `every` or `at` it is due far from now. */
type Said = Readonly<Record<string, unknown>>;
const never = { cron: '0 0 1 1 *' };
let names = 0;

/** Schedules over the death of their server, and of the file with which it was started. */
export function scheduledServerCases(): void {
  deathCase();
  fileCase();
}

/** Schedules on a server with agents. */
export function occurrenceCases(words: Scenarios): void {
  const { scenario } = words;
  deafCases(words);
  describe.concurrent('schedules', () => {
    scenario('a run that is triggered while its schedule is paused ends as any other', async (s) => {
      const name = await put(s, { ...never, messages: ['First.', 'Then {{previous.result}}'] });
      await s.client.call('pauseSchedule', { id: name, body: { reason: 'holidays' } });
      const { runId } = await s.client.call('triggerSchedule', { id: name, body: {} });
      await occurrenceThat(s, name, (row) => row.state === 'ran');
      const run = await s.ended(runId);
      expect(run).toMatchObject({ outcome: 'succeeded', schedule: expect.stringContaining(name) });
      expect((await s.prompts(run.sessionId ?? '')).at(-1)).toBe('Then Noted.');
      const shown = await s.client.call('getSchedule', { id: name });
      expect(shown).toMatchObject({ state: 'paused', lastRun: { runId, outcome: 'succeeded' } });
      const { items } = await s.client.call('listScheduleRuns', { id: name });
      expect(items.map(({ id }) => id)).toEqual([runId]);
    });

    scenario('57: what waits is skipped by a stop, and what is at work ends', async (s) => {
      const name = await put(s, { ...never, agent: 'patient', messages: ['Wait.'], overlap: 'queueOne' });
      const { runId } = await s.client.call('triggerSchedule', { id: name, body: {} });
      await s.message(runId, 0);
      const second = await s.client.call('triggerSchedule', { id: name, body: {} });
      expect(second).toMatchObject({ state: 'waiting', reason: expect.stringMatching(/^overlap: /) });
      const stopped = await s.client.call('stopSchedule', { id: name, body: {} });
      expect(stopped).toEqual({ runs: [runId], skipped: [second.instant] });
      expect(await s.ended(runId)).toMatchObject({ outcome: 'cancelled' });
    });

    scenario('a second run that the policy refuses is told, and nothing is written', async (s) => {
      const name = await put(s, { ...never, agent: 'patient', messages: ['Wait.'] });
      const { runId } = await s.client.call('triggerSchedule', { id: name, body: {} });
      await s.message(runId, 0);
      const refused = await s.client.call('triggerSchedule', { id: name, body: {} }).catch((e: unknown) => e);
      expect(refused).toMatchObject({ code: 'OVERLAP', data: { runId } });
      expect((await s.client.call('listOccurrences', { id: name })).items).toHaveLength(1);
      s.open('go');
      expect(await s.ended(runId)).toMatchObject({ outcome: 'succeeded' });
    });

    scenario('56: a precondition that says no costs no run; what runs after it says so too', async (s) => {
      const said = { onlyIf: 'echo nothing new; exit 3', messages: ['Never.'] };
      const name = await put(s, { ...never, ...said });
      const after = await put(s, { after: { schedule: name }, messages: ['Never.'] });
      await put(s, { at: soon(), ...said }, name);
      const row = await occurrenceThat(s, name, ({ state }) => state === 'skipped');
      expect(row.reason).toBe('precondition: exit code 3: nothing new');
      const kept = join(s.bench.dataDir, 'commands', row.id);
      await waitFor('what it printed to be gone', () => !existsSync(kept), { withinMs: 20_000 });
      const behind = await occurrenceThat(s, after, ({ state }) => state === 'skipped');
      expect(behind).toMatchObject({ instant: row.instant, trigger: 'after' });
      expect((await s.client.call('getSchedule', { id: name })).lastRun).toBeUndefined();
    });

    scenario('a schedule runs after another one, for the same instant', async (s) => {
      const name = await put(s, { ...never, messages: ['Import.'] });
      const after = await put(s, { after: { schedule: name }, messages: ['Report.'] });
      const beyond = { id: name, query: { cursor: '9999999999999999' } };
      await expect(s.client.call('listOccurrences', beyond)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await put(s, { at: soon(), messages: ['Import.'] }, name);
      const report = await occurrenceThat(s, after, ({ state }) => state === 'ran');
      const imported = await occurrenceThat(s, name, ({ state }) => state === 'ran');
      expect(report.instant).toBe(imported.instant);
      expect(await s.ended(report.runId ?? '')).toMatchObject({ outcome: 'succeeded' });
    });

    scenario('what makes no sense is refused with the key that is wrong', async (s) => {
      const issuesOf = async (said: Said): Promise<unknown> => {
        const refused = await put(s, said).catch(
          (thrown: { data: { issues: unknown } }) => thrown.data.issues,
        );
        return refused;
      };
      const messages = ['x'];
      expect(await issuesOf({ ...never, agent: 'worke', messages })).toMatchObject([
        { path: 'agent', nearest: 'worker' },
      ]);
      expect(await issuesOf({ at: '2020-01-01T00:00:00Z', messages })).toMatchObject([{ path: 'at' }]);
      expect(await issuesOf({ ...never, cwd: '/nowhere/at/all', messages })).toMatchObject([{ path: 'cwd' }]);
      expect(await issuesOf({ after: { schedule: 'gone' }, messages })).toMatchObject([
        { path: 'after.schedule' },
      ]);
    });
  });
}

/** An agent that does not stop when it is asked to loses its process, and its run ends all the same. */
function deafCases({ alone }: Scenarios): void {
  const hang = { ...never, messages: ['Hang on.', 'Never.'] };
  describe.concurrent('an agent that does not stop when it is asked to', () => {
    alone('is ended by the stop of its schedule', async (s) => {
      const name = await put(s, hang);
      const run = await hanging(s, name);
      const [agent = 0] = s.processes();
      const stopped = await s.client.call('stopSchedule', { id: name, body: { reason: 'enough' } });
      expect(stopped).toEqual({ runs: [run.id], skipped: [] });
      expect(await s.ended(run.id)).toMatchObject({ outcome: 'cancelled', messages: [{}, { attempts: [] }] });
      expect(isAlive(agent)).toBe(false);
      expect(await s.prompts(run.sessionId ?? '')).toEqual(['Hang on.']);
    });

    alone('is ended for the next run, which begins behind it', async (s) => {
      const name = await put(s, { ...hang, overlap: 'cancelOther' });
      const first = await hanging(s, name);
      const [agent = 0] = s.processes();
      await put(s, { ...never, messages: ['Go on.'], overlap: 'cancelOther' }, name);
      const second = await s.client.call('triggerSchedule', { id: name, body: {} });
      expect(await s.ended(first.id)).toMatchObject({ outcome: 'cancelled' });
      await occurrenceThat(s, name, ({ runId, state }) => runId === second.runId && state === 'ran');
      expect(isAlive(agent)).toBe(false);
      const next = await s.ended(second.runId);
      expect(next).toMatchObject({ outcome: 'succeeded' });
      expect(Date.parse(next.createdAt ?? '')).toBeGreaterThanOrEqual(
        Date.parse((await s.ended(first.id)).endedAt ?? ''),
      );
      expect(await s.prompts(first.sessionId ?? '')).toEqual(['Hang on.']);
    });
  });
}

/** A run of the schedule whose agent has its text. */
async function hanging(s: Scene, name: string): Promise<Run> {
  const { runId } = await s.client.call('triggerSchedule', { id: name, body: {} });
  const run = await s.client.call('getRun', { id: runId });
  await s.until('the prompt is with the agent', async () => {
    return (await s.prompts(run.sessionId ?? '')).length === 1;
  });
  return run;
}

/** 49: a server dies before an instant; the next one starts behind it. */
function deathCase(): void {
  test.concurrent('49: an instant that came while no server ran has one row and one run', {
    timeout: 180_000,
  }, async () => {
    const bench = await Bench.open({ worker });
    try {
      const scene = bench.scene();
      const at = new Date(Date.now() + 2_000).toISOString();
      const name = await put(scene, { at, messages: ['Do it once.'] });
      await bench.kill();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(at) + 200 - Date.now())));
      await bench.start();
      const row = await occurrenceThat(scene, name, ({ state }) => state === 'ran');
      expect(row.instant).toBe(at);
      expect(await scene.ended(row.runId ?? '')).toMatchObject({ outcome: 'succeeded' });
      await bench.kill();
      await bench.start();
      const { items } = await bench.client.call('listOccurrences', { id: name });
      expect(items).toMatchObject([{ state: 'ran', runId: row.runId }]);
    } finally {
      await bench.close();
    }
  });
}

/** The schedules of a file are those of the server that was started with it. */
function fileCase(): void {
  test.concurrent('a server has the schedules of its file, and touches no others', {
    timeout: 180_000,
  }, async () => {
    const bench = Bench.prepare({ worker });
    const write = (schedules: Said): void => {
      const config = JSON.parse(readFileSync(bench.configFile, 'utf8')) as Said;
      writeFileSync(bench.configFile, JSON.stringify({ ...config, project: 'shop', schedules }));
    };
    const nightly = { cron: '0 2 * * *', timezone: 'Europe/Berlin', agent: 'worker', messages: ['Go.'] };
    try {
      write({ nightly, weekly: { ...nightly, cron: '@weekly' } });
      await bench.start();
      const listed = async (): Promise<Schedule[]> => (await bench.client.call('listSchedules', {})).items;
      expect((await listed()).map(({ name, origin }) => [name, origin])).toEqual([
        ['nightly', 'file'],
        ['weekly', 'file'],
      ]);
      await put(bench.scene(), { ...never, messages: ['By hand.'] }, 'shop/mine');
      await bench.kill();
      write({ nightly: { ...nightly, cron: '0 3 * * *' } });
      await bench.start();
      expect((await listed()).map(({ name, revision }) => [name, revision])).toEqual([
        ['mine', 1],
        ['nightly', 2],
      ]);
      await bench.kill();
      // What another has made is not taken over.
      write({ mine: nightly });
      expect((await bench.start())?.stderr).toContain('shop/mine');
    } finally {
      await bench.close();
    }
  });
}

/** A moment from now, in whole seconds: far enough for a busy machine to hear of it before. */
function soon(): string {
  return new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_000).toISOString();
}

/** Makes a schedule that works in the scene's directory; answers its name. */
async function put(scene: Scene, said: Said, name = `e2e-${++names}`): Promise<string> {
  const body = { agent: 'worker', cwd: scene.directory, ...said } as never;
  await scene.client.call('putSchedule', { id: name, body });
  return name;
}

/** The newest occurrence of a schedule once it is as expected. */
function occurrenceThat(scene: Scene, name: string, fits: (row: Occurrence) => boolean): Promise<Occurrence> {
  const read = async (): Promise<Occurrence[]> =>
    (await scene.client.call('listOccurrences', { id: name })).items;
  return scene.until(`an occurrence of ${name} as expected`, async () => (await read()).find(fits), read);
}
