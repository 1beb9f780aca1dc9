import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Notification } from '../../ledger/notification.ts';
import type { NotificationView, Page } from '../views.ts';
import { isNotificationCursor } from '../views.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import {
  deciding,
  dispatch,
  execution,
  id,
  input,
  notice,
  notification,
  opening,
  registering,
  run,
  session,
  settling,
  start,
  steer,
  turn,
} from './rows.ts';

const [here, there] = [id.session(1), id.session(2)];
const root = execution(1, null, { kind: 'message', runsIn: here, project: 'shop' });
const other = execution(2, null, { kind: 'message', runsIn: there });
const child = execution(3, root);
const grandchild = execution(4, child);
const sibling = execution(5, root, { kind: 'task', runsIn: here });
const shared = execution(6, other, { runsIn: here });
const done = execution(7, null, { runsIn: here });
const sent = [8, 9].map((n, runIndex) => execution(n, null, { kind: 'message', runId: id.run(1), runIndex }));
const queued = execution(10, null, { kind: 'message', state: 'queued', runsIn: there });

const rows: Effect[] = [
  { do: 'insertSession', row: session(1, { project: 'shop' }) },
  { do: 'insertSession', row: session(2, { state: 'cold' }) },
  { do: 'insertSession', row: session(3, { state: 'cold' }) },
  { do: 'insertSession', row: session(4, { state: 'stopped' }) },
  { do: 'insertRun', row: run(1, here) },
  { do: 'insertRun', row: run(2, there, { state: 'ended', outcome: 'failed', endedAt: start }) },
  ...[root, other, child, grandchild, sibling].flatMap((row) => registering(row)),
  ...registering(shared, [child.id]),
  ...[done, ...sent, queued].flatMap((row) => registering(row)),
  settling(7),
  { do: 'insertTurn', row: turn(1, here, { state: 'running' }) },
  { do: 'insertOwner', row: { turnId: id.turn(1), executionId: root.id, position: 0 } },
  { do: 'insertTurn', row: turn(2, here, { state: 'ended', status: 'succeeded', endedAt: start }) },
  { do: 'insertOwner', row: { turnId: id.turn(2), executionId: root.id, position: 0 } },
  { do: 'insertSteer', row: steer(1, here, id.turn(1), { state: 'written' }) },
  {
    do: 'insertNotice',
    row: notice(1, grandchild, here, { state: 'claimed', steerId: id.steer(1), epoch: 1 }),
  },
  {
    do: 'insertNotice',
    row: notice(2, sibling, here, { state: 'waived', reason: 'x', actor: { kind: 'system' } }),
  },
  { do: 'insertNotice', row: notice(3, shared, id.session(3)) },
  opening(child.id, 1),
  opening(other.id, 1),
  { do: 'insertInput', row: input(queued, there, 1) },
];

