import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Execution } from '../../ledger/execution.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import { deciding, execution, id, opening, registering, settling, start } from './rows.ts';

describe.each(adapters)('closing on $name', ({ open }) => {
  let opened: Opened;
  let clock: VirtualClock;
  const apply = async (...effects: Effect[]): Promise<void> => {
    await opened.store.decide(deciding(effects));
  };
  const row = async (n: number): Promise<Execution | undefined> =>
    (await opened.dump()).executions.find((each) => each.id === id.execution(n));
  beforeEach(async () => {
    clock = new VirtualClock(start);
    opened = await open(clock);
  });
  afterEach(() => opened.end());

  it('closes a settled leaf, then its settled parent, upward to the root', async () => {
    const root = execution(1);
    const middle = execution(2, root);
    await apply(...registering(root), ...registering(middle), ...registering(execution(3, middle)));
    await apply(settling(1), settling(2));
    expect(await row(1)).toMatchObject({ state: 'succeeded', closed: false, open: 1, outcome: null });
    clock.advance(5);
    await apply(settling(3, { at: start + 5, result: 'done', usage: { usd: 1 } }));
    const closed = { closed: true, open: 0, closedAt: start + 5 };
    expect(await row(3)).toMatchObject({ ...closed, endedAt: start + 5, result: 'done', usage: { usd: 1 } });
    expect(await row(2)).toMatchObject({ ...closed, outcome: null });
    expect(await row(1)).toMatchObject({ ...closed, outcome: 'succeeded', outcomeCode: null });
  });

  it('tells of closings after what the decision itself tells, each before its parent', async () => {
    const root = execution(1);
    await apply(...registering(root), ...registering(execution(2, root)), settling(1));
    const told: Effect = {
      do: 'event',
      event: { type: 'execution.settled', at: start, rootId: root.id, sessionId: null, data: {} },
    };
    await apply(settling(2), told);
    const { events } = await opened.dump();
    expect(events.map(({ type, data }) => [type, data['executionId'], data['outcome']])).toEqual([
      ['execution.settled', undefined, undefined],
      ['execution.closed', id.execution(2), undefined],
      ['execution.closed', id.execution(1), 'succeeded'],
    ]);
  });

  it.each([
    ['its own failure', { state: 'failed', error: { code: 'X', message: 'y' } }, {}, 'failed', 'X'],
    ['a failure without a code', { state: 'failed' }, {}, 'failed', 'AGENT_FAILED'],
    ['loss', { state: 'lost' }, {}, 'failed', 'LOST'],
    ['cancellation', { state: 'cancelled' }, {}, 'cancelled', 'CANCELLED'],
    ['a verdict over its own success', {}, { verdict: 'TIMED_OUT' }, 'failed', 'TIMED_OUT'],
    ['a latch over its own success', {}, { verdict: 'CANCELLED' }, 'cancelled', 'CANCELLED'],
    ['failures below it', {}, { join: 'all', failures: 1 }, 'failed', 'DESCENDANT_FAILED'],
    ['failures that it does not join', {}, { join: 'own', failures: 1 }, 'succeeded', null],
  ] as const)('fixes the outcome of a root by %s', async (_, end, set, outcome, outcomeCode) => {
    await apply(...registering(execution(1, null, set)), settling(1, end));
    expect(await row(1)).toMatchObject({ closed: true, outcome, outcomeCode });
    expect((await opened.dump()).events.at(-1)?.data).toEqual({
      executionId: id.execution(1),
      outcome,
      ...(outcomeCode === null ? {} : { outcomeCode }),
    });
  });

  it('settles and counts in one step: a notice owed in the same decision keeps it open', async () => {
    await apply(...registering(execution(1)), settling(1, { openBy: 1 }));
    expect(await row(1)).toMatchObject({ state: 'succeeded', closed: false, open: 1 });
    await apply(opening(id.execution(1), -1));
    expect(await row(1)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('a settlement clears what was waited for', async () => {
    const waiting = { for: 'capacity', since: start } as const;
    await apply(...registering(execution(1, null, { waiting })), settling(1));
    expect(await row(1)).toMatchObject({ waiting: null, closed: true });
  });

  it('a held execution keeps its holder open, and closes it when it closes', async () => {
    const [a, b] = [execution(1), execution(2)];
    await apply(...registering(a), ...registering(b), ...registering(execution(3, a), [b.id]));
    await apply(settling(1), settling(2));
    expect([(await row(1))?.closed, (await row(2))?.closed]).toEqual([false, false]);
    await apply(settling(3));
    expect([(await row(1))?.closed, (await row(2))?.closed]).toEqual([true, true]);
  });

  it('a detached execution closes without taking anything from its parent or its holders', async () => {
    const [a, b] = [execution(1), execution(2)];
    await apply(...registering(a), ...registering(b), ...registering(execution(3, a), [b.id]));
    await apply(
      { do: 'patchExecution', id: id.execution(3), set: { detachedAt: start } },
      opening(a.id, -1),
      opening(b.id, -1),
    );
    await apply(settling(1), settling(2));
    expect([(await row(1))?.closed, (await row(2))?.closed, (await row(3))?.closed]).toEqual([
      true,
      true,
      false,
    ]);
    await apply(settling(3));
    expect(await row(3)).toMatchObject({ closed: true });
  });

  it('closing owes the wake-up that was asked for at registration', async () => {
    await apply(...registering(execution(1, null, { wakeOnClose: 'run:run_x:y' })));
    await apply(settling(1));
    expect((await opened.dump()).wakeups).toEqual([{ kind: 'run', target: 'run_x:y', at: 0, revision: 1 }]);
  });

  it('others may ask to be woken by a closing that is still to come', async () => {
    await apply(...registering(execution(1, null, { wakeOnClose: 'run:run_x' })));
    const wakeOnClose = 'run:run_x graph:exe_a graph:exe_b';
    await apply({ do: 'patchExecution', id: id.execution(1), set: { wakeOnClose } });
    await apply(settling(1));
    expect((await opened.dump()).wakeups).toMatchObject([
      { kind: 'graph', target: 'exe_a' },
      { kind: 'graph', target: 'exe_b' },
      { kind: 'run', target: 'run_x' },
    ]);
  });

  it('a deficit that falls to the drain level wakes the program, by a delta or by a child that closes', async () => {
    const root = execution(1, null, { drain: 1 });
    await apply(...registering(root), ...registering(execution(2, root)), ...registering(execution(3, root)));
    expect((await opened.dump()).wakeups).toEqual([]);
    await apply(settling(2));
    expect((await opened.dump()).wakeups).toEqual([{ kind: 'drained', target: root.id, at: 0, revision: 1 }]);
    await apply(opening(root.id, 1));
    await apply(opening(root.id, -1));
    expect((await opened.dump()).wakeups).toMatchObject([{ kind: 'drained', target: root.id, revision: 2 }]);
  });

  it('a settlement that lowers the deficit to the drain level wakes the program too', async () => {
    await apply(...registering(execution(1, null, { drain: 1, open: 2 })));
    await apply(settling(1, { openBy: -1 }));
    expect((await opened.dump()).wakeups).toMatchObject([{ kind: 'drained', target: id.execution(1) }]);
  });

  it('every fall at or below the drain level wakes the program', async () => {
    await apply(...registering(execution(1, null, { drain: 2, open: 4 })));
    await apply(opening(id.execution(1), -1));
    expect((await opened.dump()).wakeups).toEqual([]);
    await apply(opening(id.execution(1), -2));
    await apply(opening(id.execution(1), -1));
    expect((await opened.dump()).wakeups).toMatchObject([{ kind: 'drained', revision: 2 }]);
  });

  it('a deficit that grows to the drain level, or closes the row, wakes nobody', async () => {
    await apply(...registering(execution(1, null, { drain: 1, open: 0 })));
    await apply(opening(id.execution(1), 1), opening(id.execution(1), 2));
    await apply(...registering(execution(2, null, { drain: 0, open: 1 })), settling(2));
    await apply(opening(id.execution(2), -1));
    expect(await row(2)).toMatchObject({ closed: true });
    expect((await opened.dump()).wakeups).toEqual([]);
  });

  it('closes a chain of 1,200 in one decision, without a stack', async () => {
    const depth = 1200;
    const effects: Effect[] = [];
    let parent = execution(1);
    effects.push(...registering(parent));
    for (let n = 2; n <= depth; n++) {
      const child = execution(n, parent);
      effects.push(...registering(child));
      parent = child;
    }
    await apply(...effects);
    await apply(...Array.from({ length: depth - 1 }, (_, i) => settling(i + 1)));
    await apply(settling(depth));
    const dump = await opened.dump();
    expect(dump.executions.filter((each) => each.closed)).toHaveLength(depth);
    expect(dump.events).toHaveLength(depth);
    expect(dump.events.at(-1)?.data['executionId']).toBe(id.execution(1));
  });
});
