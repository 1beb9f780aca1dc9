import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Notification } from '../../ledger/notification.ts';
import type { QuestionName, Questions } from '../../ledger/questions.ts';
import { ask } from '../../ledger/questions.ts';
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
const root = execution(1, null, { kind: 'message', runsIn: here, cancelledBy: here });
const other = execution(2, null, { kind: 'message', runsIn: there, cancelledBy: there });
const first = execution(3, root, { key: 'k', cancelledBy: here, reportsTo: here, mode: 'each' });
const second = execution(4, root, { key: 'k', attempt: 2, cancelledBy: here, reportsTo: here, mode: 'each' });
const shared = execution(5, other, { cancelledBy: there });
const olderTask = execution(6, root, { kind: 'task', runsIn: here, nativeId: 'shell' });
const task = execution(7, root, { kind: 'task', runsIn: here, nativeId: 'shell' });
const ended = execution(8, root, { kind: 'task', runsIn: here, nativeId: 'gone' });
const continuation = execution(9, root, { kind: 'continuation', runsIn: here, cancelledBy: here });
const queued = [10, 11, 12].map((n) =>
  execution(n, null, { kind: 'message', state: 'queued', runsIn: here }),
);
const foreign = execution(13, other, { runsIn: here });
const [q1, q2, q3] = queued as [typeof root, typeof root, typeof root];

const missed = [1, 2, 3, 4].map((n) => notification(n, { at: start + (n % 3) })) as [
  Notification,
  Notification,
  Notification,
  Notification,
];
const lead = dispatch(missed[2], 'ops', { owedAt: start + 3 });
const sending = { state: 'sending', leadId: lead.id } as const;
/** Attempts of the messages of a run, out of order: message 1, then message 0 twice. */
const attempts = [
  [14, 1, 1],
  [15, 0, 2],
  [16, 0, 1],
].map(([n = 0, runIndex = 0, attempt = 0]) =>
  execution(n, null, { kind: 'message', runId: id.run(3), runsIn: there, runIndex, attempt }),
);

const settled = { status: 'refused', state: 'ended', endedAt: start } as const;
const rows: Effect[] = [
  { do: 'insertSession', row: session(1) },
  { do: 'insertSession', row: session(2) },
  ...[root, other, first, second].flatMap((row) => registering(row)),
  ...registering(shared, [root.id]),
  ...[olderTask, task, ended, continuation, foreign, ...queued].flatMap((row) => registering(row)),
  settling(8),
  { do: 'insertTurn', row: turn(1, here, settled) },
  { do: 'insertTurn', row: turn(2, here, settled) },
  { do: 'insertTurn', row: turn(3, here, { state: 'running', startedAt: start }) },
  { do: 'insertOwner', row: { turnId: id.turn(1), executionId: root.id, position: 0 } },
  { do: 'insertOwner', row: { turnId: id.turn(2), executionId: root.id, position: 0 } },
  { do: 'insertOwner', row: { turnId: id.turn(3), executionId: continuation.id, position: 0 } },
  { do: 'insertOwner', row: { turnId: id.turn(3), executionId: root.id, position: 1 } },
  { do: 'insertInput', row: input(q1, here, 5) },
  { do: 'insertInput', row: input(q2, here, -1, { steerId: id.steer(1) }) },
  { do: 'insertInput', row: input(q3, here, 3) },
  { do: 'insertSteer', row: steer(1, here, id.turn(3), { messageId: q2.id }) },
  { do: 'insertSteer', row: steer(2, here, id.turn(3), { state: 'written' }) },
  { do: 'insertSteer', row: steer(3, here, id.turn(3), { state: 'taken', endedAt: start }) },
  { do: 'insertNotice', row: notice(1, first, here, { owedAt: start + 2 }) },
  { do: 'insertNotice', row: notice(2, second, here, { owedAt: start + 1 }) },
  { do: 'insertNotice', row: notice(3, olderTask, here, { notBefore: start + 100 }) },
  { do: 'insertNotice', row: notice(4, shared, here, { mode: 'batch' }) },
  {
    do: 'insertNotice',
    row: notice(5, ended, here, { state: 'handed', continuationId: continuation.id, handedAt: start }),
  },
  { do: 'insertNotice', row: notice(6, task, here, { state: 'claimed', steerId: id.steer(2), epoch: 1 }) },
  opening(root.id, 4),
  opening(other.id, 1),
  { do: 'insertRun', row: run(1, here, { ownerId: first.id }) },
  { do: 'insertRun', row: run(2, here, { state: 'ended', outcome: 'failed', endedAt: start }) },
  { do: 'insertRun', row: run(3, there) },
  ...missed.map((row): Effect => ({ do: 'insertNotification', row })),
  { do: 'insertDispatch', row: dispatch(missed[0], 'ops', { owedAt: start + 2 }) },
  { do: 'insertDispatch', row: dispatch(missed[1], 'ops', { owedAt: start + 1 }) },
  { do: 'insertDispatch', row: dispatch(missed[1], 'me') },
  { do: 'insertDispatch', row: { ...lead, ...sending } },
  { do: 'insertDispatch', row: dispatch(missed[3], 'ops', { ...sending, owedAt: start + 4 }) },
  ...attempts.flatMap((row) => registering(row)),
];

