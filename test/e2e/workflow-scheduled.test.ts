import { afterAll, beforeAll, describe, expect } from 'vitest';
import { Bench } from './bench.ts';
import { linesOf, outcomeOf, workflow } from './made-workflows.ts';
import { scenarios } from './scenario.ts';
import { on, say, type ScriptedAgent } from './script-words.ts';

/* Who begins workflows beside people: schedules, those of agents too; and what is refused before anything begins. */

/** Makes a schedule of the workflow that it is told of. */
const planner: ScriptedAgent = {
  rules: [
    on(
      '^Plan (\\S+)',
      {
        call: 'create_schedule',
        with: { name: 'by-agent-{{1}}', cron: '0 0 1 1 *', workflow: '{{1}}' },
      },
      say('Planned.'),
    ),
  ],
  profile: { schedules: 'write' },
};

let bench: Bench;

beforeAll(async () => {
  bench = await Bench.open({ planner });
}, 180_000);

afterAll(() => bench.close(), 180_000);

describe.concurrent('a workflow', () => {
  const { scenario } = scenarios(() => bench);

  scenario('of a schedule is scored behind it, in the same run', async (s) => {
    const score = workflow(
      s,
      { judge: { run: ['sh', '-c', 'echo "$0" >> scored', '{{of.outcome}}'] } },
      { of: 'run' },
    );
    const name = workflow(s, { work: { run: 'echo worked >> worked' } }, { evaluation: score });
    await s.client.call('putSchedule', {
      id: `of-${name}`,
      body: { cwd: s.directory, cron: '0 0 1 1 *', workflow: { name } } as never,
    });
    const { runId } = await s.client.call('triggerSchedule', { id: `of-${name}`, body: {} });
    const run = await s.ended(runId);
    expect(run).toMatchObject({ outcome: 'succeeded', schedule: expect.stringContaining(name) });
    expect(run.messages.map(({ text }) => text)).toEqual([`workflow ${name}`, `evaluation ${score}`]);
    expect([linesOf(s, 'worked'), linesOf(s, 'scored')]).toEqual([['worked'], ['succeeded']]);
  });

  scenario(
    'is not begun within a budget that a step of it cannot keep, and that step is named',
    async (s) => {
      const step = { type: 'agent', agent: 'shell', prompt: 'echo never' };
      const name = workflow(s, { first: { run: 'echo never > ran' }, costly: step });
      const refused = await outcomeOf(s, name, { budget: { usd: 1 } }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ message: expect.stringMatching(/^Step costly: .*shell/) });
    },
  );

  scenario('may be what a schedule runs that an agent has made', async (s) => {
    const name = workflow(s, { work: { run: 'echo planned >> planned' } });
    const { queryId } = await s.send('planner', `Plan ${name}`);
    await s.closed(queryId);
    const shown = await s.client.call('getSchedule', { id: `by-agent-${name}` });
    expect(shown).toMatchObject({ origin: 'agent', definition: { workflow: { name } } });
    const { runId } = await s.client.call('triggerSchedule', { id: `by-agent-${name}`, body: {} });
    expect((await s.ended(runId)).outcome).toBe('succeeded');
    expect(linesOf(s, 'planned')).toEqual(['planned']);
  });
});
