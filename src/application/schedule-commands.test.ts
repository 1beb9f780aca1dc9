import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { Stage } from '../../test/schedules/stage.ts';
import type { ScheduleCommands } from '../api/ports.ts';
import { idAs } from '../base/ids.ts';
import type { ScheduleInput } from '../contract/schedule-input.ts';
import { createScheduleCommands } from './schedule-commands.ts';
import type { SchedulingContext } from './scheduling-context.ts';

function commandsOf(stage: Stage): ScheduleCommands {
  const { store, clock } = stage;
  const profile = { name: 'demo', driver: 'demo', command: [] };
  return createScheduleCommands({
    store,
    views: store.views,
    clock,
    ids: stage.world.ids,
    agents: { list: () => [{ profile }], find: () => undefined },
    targets: () => [],
  } as unknown as SchedulingContext);
}

it('of agents are so many at most, however often one asks; what is there is changed, and people make more', async () => {
  const stage = new Stage();
  const commands = commandsOf(stage);
  const sessionId = idAs('session', stage.world.ids.make('run'));
  const agent = { caller: { kind: 'session', sessionId } } as const;
  const person = { caller: { kind: 'api', scope: 'admin', name: 'local' } } as const;
  const said = { every: 60_000, agent: 'demo', cwd: tmpdir(), messages: [{ text: 'x' }] } as unknown;
  const put = (name: string, call: typeof agent | typeof person) =>
    commands.put({ project: 'shop', name }, said as ScheduleInput, call);
  for (let count = 0; count < 200; count++) expect((await put(`n${count}`, agent)).ok).toBe(true);
  expect(await put('more', agent)).toMatchObject({
    code: 'ILLEGAL_STATE',
    message: expect.stringContaining('ask a person to remove some'),
  });
  expect((await put('n7', agent)).ok).toBe(true);
  expect((await put('more', person)).ok).toBe(true);
});

it('are previewed with what would be different and their next instants; what put refuses is refused', async () => {
  const stage = new Stage();
  const commands = commandsOf(stage);
  const person = { caller: { kind: 'api', scope: 'admin', name: 'local' } } as const;
  const ref = { project: 'shop', name: 'often' };
  const said = {
    every: 60_000,
    agent: 'demo',
    cwd: tmpdir(),
    messages: [{ text: 'x' }],
  } as unknown as ScheduleInput;
  const made = await commands.preview(ref, said, person);
  expect(made).toMatchObject({ ok: true, value: { changed: [], definition: { every: 60_000 } } });
  await commands.put(ref, said, person);
  const hourly = await commands.preview(ref, { ...said, every: 3_600_000 }, person);
  expect(hourly).toMatchObject({
    ok: true,
    value: { changed: ['every'], before: { every: 60_000 }, when: 'Every hour' },
  });
  const instants = hourly.ok ? hourly.value.next.map(({ instant }) => Date.parse(instant)) : [];
  expect(instants).toHaveLength(5);
  for (const at of instants) expect(at % 3_600_000).toBe(0);
  const unknown = await commands.preview(ref, { ...said, agent: 'nobody' }, person);
  expect(unknown).toMatchObject({ ok: false, code: 'INVALID_INPUT' });
});
