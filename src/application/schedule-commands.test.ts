import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { Stage } from '../../test/schedules/stage.ts';
import { idAs } from '../base/ids.ts';
import type { ScheduleInput } from '../contract/schedule-input.ts';
import { createScheduleCommands } from './schedule-commands.ts';
import type { SchedulingContext } from './scheduling-context.ts';

it('of agents are so many at most, however often one asks; what is there is changed, and people make more', async () => {
  const stage = new Stage();
  const { store, clock } = stage;
  const profile = { name: 'demo', driver: 'demo', command: [] };
  const commands = createScheduleCommands({
    store,
    views: store.views,
    clock,
    ids: stage.world.ids,
    agents: { list: () => [{ profile }], find: () => undefined },
    targets: () => [],
  } as unknown as SchedulingContext);
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
