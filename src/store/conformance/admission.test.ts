import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Admission } from '../../ledger/line.ts';
import type { QuestionName, Questions } from '../../ledger/questions.ts';
import { ask } from '../../ledger/questions.ts';
import type { Workspace } from '../../ledger/workspace.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import { deciding, execution, id, notice, opening, registering, run, session, start, turn } from './rows.ts';

function admission(n: number, place: number, set: Partial<Admission> = {}): Admission {
  const of = { agent: 'demo', project: 'default', since: start, calledAt: null };
  return { sessionId: id.session(n), place, ...of, ...set };
}

function workspace(n: number, set: Partial<Workspace> = {}): Workspace {
  const where = { from: '/here', path: '/here', lock: '/here', checkout: null } as const;
  return { runId: id.run(n), how: 'exclusive', ...where, place: null, isHeld: false, left: null, ...set };
}

const checkout = { path: '/data/x', repository: '/here', commit: 'c0ffee', branch: 'stemma/x' };
const root = execution(1, null, { kind: 'message', runsIn: id.session(1), cancelledBy: id.session(1) });
const child = execution(2, root, { kind: 'outside', reportsTo: id.session(4), mode: 'each' });
const other = execution(3, null, { kind: 'message', runsIn: id.session(2), cancelledBy: id.session(2) });

const rows: Effect[] = [
  ...[1, 2, 3, 4, 5, 6].map((n): Effect => ({ do: 'insertSession', row: session(n) })),
  { do: 'insertSession', row: session(7, { agent: 'other', project: 'shop' }) },
  ...[root, child, other].flatMap((row) => registering(row)),
  ...[1, 2].map((n): Effect => ({ do: 'insertTurn', row: turn(n, id.session(n), { state: 'running' }) })),
  { do: 'insertTurn', row: turn(7, id.session(7), { state: 'running' }) },
  { do: 'insertOwner', row: { turnId: id.turn(1), executionId: root.id, position: 0 } },
  { do: 'insertOwner', row: { turnId: id.turn(2), executionId: root.id, position: 0 } },
  { do: 'insertOwner', row: { turnId: id.turn(7), executionId: other.id, position: 0 } },
  { do: 'patchSession', id: id.session(2), set: { laneTurn: id.turn(1) } },
  { do: 'patchSession', id: id.session(1), set: { laneTurn: id.turn(2) } },
  { do: 'patchSession', id: id.session(7), set: { laneTurn: id.turn(7) } },
  { do: 'insertAdmission', row: admission(3, 5) },
  { do: 'insertAdmission', row: admission(4, 2) },
  { do: 'insertAdmission', row: admission(5, 3, { agent: 'other', calledAt: start + 1 }) },
  { do: 'insertAdmission', row: admission(6, 4, { project: 'shop' }) },
  { do: 'insertNotice', row: notice(1, child, id.session(4)) },
  opening(root.id, 1),
  ...[1, 2, 3, 4, 5].map((n): Effect => ({ do: 'insertRun', row: run(n, id.session(n > 3 ? 4 : n)) })),
  { do: 'insertWorkspace', row: workspace(1, { place: 4, isHeld: true }) },
  { do: 'insertWorkspace', row: workspace(2, { place: 9 }) },
  { do: 'insertWorkspace', row: workspace(3) },
  { do: 'insertWorkspace', row: workspace(4, { place: 6 }) },
  { do: 'insertWorkspace', row: workspace(5, { lock: '/there', place: 1 }) },
];

