import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Execution } from '../../ledger/execution.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Dispatch } from '../../ledger/notification.ts';
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

const root = execution(1, null, { kind: 'message', runsIn: id.session(1) });
const child = execution(2, root, { key: 'step', attempt: 1 });
const sent = { kind: 'message', runId: id.run(1), runIndex: 0 } as const;

const gives = { agents: {}, generic: true, maxRounds: 1, onChildFailure: 'wait' } as const;
const told = notification(1);
const owed = dispatch(told, 'ops');

/** A session with a turn, a root with a keyed child, a run with its first message, a closed root. */
const before: Effect[] = [
  { do: 'insertSession', row: session(1) },
  ...registering(root),
  ...registering(child),
  { do: 'insertTurn', row: turn(1, id.session(1)) },
  { do: 'insertOwner', row: { turnId: id.turn(1), executionId: root.id, position: 0 } },
  { do: 'insertInput', row: input(root, id.session(1), 1) },
  { do: 'insertRun', row: run(1, id.session(1), { ownerId: child.id }) },
  ...registering(execution(3, null, sent)),
  ...registering(execution(4)),
  settling(4),
  { do: 'insertNotice', row: notice(1, child, id.session(1)) },
  opening(root.id, 1),
  { do: 'insertSteer', row: steer(1, id.session(1), id.turn(1)) },
  { do: 'insertNotification', row: told },
  { do: 'insertDispatch', row: owed },
];

const inserting = (set: Partial<Execution>): Effect => ({
  do: 'insertExecution',
  row: { ...execution(9), ...set },
});
const below = (set: Partial<Execution>): Effect => ({ do: 'insertExecution', row: execution(9, root, set) });
const patchNotice = (set: Partial<Notice>): Effect => ({ do: 'patchNotice', id: id.notice(1), set });
const patchDispatch = (set: Partial<Dispatch>): Effect => ({ do: 'patchDispatch', id: owed.id, set });
const missing = id.execution(99);

