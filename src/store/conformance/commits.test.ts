import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Rule } from '../../ledger/decision.ts';
import { refuse } from '../../ledger/decision.ts';
import type { Effect } from '../../ledger/effects.ts';
import { ask } from '../../ledger/questions.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import { deciding, execution, id, opening, registering, session, settling, start } from './rows.ts';

describe.each(adapters)('commits on $name', ({ open }) => {
  let opened: Opened;
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
  });
  afterEach(() => opened.end());

  it('answers what the rule decided, after the commit', async () => {
    expect(await opened.store.decide(deciding(registering(execution(1)), 'yes'))).toEqual({
      ok: true,
      value: 'yes',
    });
    expect((await opened.dump()).executions).toHaveLength(1);
  });

  it('answers a refusal, and changes nothing', async () => {
    // biome-ignore lint/correctness/useYield: it asks nothing.
    const refused = await opened.store.decide(function* (): Rule<never> {
      return refuse('PARENT_CLOSED', 'no', { parentId: 'x' });
    });
    expect(refused).toMatchObject({ ok: false, code: 'PARENT_CLOSED', data: { parentId: 'x' } });
  });

  it('lets a rule see what decisions before it in the same turn have done', async () => {
    const open = function* (): Rule<number> {
      const row = yield* ask('execution', id.execution(1));
      return { ok: true, effects: [opening(id.execution(1), 1)], value: row?.open ?? -1 };
    };
    const decided = await Promise.all([
      opened.store.decide(deciding(registering(execution(1)))),
      opened.store.decide(open),
      opened.store.decide(open),
    ]);
    expect(decided.map((each) => each.ok && each.value)).toEqual([undefined, 0, 1]);
  });

  // Statements are called in another way where there are few; libsql then repeated what was written before.
  it('keeps every decision of commits of few and of many that alternate', async () => {
    const root = execution(1);
    await opened.store.decide(deciding(registering(root)));
    let n = 1;
    for (const size of [1, 20, 1, 20, 3, 12, 1]) {
      const children = Array.from({ length: size }, () => ++n);
      await Promise.all(
        children.map((child) => opened.store.decide(deciding(registering(execution(child, root))))),
      );
      await Promise.all(children.map((child) => opened.store.decide(deciding([settling(child)]))));
    }
    const { executions, events } = await opened.dump();
    expect(executions.map((row) => [row.id, row.closed, row.open])).toEqual(
      Array.from({ length: n }, (_, i) => [id.execution(i + 1), i > 0, 0]),
    );
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, i) => i + 1));
  });

  it.each([
    [
      'a rule that throws',
      (): Rule<never> => {
        throw new Error('bug');
      },
    ],
    [
      'a rule that throws half way',
      function* (): Rule<never> {
        yield* ask('execution', id.execution(1));
        throw new Error('bug');
      },
    ],
    ['a violated constraint', deciding([opening(id.execution(1), 5), opening(id.execution(1), -9)])],
    [
      'a reference that is checked at the commit',
      deciding([
        opening(id.execution(1), 5),
        { do: 'insertSession', row: session(7, { hostedBy: id.execution(99) }) },
      ]),
    ],
  ] as const)('%s fails alone: its neighbours are stored, once each', async (_, failing) => {
    await opened.store.decide(deciding(registering(execution(1))));
    const told: string[] = [];
    opened.store.onCommit(({ events, wakes }) =>
      told.push(...events.map((e) => e.type), ...wakes.map((w) => w.kind)),
    );
    const neighbour = (n: number): Effect[] => [
      ...registering(execution(n, execution(1))),
      { do: 'wake', wake: { kind: 'run', target: String(n), at: 0 } },
      { do: 'event', event: { type: `made ${n}`, at: start, rootId: null, sessionId: null, data: {} } },
    ];
    const results = await Promise.allSettled([
      opened.store.decide(deciding(neighbour(2))),
      opened.store.decide(failing as () => Rule<unknown>),
      opened.store.decide(deciding(neighbour(3))),
      opened.store.decide(failing as () => Rule<unknown>),
      opened.store.decide(deciding(neighbour(4))),
    ]);
    expect(results.map((each) => each.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    const dump = await opened.dump();
    expect(dump.executions.map((row) => row.open)).toEqual([3, 0, 0, 0]);
    expect(dump.events.map((each) => each.type)).toEqual(['made 2', 'made 3', 'made 4']);
    expect(dump.wakeups.map((each) => each.revision)).toEqual([1, 1, 1]);
    expect(told.filter((what) => what !== 'run')).toEqual(['made 2', 'made 3', 'made 4']);
    expect(told.filter((what) => what === 'run')).toHaveLength(3);
    expect(dump.sessions).toEqual([]);
  });

  it('tells listeners of a commit before its callers, in order, and not after they left', async () => {
    const order: string[] = [];
    const leave = opened.store.onCommit(({ events }) =>
      order.push(...events.map((e) => `first ${e.sequence}`)),
    );
    opened.store.onCommit(({ events }) => order.push(...events.map((e) => `second ${e.sequence}`)));
    await opened.store
      .decide(deciding([...registering(execution(1)), settling(1)]))
      .then(() => order.push('caller'));
    expect(order).toEqual(['first 1', 'second 1', 'caller']);
    leave();
    await opened.store.decide(deciding([...registering(execution(2)), settling(2)]));
    expect(order.slice(3)).toEqual(['second 2']);
  });

  it('a listener may decide again', async () => {
    const again = new Promise<void>((resolve) => {
      const leave = opened.store.onCommit(() => {
        leave();
        void opened.store.decide(deciding(registering(execution(2)))).then(() => resolve());
      });
    });
    await opened.store.decide(deciding(registering(execution(1))));
    await again;
    expect((await opened.dump()).executions).toHaveLength(2);
  });

  it('finishes a wake-up only at the revision that was handled', async () => {
    const wake = (at: number): Effect => ({ do: 'wake', wake: { kind: 'session', target: 's', at } });
    const { store } = opened;
    const heard: unknown[] = [];
    store.onCommit(({ wakes }) => heard.push(...wakes));
    await store.decide(deciding([wake(5)]));
    await store.decide(deciding([wake(9)]));
    // What is told is what was asked for; what is stored is the earlier of both.
    expect(heard).toEqual([
      { kind: 'session', target: 's', at: 5, revision: 1 },
      { kind: 'session', target: 's', at: 9, revision: 2 },
    ]);
    expect(await store.dueWakes(0, 5)).toEqual([{ kind: 'session', target: 's', at: 5, revision: 2 }]);
    expect(await store.dueWakes(5, 100)).toEqual([]);
    expect([await store.nextWake(4), await store.nextWake(5)]).toEqual([5, undefined]);
    expect(await store.finishWake({ kind: 'session', target: 's', revision: 1 }, null)).toBe(false);
    expect(await store.finishWake({ kind: 'session', target: 's', revision: 2 }, 9)).toBe(true);
    expect(await store.nextWake(5)).toBe(9);
    expect(await store.finishWake({ kind: 'session', target: 's', revision: 2 }, null)).toBe(true);
    expect(await store.finishWake({ kind: 'session', target: 's', revision: 2 }, null)).toBe(false);
    expect(await store.nextWake(0)).toBeUndefined();
  });

  it('stores what it accepted before it closes, refuses what comes later, and closes once', async () => {
    const accepted = opened.store.decide(deciding(registering(execution(1)), 'stored'));
    const closed = opened.store.close();
    await expect(opened.store.decide(deciding([]))).rejects.toMatchObject({ code: 'STOPPING' });
    await expect(opened.store.read(() => ask('execution', id.execution(1)))).rejects.toMatchObject({
      code: 'STOPPING',
    });
    expect(await accepted).toEqual({ ok: true, value: 'stored' });
    await closed;
    await opened.store.close();
    expect((await opened.dump()).executions).toHaveLength(1);
  });
});