describe.each(adapters)('who is held back, on $name', ({ open }) => {
  let opened: Opened;
  const answer = <Name extends QuestionName>(
    name: Name,
    ...args: Questions[Name]['args']
  ): Promise<Questions[Name]['answer']> => opened.store.read(() => ask(name, ...args));
  const sessionsOf = (found: readonly (Admission | undefined)[]): unknown[] =>
    found.map((row) => row?.sessionId);
  const runsOf = (found: readonly (Workspace | undefined)[]): unknown[] => found.map((row) => row?.runId);
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
    await opened.store.decide(deciding(rows));
  });
  afterEach(() => opened.end());

  it('counts the sessions that have a turn, and names them in the order of their turns', async () => {
    expect(await answer('lanesHeld', 'all', '')).toBe(3);
    expect(await answer('lanesHeld', 'agent', 'demo')).toBe(2);
    expect(await answer('lanesHeld', 'project', 'shop')).toBe(1);
    expect(await answer('lanesHeld', 'project', 'nothing')).toBe(0);
    const holders = await answer('laneHolders', 2);
    expect(holders.map((row) => row.id)).toEqual([id.session(2), id.session(1)]);
    expect((await answer('turnsIn', root.id)).map((row) => row.id)).toEqual([id.turn(1), id.turn(2)]);
    expect(await answer('turnsIn', child.id)).toEqual([]);
  });

  it('answers the line in the order of asking', async () => {
    expect(await answer('admission', id.session(5))).toEqual(
      admission(5, 3, { agent: 'other', calledAt: start + 1 }),
    );
    expect(await answer('admission', id.session(1))).toBeUndefined();
    expect(sessionsOf([await answer('firstInLine')])).toEqual([id.session(4)]);
    expect(await answer('lastInLine')).toBe(5);
    expect(sessionsOf(await answer('lineHeads'))).toEqual([4, 6, 5].map(id.session));
    const next = [
      await answer('nextInLine', 'demo', 'default', 2),
      await answer('nextInLine', 'demo', 'x', 0),
    ];
    expect(sessionsOf(next)).toEqual([id.session(3), undefined]);
  });

  it('forgets who has left the line, and answers nothing of an empty one', async () => {
    await opened.store.decide(deciding([{ do: 'deleteAdmission', id: id.session(4) }]));
    expect(sessionsOf([await answer('firstInLine')])).toEqual([id.session(5)]);
    const rest = [3, 5, 6].map((n): Effect => ({ do: 'deleteAdmission', id: id.session(n) }));
    await opened.store.decide(deciding(rest));
    expect(await answer('firstInLine')).toBeUndefined();
    expect(await answer('lineHeads')).toEqual([]);
    expect(await answer('lastInLine')).toBe(0);
  });

  it('answers the results that are owed to a session in line', async () => {
    expect((await answer('heldBackNotices', root.id)).map((row) => row.id)).toEqual([id.notice(1)]);
    expect(await answer('heldBackNotices', other.id)).toEqual([]);
    await opened.store.decide(deciding([{ do: 'deleteAdmission', id: id.session(4) }]));
    expect(await answer('heldBackNotices', root.id)).toEqual([]);
  });

  it('answers who holds a lock, and who waits for it', async () => {
    expect(runsOf([await answer('lockHolder', '/here'), await answer('lockHolder', '/there')])).toEqual([
      id.run(1),
      undefined,
    ]);
    const next = [await answer('lockNext', '/here', 0), await answer('lockNext', '/here', 6)];
    expect(runsOf(next)).toEqual([id.run(4), id.run(2)]);
    expect(runsOf([await answer('lockNext', '/here', 9)])).toEqual([undefined]);
    expect([await answer('lockLast', '/here'), await answer('lockLast', '/nowhere')]).toEqual([9, 0]);
    expect(runsOf(await answer('lockWaiters', id.session(4)))).toEqual([id.run(4), id.run(5)]);
    expect(await answer('lockWaiters', id.session(1))).toEqual([]);
  });

  it('keeps every field, and patches what is named', async () => {
    const set = { how: 'worktree', lock: null, checkout, left: { what: 'kept', why: 'changes' } } as const;
    await opened.store.decide(
      deciding([
        { do: 'patchAdmission', id: id.session(3), set: { calledAt: start + 9 } },
        { do: 'patchWorkspace', id: id.run(3), set },
      ]),
    );
    const { admissions, workspaces } = await opened.dump();
    expect(admissions.find((row) => row.place === 5)).toEqual(admission(3, 5, { calledAt: start + 9 }));
    expect(workspaces.find((row) => row.runId === id.run(3))).toEqual(workspace(3, set));
  });

  const violations: readonly (readonly [what: string, effect: Effect])[] = [
    ['a session in line twice', { do: 'insertAdmission', row: admission(3, 8) }],
    ['two sessions in one place', { do: 'insertAdmission', row: admission(1, 5) }],
    ['a place before the first', { do: 'insertAdmission', row: admission(1, 0) }],
    ['a session that does not exist', { do: 'insertAdmission', row: admission(99, 9) }],
    ['one who leaves without having come', { do: 'deleteAdmission', id: id.session(1) }],
    ['a patch of nobody in line', { do: 'patchAdmission', id: id.session(1), set: { calledAt: 1 } }],
    ['two workspaces of one run', { do: 'insertWorkspace', row: workspace(1) }],
    ['a workspace of no run', { do: 'insertWorkspace', row: workspace(99) }],
    ['two holders of one lock', { do: 'patchWorkspace', id: id.run(2), set: { isHeld: true } }],
    ['a holder without a place', { do: 'patchWorkspace', id: id.run(1), set: { place: null } }],
    ['two runs in one place', { do: 'patchWorkspace', id: id.run(3), set: { place: 6 } }],
    ['a place in no line', { do: 'patchWorkspace', id: id.run(5), set: { lock: null } }],
    ['a lock of what is shared', { do: 'patchWorkspace', id: id.run(3), set: { how: 'shared' } }],
    [
      'a worktree without a checkout',
      { do: 'patchWorkspace', id: id.run(3), set: { how: 'worktree', lock: null } },
    ],
    ['a checkout of what is none', { do: 'patchWorkspace', id: id.run(3), set: { checkout } }],
  ];
  it.each(violations)('refuses %s, and changes nothing', async (_, violation) => {
    const was = await opened.dump();
    await expect(opened.store.decide(deciding([violation]))).rejects.toThrow();
    expect(await opened.dump()).toEqual(was);
  });
});