const violations: readonly (readonly [what: string, effect: Effect])[] = [
  ['a deficit below zero', opening(root.id, -4)],
  ['a deficit of nothing', opening(missing, 1)],
  ['a deficit of nothing that falls', opening(missing, -1)],
  ['a closed deficit that grows', opening(id.execution(4), 1)],
  ['a closed deficit that falls', opening(id.execution(4), -1)],
  ['a second settlement', settling(4)],
  ['the settlement of nothing', settling(99)],
  ['a settlement below zero', settling(2, { openBy: -1 })],
  ['failures below zero', { do: 'failures', id: root.id, by: -1 }],
  ['failures of nothing', { do: 'failures', id: missing, by: 1 }],
  ['a patch of nothing', { do: 'patchExecution', id: missing, set: { drain: 0 } }],
  ['a patch that settles', { do: 'patchExecution', id: root.id, set: { state: 'succeeded' } }],
  ['a patch that revives', { do: 'patchExecution', id: id.execution(4), set: { state: 'running' } }],
  [
    'waiting after the end',
    { do: 'patchExecution', id: id.execution(4), set: { waiting: { for: 'lane', since: 1 } } },
  ],
  ['the same id twice', { do: 'insertExecution', row: root }],
  ['a settled newborn', inserting({ state: 'succeeded' })],
  ['a closed newborn that runs', inserting({ closed: true, closedAt: 1, outcome: 'succeeded' })],
  ['an outcome before the end', inserting({ outcome: 'succeeded' })],
  ['a root with a depth', inserting({ depth: 1 })],
  ['a root with another root', inserting({ rootId: root.id })],
  ['a child without a depth', below({ depth: 0 })],
  ['a parent that does not exist', inserting({ parentId: missing, rootId: root.id, depth: 1 })],
  ['a session that does not exist', below({ runsIn: id.session(99) })],
  ['a reader that does not exist', below({ reportsTo: id.session(99) })],
  ['a report to nobody', below({ mode: 'each' })],
  ['attempt zero', below({ attempt: 0 })],
  ['the same attempt of a key twice', below({ key: 'step', attempt: 1 })],
  ['the same message of a run twice', inserting(sent)],
  ['a workflow in the place of a message', inserting({ ...sent, kind: 'workflow' })],
  ['a run without an index', inserting({ runId: id.run(1) })],
  ['a run that does not exist', inserting({ runId: id.run(99), runIndex: 0 })],
  ['a negative drain level', below({ drain: -1 })],
  ['a hold by itself', { do: 'insertHold', executionId: root.id, holderId: root.id }],
  ['a hold by nothing', { do: 'insertHold', executionId: root.id, holderId: missing }],
  ['a second starting turn', { do: 'insertTurn', row: turn(2, id.session(1)) }],
  ['a turn of no session', { do: 'insertTurn', row: turn(2, id.session(99)) }],
  [
    'an ended turn without a status',
    { do: 'patchTurn', id: id.turn(1), set: { state: 'ended', endedAt: 1 } },
  ],
  [
    'an ended turn without an instant',
    { do: 'patchTurn', id: id.turn(1), set: { state: 'ended', status: 'lost' } },
  ],
  ['a patch of no turn', { do: 'patchTurn', id: id.turn(99), set: { position: 1 } }],
  [
    'the same owner twice',
    { do: 'insertOwner', row: { turnId: id.turn(1), executionId: root.id, position: 1 } },
  ],
  [
    'an owner that does not exist',
    { do: 'insertOwner', row: { turnId: id.turn(1), executionId: missing, position: 1 } },
  ],
  ['a lane of no turn', { do: 'patchSession', id: id.session(1), set: { laneTurn: id.turn(99) } }],
  [
    'one turn as lane and wake',
    { do: 'patchSession', id: id.session(1), set: { laneTurn: id.turn(1), wakeTurn: id.turn(1) } },
  ],
  ['a patch of no session', { do: 'patchSession', id: id.session(99), set: { position: 1 } }],
  ['the same text twice', { do: 'insertInput', row: input(root, id.session(1), 2) }],
  [
    'the text of nothing',
    { do: 'insertInput', row: { ...input(root, id.session(1), 2), executionId: missing } },
  ],
  ['a deleted text that is not there', { do: 'deleteInput', id: child.id }],
  ['a second notice of one end', { do: 'insertNotice', row: notice(2, child, id.session(1)) }],
  ['a notice to nobody', { do: 'insertNotice', row: notice(2, root, id.session(99)) }],
  [
    'a notice counted on nothing',
    { do: 'insertNotice', row: notice(2, root, id.session(1), { countedOn: missing }) },
  ],
  ['a claim without a steer', patchNotice({ state: 'claimed' })],
  ['a claim by a steer that does not exist', patchNotice({ state: 'claimed', steerId: id.steer(99) })],
  ['an owed notice with a steer', patchNotice({ steerId: id.steer(1) })],
  ['a handed notice without a continuation', patchNotice({ state: 'handed', handedAt: 1 })],
  ['a handed notice without an instant', patchNotice({ state: 'handed', continuationId: root.id })],
  [
    'a continuation that does not exist',
    patchNotice({ state: 'handed', handedAt: 1, continuationId: missing }),
  ],
  [
    'a handled notice without an instant',
    patchNotice({ state: 'handled', handedAt: 1, continuationId: root.id }),
  ],
  ['a waiver without a reason', patchNotice({ state: 'waived', actor: { kind: 'system' } })],
  ['a waiver without an actor', patchNotice({ state: 'waived', reason: 'x' })],
  ['a patch of no notice', { do: 'patchNotice', id: id.notice(99), set: { epoch: 1 } }],
  [
    'a batch that is put into a turn',
    {
      do: 'insertNotice',
      row: notice(2, root, id.session(1), {
        mode: 'batch',
        countedOn: child.id,
        state: 'claimed',
        steerId: id.steer(1),
      }),
    },
  ],
  ['a batch below nothing', { do: 'insertNotice', row: notice(2, root, id.session(1), { mode: 'batch' }) }],
  ['work that nobody gives out', { do: 'insertRun', row: run(2, id.session(1), { todo: gives }) }],
  ['a steer into no turn', { do: 'insertSteer', row: steer(2, id.session(1), id.turn(99)) }],
  ['an ended steer without an instant', { do: 'patchSteer', id: id.steer(1), set: { state: 'taken' } }],
  ['a run in no session', { do: 'insertRun', row: run(2, id.session(99)) }],
  [
    'a hosted run without a session',
    { do: 'insertRun', row: { ...run(2, id.session(1)), sessionId: null, ownerId: root.id } },
  ],
  ['a second run of one owner', { do: 'insertRun', row: run(2, id.session(1), { ownerId: child.id }) }],
  ['the same news twice', { do: 'insertNotification', row: told }],
  [
    'news under another id than what it is about',
    { do: 'insertNotification', row: { ...notification(2), id: 'missed:x' } },
  ],
  ['news of no run', { do: 'insertNotification', row: notification(2, { runId: id.run(99) }) }],
  ['news of no tree', { do: 'insertNotification', row: notification(2, { rootId: missing }) }],
  ['a patch of no news', { do: 'patchNotification', id: 'missed:x', set: { state: 'addressed' } }],
  ['the same news to one target twice', { do: 'insertDispatch', row: owed }],
  ['a dispatch of nothing', { do: 'insertDispatch', row: dispatch(notification(9), 'ops') }],
  [
    'a dispatch under another id than what goes where',
    { do: 'insertDispatch', row: { ...dispatch(told, 'me'), id: 'x' } },
  ],
  ['a dispatch that goes without a leader', patchDispatch({ state: 'sending' })],
  ['a dispatch behind nothing', patchDispatch({ state: 'sending', leadId: 'ops:missed:x' })],
  ['an owed dispatch in a group', patchDispatch({ leadId: owed.id })],
  ['a sent dispatch without an instant', patchDispatch({ state: 'sent', leadId: owed.id })],
  ['a dispatch that was given up for no reason', patchDispatch({ state: 'givenUp', endedAt: 1 })],
  ['a negative attempt', patchDispatch({ attempt: -1 })],
  ['a patch of no dispatch', { do: 'patchDispatch', id: 'x', set: { attempt: 1 } }],
  ['a back-off before any message', { do: 'insertRun', row: run(2, id.session(1), { retryAt: 1 }) }],
  ['an ended run without an outcome', { do: 'patchRun', id: id.run(1), set: { state: 'ended', endedAt: 1 } }],
];

describe.each(adapters)('constraints on $name', ({ open }) => {
  let opened: Opened;
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
    await opened.store.decide(deciding(before));
  });
  afterEach(() => opened.end());

  it.each(violations)('refuses %s, and changes nothing', async (_, violation) => {
    const was = await opened.dump();
    // What comes before the violation in the same decision goes with it.
    const harmless: Effect[] = [
      ...registering(execution(8, root)),
      { do: 'patchSession', id: id.session(1), set: { position: 77 } },
      { do: 'wake', wake: { kind: 'session', target: id.session(1), at: 0 } },
    ];
    await expect(opened.store.decide(deciding([...harmless, violation]))).rejects.toThrow();
    expect(await opened.dump()).toEqual(was);
    // And what is remembered is what is stored.
    await opened.store.decide(deciding([...registering(execution(8, root))]));
    expect((await opened.dump()).executions.find((row) => row.id === root.id)?.open).toBe(3);
  });
});