describe.each(adapters)('questions on $name', ({ open }) => {
  let opened: Opened;
  const answer = <Name extends QuestionName>(
    name: Name,
    ...args: Questions[Name]['args']
  ): Promise<Questions[Name]['answer']> => opened.store.read(() => ask(name, ...args));
  const idsOf = async (answered: Promise<readonly { readonly id: string }[]>): Promise<string[]> =>
    (await answered).map((row) => row.id);
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
    await opened.store.decide(deciding(rows));
  });
  afterEach(() => opened.end());

  it('answers single rows by id, and undefined for what is not there', async () => {
    expect(await answer('execution', first.id)).toEqual({ ...first, open: 0 });
    expect(await answer('session', here)).toEqual(session(1));
    expect(await answer('turn', id.turn(1))).toEqual(turn(1, here, settled));
    expect((await answer('input', q1.id))?.position).toBe(5);
    expect((await answer('notice', id.notice(4)))?.mode).toBe('batch');
    expect((await answer('steer', id.steer(2)))?.state).toBe('written');
    expect(await answer('run', id.run(1))).toEqual(run(1, here, { ownerId: first.id }));
    expect(await answer('execution', id.execution(99))).toBeUndefined();
    expect(await answer('input', first.id)).toBeUndefined();
  });

  it('answers on what batches are counted that are owed to a session', async () => {
    expect(await idsOf(answer('batchesFor', here))).toEqual([other.id]);
    expect(await answer('batchesFor', there)).toEqual([]);
  });

  it('answers the unclosed children that are counted, oldest first', async () => {
    await opened.store.decide(
      deciding([{ do: 'patchExecution', id: first.id, set: { detachedAt: start } }, opening(root.id, -1)]),
    );
    const ids = await idsOf(answer('countedChildren', root.id, 2));
    expect(ids).toEqual([second.id, olderTask.id]);
  });

  it('answers the owners of a turn in the order of joining, and the turns of an owner', async () => {
    expect(await idsOf(answer('owners', id.turn(3)))).toEqual([continuation.id, root.id]);
    expect(await answer('owners', id.turn(99))).toEqual([]);
    expect((await answer('activeTurnOf', root.id))?.id).toBe(id.turn(3));
    expect(await answer('activeTurnOf', first.id)).toBeUndefined();
    expect(await answer('refusedTurns', root.id, id.turn(2))).toBe(1);
    expect(await answer('refusedTurns', root.id, id.turn(3))).toBe(2);
  });

  it('answers who holds whom, unclosed only', async () => {
    expect(await answer('holders', shared.id)).toEqual([root.id]);
    expect(await answer('holders', root.id)).toEqual([]);
    expect(await idsOf(answer('held', root.id))).toEqual([shared.id]);
    await opened.store.decide(deciding([settling(5)]));
    expect(await answer('held', root.id)).toEqual([]);
  });

  it('answers open children by age, bounded', async () => {
    const open = [first, second, olderTask, task, continuation].map((row) => row.id);
    expect(await idsOf(answer('openChildren', root.id, 100))).toEqual(open);
    expect(await idsOf(answer('openChildren', root.id, 2))).toEqual(open.slice(0, 2));
  });

  it('answers attempts by key', async () => {
    expect((await answer('keyed', root.id, 'k', 2))?.id).toBe(second.id);
    expect(await answer('keyed', root.id, 'k', 3)).toBeUndefined();
    expect((await answer('latestKeyed', root.id, 'k'))?.id).toBe(second.id);
    expect(await answer('latestKeyed', other.id, 'k')).toBeUndefined();
  });

  it('answers tasks that live, oldest first, and the newest of a name', async () => {
    expect(await idsOf(answer('liveTasks', here))).toEqual([olderTask.id, task.id]);
    expect((await answer('taskNamed', here, 'shell'))?.id).toBe(task.id);
    expect((await answer('taskNamed', here, 'gone'))?.id).toBe(ended.id);
    expect(await answer('taskNamed', there, 'shell')).toBeUndefined();
  });

  it('answers what ends with a session: what it runs or owns and whose parent it does not', async () => {
    const own = [root, ...queued, foreign].map((row) => row.id);
    expect(await idsOf(answer('openOwnedBy', here))).toEqual(own);
    expect(await idsOf(answer('openOwnedBy', there))).toEqual([other, ...attempts].map((row) => row.id));
  });

  it('answers the queue in its order', async () => {
    expect((await answer('inputs', here)).map((row) => row.position)).toEqual([-1, 3, 5]);
    expect((await answer('nextInput', here))?.executionId).toBe(q3.id);
    expect([await answer('headPosition', here), await answer('tailPosition', here)]).toEqual([-1, 5]);
    expect([await answer('headPosition', there), await answer('tailPosition', there)]).toEqual([0, 0]);
    expect(await answer('nextInput', there)).toBeUndefined();
  });

  it('answers what is owed and due, oldest first', async () => {
    expect(await idsOf(answer('owed', here, start, 10))).toEqual([id.notice(2), id.notice(1)]);
    expect(await idsOf(answer('owed', here, start + 100, 10))).toEqual([3, 2, 1].map(id.notice));
    expect(await idsOf(answer('owed', here, start, 1))).toEqual([id.notice(2)]);
  });

  it('answers pending notices by where they count and where they go', async () => {
    expect(await idsOf(answer('pendingOn', root.id))).toEqual([1, 2, 3, 6].map(id.notice));
    expect(await idsOf(answer('pendingOn', other.id))).toEqual([id.notice(4)]);
    expect(await idsOf(answer('pendingFor', here))).toEqual([3, 4, 6, 2, 1].map(id.notice));
    expect(await answer('pendingFor', there)).toEqual([]);
  });

  it('answers notices by steer, continuation and execution', async () => {
    expect(await idsOf(answer('noticesOfSteer', id.steer(2)))).toEqual([id.notice(6)]);
    expect(await idsOf(answer('noticesOfContinuation', continuation.id))).toEqual([id.notice(5)]);
    expect((await answer('noticeOf', ended.id))?.id).toBe(id.notice(5));
    expect(await answer('noticeOf', root.id)).toBeUndefined();
  });

  it('answers open steers and runs', async () => {
    expect(await idsOf(answer('openSteers', here))).toEqual([id.steer(1), id.steer(2)]);
    expect(await idsOf(answer('runsOf', here))).toEqual([id.run(1)]);
    expect((await answer('runOwnedBy', first.id))?.id).toBe(id.run(1));
    expect(await answer('runOwnedBy', second.id)).toBeUndefined();
  });

  it('answers what people are owed: by target, by group, and the newest of its kind', async () => {
    const owed = [missed[1], missed[0]].map((row) => `ops:${row.id}`);
    expect(await answer('notification', missed[0].id)).toEqual(missed[0]);
    expect(await answer('notification', 'missed:nothing')).toBeUndefined();
    expect((await answer('latestNotification', 'missed'))?.id).toBe(missed[1].id);
    expect(await answer('latestNotification', 'diskLow')).toBeUndefined();
    expect(await idsOf(answer('owedDispatches', 'ops', 10))).toEqual(owed);
    expect(await idsOf(answer('owedDispatches', 'ops', 1))).toEqual(owed.slice(0, 1));
    expect(await idsOf(answer('openGroups', 'ops'))).toEqual([lead.id]);
    expect(await answer('openGroups', 'me')).toEqual([]);
    expect(await idsOf(answer('dispatchesOf', lead.id))).toEqual([lead.id, `ops:${missed[3].id}`]);
  });

  it('answers the attempts of the messages of a run, and the latest of one', async () => {
    expect(await idsOf(answer('messagesOfRun', id.run(3), 9))).toEqual([16, 15, 14].map(id.execution));
    expect(await idsOf(answer('messagesOfRun', id.run(3), 2))).toEqual([16, 15].map(id.execution));
    expect((await answer('latestOfRun', id.run(3), 0))?.attempt).toBe(2);
    expect(await answer('latestOfRun', id.run(3), 2)).toBeUndefined();
  });

  it('answers what an agent said last: in a tree, or in all that is closed', async () => {
    await opened.store.decide(deciding([settling(14, { result: 'of the other', answerPlace: 1 })]));
    expect(await answer('lastAnswer', there, id.execution(15))).toBeUndefined();
    expect(await answer('lastAnswer', there, id.execution(14))).toBe('of the other');
    expect(await answer('lastAnswer', there, null)).toBe('of the other');
    await opened.store.decide(deciding([settling(9, { result: 'what came of it', answerPlace: 1 })]));
    expect(await answer('lastAnswer', here, root.id)).toBe('what came of it');
    expect(await answer('lastAnswer', there, root.id)).toBeUndefined();
    // The message itself was sent again meanwhile, and ends behind what was registered later.
    await opened.store.decide(deciding([settling(1, { result: 'after all', answerPlace: 2 })]));
    expect(await answer('lastAnswer', here, root.id)).toBe('after all');
  });
});
