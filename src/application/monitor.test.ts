import { expect, test } from 'vitest';
import type { ExecutionId } from '../base/ids.ts';
import { Ids } from '../base/ids.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { launch } from '../ledger/launch.ts';
import { settle } from '../ledger/settle.ts';
import { MemoryStore } from '../store/memory/store.ts';
import { createActivity } from './activity.ts';
import { createMonitor } from './monitor.ts';

test('what holds a root is said, however much of its tree is closed', async () => {
  const clock = new VirtualClock(1_000);
  const ids = new Ids(() => clock.now(), Math.random);
  const store = new MemoryStore({ clock });
  const activity = createActivity(store, clock);
  const register = async (name: string, parent?: ExecutionId): Promise<ExecutionId> => {
    const id = ids.make('execution');
    const caller =
      parent === undefined ? { by: 'person' as const } : { by: 'execution' as const, executionId: parent };
    const done = await store.decide(() => launch({ now: clock.now(), id, caller, kind: 'outside', name }));
    expect(done.ok).toBe(true);
    return id;
  };
  const root = await register('rows');
  // More than the monitor looks at.
  for (let i = 0; i < 501; i++) {
    const id = await register(`row ${i}`, root);
    const noticeId = ids.make('notice');
    const ending = { state: 'succeeded', result: null } as const;
    await store.decide(() => settle({ now: clock.now(), id, noticeId, ending }));
  }
  const last = await register('last', root);
  const { items } = await createMonitor({ views: store.views, store, clock, limits: undefined, activity })(
    {},
  );
  activity.stop();
  expect(items.map((item) => [item.id, item.open.executions])).toEqual([[root, 1]]);
  // Three events of each that ended, and one of each that did not: all within the present minute.
  expect(items[0]?.activity?.at(-1)).toBeGreaterThan(501);
  expect(items[0]?.holding.map(({ executionId }) => executionId)).toContain(last);
});
