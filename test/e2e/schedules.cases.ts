import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Bench, shellAgent } from './bench.ts';
import { callTool } from './raw-requests.ts';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';
import { gate, type ScriptedAgent } from './script-words.ts';
import { waitFor } from './wait-for.ts';

/** Shells whose profiles allow something with schedules. */
export const scheduleAgents: Readonly<Record<string, ScriptedAgent>> = {
  starter: { rules: [], profile: { driver: 'script', command: shellAgent, schedules: 'trigger' } },
  keeper: { rules: [], profile: { driver: 'script', command: shellAgent, schedules: 'write' } },
};

/** What agents do with schedules, and where schedules come from. */
export function scheduleCases({ scenario }: Scenarios): void {
  describe.concurrent('schedules', () => {
    scenario('are reached by an agent only as far as its profile allows', async (s) => {
      const call = await agentOf(s, 'shell');
      for (const [tool, args] of [
        ['list_schedules', {}],
        ['trigger_schedule', { name: 'x' }],
        ['create_schedule', { name: 'x', every: '1h', messages: ['echo x'] }],
      ] as const)
        expect(await call(tool, args), tool).toMatchObject({
          isError: true,
          text: expect.stringMatching(/^FORBIDDEN: .*schedules: none/),
        });
      s.open('go');
    });

    scenario('that an agent begins are roots of their own', async (s) => {
      const name = 'by-hand';
      const said = {
        every: '99h',
        agent: 'shell',
        cwd: s.directory,
        messages: ['echo done > ran; echo well'],
      };
      await s.client.call('putSchedule', { id: `starts/${name}`, body: said });
      const call = await agentOf(s, 'starter');
      expect(await call('create_schedule', { name: 'x', every: '1h', messages: ['echo x'] })).toMatchObject({
        isError: true,
        text: expect.stringContaining('it needs write'),
      });
      expect((await call('list_schedules', { project: 'starts' })).data).toMatchObject({
        items: [{ name: `starts/${name}`, state: 'active', when: { everyMs: 356_400_000 } }],
      });
      const missing = await call('trigger_schedule', { name: 'starts/other' });
      expect(missing.text).toMatch(/^NOT_FOUND: name: there is no schedule starts\/other/);
      const { runId } = (await call('trigger_schedule', { name: `starts/${name}` })).data as {
        runId: string;
      };
      const run = await s.until('the run has ended', async () => {
        const found = await s.client.call('getRun', { id: runId }).catch(() => undefined);
        return found?.state === 'ended' && found;
      });
      expect(run).toMatchObject({ outcome: 'succeeded', schedule: `starts/${name}` });
      const root = await s.execution(run.messages[0]?.attempts[0]?.executionId ?? '');
      expect(root).toMatchObject({ parentId: null, rootId: root.id });
      s.open('go');
      await s.client.call('removeSchedule', { id: `starts/${name}` });
    });

    scenario('that an agent makes are its own, and wrong arguments name the field', async (s) => {
      const call = await agentOf(s, 'keeper');
      const good = { name: 'kept', project: 'kept', cron: '0 2 * * *', messages: ['echo kept'] };
      for (const [more, says] of [
        [{ messages: [] }, /messages: needs at least one message/],
        [{ cron: '0 2 * *' }, /cron: "0 2 \* \*" has 4 fields/],
        [{ crn: 'x' }, /crn: unknown key "crn"; did you mean "cron"\?/],
        [{ messages: ['{{env.HOME}}'] }, /messages\[0\]: \{\{env/],
        [{ agent: 'shel' }, /agent: .*did you mean "shell"\?/],
        [{ cwd: '/nowhere/at/all' }, /cwd: /],
      ] as const)
        expect(await call('create_schedule', { ...good, ...more })).toMatchObject({
          isError: true,
          text: expect.stringMatching(says),
        });
      const made = await call('create_schedule', good);
      expect(made.data).toMatchObject({ name: 'kept/kept', state: 'active', next: expect.any(String) });
      const { origin, definition } = await s.client.call('getSchedule', { id: 'kept/kept' });
      expect([origin, definition.agent, definition.cwd]).toEqual(['agent', 'keeper', s.directory]);
      s.open('go');
      await s.client.call('removeSchedule', { id: 'kept/kept' });
    });
  });
}

/** The tools as an agent calls them, while its turn goes on until the scene has the file `go`. */
async function agentOf(s: Scene, agent: string) {
  await s.send(agent, `echo "$STEMMA_TOKEN" > token; ${gate('go')}`);
  const token = await s.file('token');
  return (tool: string, args: Readonly<Record<string, unknown>>) =>
    callTool(s.client.connection.url, token, tool, args);
}

/** Schedules of the file with which a server is started. */
export function configuredCases(): void {
  test.concurrent('of the configuration are taken over at the start, and run', {
    timeout: 180_000,
  }, async () => {
    const bench = Bench.prepare({});
    const configure = (schedules: unknown): void =>
      writeFileSync(
        bench.configFile,
        JSON.stringify({
          project: 'shop',
          agents: { shell: { driver: 'script', command: shellAgent } },
          schedules,
        }),
      );
    const often = { every: '1s', agent: 'shell', cwd: 'work', messages: ['echo {{date}} >> ran'] };
    mkdirSync(join(bench.directory, 'work'));
    try {
      configure({ often: { ...often, agent: 'shel' } });
      expect(await bench.start()).toMatchObject({
        code: 5,
        stderr: expect.stringMatching(/stemma\.yaml:1:\d+: schedules\.often\.agent: no agent .*shel/),
      });
      configure({ often, seldom: { ...often, every: '99h' } });
      expect(await bench.start()).toBeUndefined();
      const all = await bench.client.call('listSchedules');
      expect(all.items.map(({ project, name, origin }) => [project, name, origin])).toEqual([
        ['shop', 'often', 'file'],
        ['shop', 'seldom', 'file'],
      ]);
      const run = await waitFor('a run of it has ended', async () => {
        const { items } = await bench.client.call('listScheduleRuns', {
          id: 'often',
          query: { state: 'ended' },
        });
        return items.at(-1);
      });
      expect(run).toMatchObject({ outcome: 'succeeded', schedule: 'shop/often', messages: [{ index: 0 }] });
      const { items } = await bench.client.call('listOccurrences', {
        id: 'often',
        query: { state: 'ran' },
      });
      expect(items.map(({ runId }) => runId)).toContain(run.id);
      // The template was filled in.
      const [day] = readFileSync(join(bench.directory, 'work', 'ran'), 'utf8').split('\n');
      expect(day).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      // A directory that is gone, as with a disk, keeps no server from its other schedules.
      await bench.kill();
      rmSync(join(bench.directory, 'work'), { recursive: true });
      expect(await bench.start()).toBeUndefined();
      const skipped = await waitFor('one is skipped', async () => {
        const query = { state: 'skipped' } as const;
        const found = await bench.client.call('listOccurrences', { id: 'often', query });
        return found.items.find(({ reason }) => reason?.startsWith('dispatch: '));
      });
      expect(skipped.reason).toContain('does not exist');
    } finally {
      await bench.close();
    }
  });

  test.concurrent('of the example run, each after what it waits for', { timeout: 180_000 }, async () => {
    const bench = Bench.prepare({});
    copyFileSync(join(import.meta.dirname, '../../examples/schedules.yaml'), bench.configFile);
    try {
      expect(await bench.start()).toBeUndefined();
      await bench.client.call('triggerSchedule', { id: 'nightly', body: {} });
      await bench.client.call('triggerSchedule', { id: 'disk', body: {} });
      for (const id of ['disk', 'nightly', 'report']) {
        const run = await waitFor(`a run of ${id} has ended`, async () => {
          const query = { state: 'ended' } as const;
          return (await bench.client.call('listScheduleRuns', { id, query })).items[0];
        });
        expect(run, id).toMatchObject({ outcome: 'succeeded', schedule: `shop/${id}` });
      }
    } finally {
      await bench.close();
    }
  });
}