describe.each(adapters)('views on $name', ({ open }) => {
  let opened: Opened;
  const idsOf = async (page: Promise<Page<{ readonly id: string }>>): Promise<string[]> =>
    (await page).items.map((row) => row.id);
  const executions = (...numbers: number[]): string[] => numbers.map(id.execution);
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
    await opened.store.decide(deciding(rows));
  });
  afterEach(() => opened.end());

  it('lists executions newest first, page by page', async () => {
    const { views } = opened.store;
    const first = await views.executions({ limit: 4 });
    expect(first.items.map((row) => row.id)).toEqual(executions(10, 9, 8, 7));
    const second = await views.executions({ limit: 4, cursor: first.next });
    expect(second.items.map((row) => row.id)).toEqual(executions(6, 5, 4, 3));
    const third = await views.executions({ limit: 4, cursor: second.next });
    expect(third.items.map((row) => row.id)).toEqual(executions(2, 1));
    expect(third.next).toBeUndefined();
    expect((await views.executions({ limit: 10 })).next).toBeUndefined();
  });

  it.each([
    ['state', { state: 'queued' }, [10]],
    ['a settled state', { state: 'succeeded' }, [7]],
    ['kind', { kind: 'task' }, [5]],
    ['project', { project: 'shop' }, [5, 4, 3, 1]],
    ['session', { sessionId: here }, [7, 6, 5, 1]],
    ['session and live', { sessionId: here, live: true }, [6, 5, 1]],
    ['session and closed', { sessionId: here, live: false }, [7]],
    ['root', { rootId: root.id }, [5, 4, 3, 1]],
    ['root and session', { rootId: root.id, sessionId: here }, [5, 1]],
    ['live', { live: true }, [10, 9, 8, 6, 5, 4, 3, 2, 1]],
    ['live roots', { live: true, root: true }, [10, 9, 8, 2, 1]],
    ['no roots', { root: false }, [6, 5, 4, 3]],
    ['closed', { live: false }, [7]],
    ['nothing that is there', { state: 'lost' }, []],
  ] as const)('filters executions by %s', async (_, filter, numbers) => {
    const { views } = opened.store;
    expect(await idsOf(views.executions({ ...filter, limit: 20 }))).toEqual(executions(...numbers));
    // Page by page, every row comes exactly once, in the same order.
    const seen: string[] = [];
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
      const page: Page<{ readonly id: string }> = await views.executions({ ...filter, limit: 2, cursor });
      seen.push(...page.items.map((row) => row.id));
      cursor = page.next;
    }
    expect(seen).toEqual(executions(...numbers));
  });

  it('shows a tree with all that says why it is open', async () => {
    const tree = await opened.store.views.tree(root.id, { limit: 100 });
    expect(tree?.executions.map((row) => row.id)).toEqual(executions(1, 3, 4, 5));
    expect(tree?.notices.map((row) => row.id)).toEqual([id.notice(1), id.notice(2)]);
    expect(tree?.holds).toEqual([{ executionId: shared.id, holderId: child.id }]);
    expect(tree?.held.map((row) => row.id)).toEqual([shared.id]);
    expect(tree?.turns.map((each) => [each.executionId, each.turn.id])).toEqual([[root.id, id.turn(1)]]);
    expect(tree?.steers.map((row) => row.id)).toEqual([id.steer(1)]);
    expect(tree?.isCut).toBe(false);
    const holder = await opened.store.views.tree(other.id, { limit: 100 });
    expect(holder).toMatchObject({
      holds: [{ executionId: shared.id, holderId: child.id }],
      held: [],
      turns: [],
    });
  });

  it('shows how texts went to their sessions', async () => {
    const { store } = opened;
    const steered = execution(11, null, { kind: 'message', runsIn: here });
    const told = execution(12, root, { kind: 'continuation', runsIn: here });
    await store.decide(
      deciding([
        ...registering(steered),
        ...registering(told),
        { do: 'insertOwner', row: { turnId: id.turn(1), executionId: steered.id, position: 1 } },
        {
          do: 'insertSteer',
          row: steer(2, here, id.turn(1), { messageId: steered.id, state: 'refused', endedAt: start }),
        },
        {
          do: 'insertSteer',
          row: steer(3, here, id.turn(1), { messageId: steered.id, state: 'taken', endedAt: start }),
        },
        {
          do: 'insertNotice',
          row: notice(4, child, here, {
            state: 'handed',
            steerId: id.steer(1),
            continuationId: told.id,
            epoch: 1,
            handedAt: start,
          }),
        },
      ]),
    );
    const shown = await store.views.deliveries([queued.id, steered.id, told.id, root.id]);
    const brief = shown.map(({ executionId, input: waits, turns, steers }) => ({
      of: executionId,
      waits: waits?.position,
      turns: turns.map(({ turn: { id: turnId }, position }) => [turnId, position]),
      steers: steers.map((row) => row.id),
    }));
    expect(brief).toEqual([
      { of: queued.id, waits: 1, turns: [], steers: [] },
      {
        of: steered.id,
        waits: undefined,
        turns: [[id.turn(1), 1]],
        steers: [id.steer(2), id.steer(3)],
      },
      { of: told.id, waits: undefined, turns: [], steers: [id.steer(1)] },
      {
        of: root.id,
        waits: undefined,
        turns: [
          [id.turn(1), 0],
          [id.turn(2), 0],
        ],
        steers: [],
      },
    ]);
  });

  it('shows what is open of a tree, and what its results are of', async () => {
    const whole = await opened.store.views.tree(root.id, { limit: 100 });
    const open = await opened.store.views.openTree(root.id, { limit: 100 });
    const results = whole?.notices.filter(({ state }) => state === 'owed' || state === 'claimed') ?? [];
    const shown = whole?.executions.filter(
      (row) => !row.closed || results.some((notice) => notice.executionId === row.id),
    );
    expect(open).toEqual({ ...whole, executions: shown, notices: results });
    expect(open?.executions.map((row) => row.id)).toContain(root.id);
    const cut = await opened.store.views.openTree(root.id, { limit: 2 });
    expect([cut?.executions.slice(0, 1).map((row) => row.id), cut?.isCut]).toEqual([[root.id], true]);
    expect(await opened.store.views.openTree(child.id, { limit: 2 })).toBeUndefined();
  });

  it('cuts a tree that is too large, and knows none that is not there', async () => {
    const tree = await opened.store.views.tree(root.id, { limit: 2 });
    expect([tree?.executions.map((row) => row.id), tree?.isCut]).toEqual([executions(1, 3), true]);
    expect(await opened.store.views.tree(id.execution(99), { limit: 2 })).toBeUndefined();
  });

  it('counts what is open below each live root', async () => {
    const { items, next } = await opened.store.views.liveRoots({ limit: 3 });
    expect(next).toBe(id.execution(8));
    const rest = await opened.store.views.liveRoots({ cursor: next, limit: 3 });
    expect(rest.items.every(({ root: { id: of } }) => of > id.execution(8))).toBe(true);
    expect(
      items.map(({ root: { id: of }, openExecutions, openNotices }) => [of, openExecutions, openNotices]),
    ).toEqual([
      [root.id, 3, 1],
      [other.id, 1, 1],
      [id.execution(8), 0, 0],
    ]);
  });

  it('lists notices, sessions and runs', async () => {
    const { views } = opened.store;
    expect(await idsOf(views.notices({ limit: 2 }))).toEqual([id.notice(3), id.notice(2)]);
    expect((await views.notices({ limit: 2 })).next).toBe(id.notice(2));
    expect(await idsOf(views.notices({ sessionId: here, limit: 9 }))).toEqual([id.notice(2), id.notice(1)]);
    expect(await idsOf(views.notices({ state: 'owed', limit: 9 }))).toEqual([id.notice(3)]);
    expect(await idsOf(views.notices({ state: 'waived', limit: 9 }))).toEqual([id.notice(2)]);
    expect(await idsOf(views.sessions({ project: 'shop', limit: 9 }))).toEqual([here]);
    expect(await idsOf(views.sessions({ state: 'cold', limit: 9 }))).toEqual([id.session(3), there]);
    expect(await idsOf(views.runs({ state: 'running', limit: 9 }))).toEqual([id.run(1)]);
    expect(await idsOf(views.runs({ sessionId: there, limit: 9 }))).toEqual([id.run(2)]);
    expect(await idsOf(views.runs({ limit: 9 }))).toEqual([id.run(2), id.run(1)]);
  });

  it('shows a queue, and a run with its messages', async () => {
    const { views } = opened.store;
    expect((await views.inputsOf(there)).map((row) => row.executionId)).toEqual([queued.id]);
    const shown = await views.run(id.run(1), { limit: 9 });
    expect([shown?.run.id, shown?.messages.map((row) => row.id)]).toEqual([id.run(1), executions(8, 9)]);
    expect(await views.run(id.run(99), { limit: 9 })).toBeUndefined();
    expect(await views.run(id.run(1), { from: 99, limit: 9 })).toMatchObject({ count: 0, messages: [] });
  });

  it('resolves prefixes', async () => {
    const { views } = opened.store;
    expect(await views.resolvePrefix('execution', 'exe_0', 2)).toEqual(executions(1, 2));
    expect(await views.resolvePrefix('execution', id.execution(10), 2)).toEqual(executions(10));
    expect(await views.resolvePrefix('session', 'exe_', 2)).toEqual([]);
    expect(await views.resolvePrefix('notice', 'ntc_', 9)).toHaveLength(3);
    expect(await views.resolvePrefix('run', 'run_', 9)).toHaveLength(2);
    expect(await views.resolvePrefix('turn', 'trn_', 9)).toHaveLength(2);
    expect(await views.resolvePrefix('steer', 'str_', 9)).toHaveLength(1);
  });

  it('lists what people are told, newest first, with what becomes of it', async () => {
    const { store } = opened;
    const told = [1, 2, 3, 4].map((n) =>
      notification(n, { at: start + Math.floor(n / 2), project: n === 4 ? 'shop' : null }),
    );
    const first = told[0] as Notification;
    await store.decide(
      deciding([
        ...told.map((row): Effect => ({ do: 'insertNotification', row })),
        { do: 'insertDispatch', row: dispatch(first, 'ops') },
        { do: 'insertDispatch', row: dispatch(first, 'me') },
      ]),
    );
    const idsOf = (page: Page<NotificationView>) => page.items.map((each) => each.notification.subject);
    const all = await store.views.notifications({ limit: 10 });
    expect(idsOf(all)).toEqual([4, 3, 2, 1].map((n) => `subject${n}`));
    expect(all.next).toBeUndefined();
    expect(all.items[3]?.dispatches.map((row) => row.target)).toEqual(['me', 'ops']);
    const page = await store.views.notifications({ limit: 2 });
    expect(idsOf(page)).toEqual(['subject4', 'subject3']);
    expect(isNotificationCursor(page.next ?? '')).toBe(true);
    const rest = await store.views.notifications({ limit: 2, cursor: page.next });
    expect([idsOf(rest), rest.next]).toEqual([['subject2', 'subject1'], undefined]);
    expect(idsOf(await store.views.notifications({ limit: 9, state: 'owed' }))).toEqual(['subject1']);
    expect(idsOf(await store.views.notifications({ limit: 9, state: 'sent' }))).toEqual([]);
    expect(idsOf(await store.views.notifications({ limit: 9, project: 'shop' }))).toEqual(['subject4']);
    expect(idsOf(await store.views.notifications({ limit: 9, transition: 'failed' }))).toEqual([]);
  });

  it('knows what a starting server must look at', async () => {
    const sessions = await opened.store.recovery.liveSessions();
    expect(sessions.map((row) => row.id)).toEqual([here, there, id.session(3)]);
    expect((await opened.store.recovery.runningRuns()).map((row) => row.id)).toEqual([id.run(1)]);
  });

  it('replays events from a place, filtered and bounded', async () => {
    const { store } = opened;
    const event = (n: number, rootId: string | null, sessionId: string | null): Effect => ({
      do: 'event',
      event: { type: String(n), at: start, rootId, sessionId, data: {} } as never,
    });
    await store.decide(
      deciding([event(1, root.id, here), event(2, other.id, there), event(3, root.id, null)]),
    );
    const last = await store.events.lastSequence();
    expect(last).toBe(4);
    const all = await store.events.eventsSince(1, {}, 100);
    expect(all).toMatchObject({ through: last, isEnd: true });
    expect(all.events.map((each) => each.type)).toEqual(['1', '2', '3']);
    const ofRoot = await store.events.eventsSince(1, { rootId: root.id }, 1);
    expect(ofRoot).toMatchObject({ through: 2, isEnd: false, events: [{ type: '1' }] });
    const rest = await store.events.eventsSince(ofRoot.through, { rootId: root.id }, 10);
    expect(rest).toMatchObject({ through: last, isEnd: true, events: [{ type: '3' }] });
    expect((await store.events.eventsSince(0, { sessionId: there }, 10)).events.map((e) => e.type)).toEqual([
      '2',
    ]);
    expect(await store.events.eventsSince(last, {}, 10)).toEqual({ events: [], through: last, isEnd: true });
  });
});
