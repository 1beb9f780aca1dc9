import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import type { QuestionName, Questions } from '../../ledger/questions.ts';
import { ask } from '../../ledger/questions.ts';
import type { Run } from '../../ledger/session.ts';
import type { Page } from '../views.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import {
  deciding,
  execution,
  hourly,
  id,
  occurrence,
  registering,
  run,
  schedule,
  session,
  settling,
  start,
} from './rows.ts';

const [nightly, report] = [id.schedule(1), id.schedule(2)];
const after = { when: { after: { schedule: 'nightly', status: 'any' } } } as const;
const scheduled = (n: number, set: Partial<Run> = {}): Run =>
  run(n, id.session(1), {
    scheduleId: nightly,
    occurrenceId: id.occurrence(n),
    instant: start + n * 3_600_000,
    ...set,
  });
const ended = { state: 'ended', outcome: 'succeeded' } as const;

/** A schedule with occurrences in every state and two runs that have ended, one that depends on it, one that is gone. */
const rows: Effect[] = [
  { do: 'insertSession', row: session(1) },
  { do: 'insertSchedule', row: schedule(1, { name: 'nightly', sessionId: id.session(1) }) },
  {
    do: 'insertSchedule',
    row: schedule(2, {
      name: 'a report',
      origin: 'file',
      definition: { ...hourly, ...after, labels: ['money'] },
      dependsOn: 'default/nightly',
      pausedAt: start,
      pauseReason: 'holidays',
    }),
  },
  { do: 'insertSchedule', row: schedule(3, { name: 'nightly', removedAt: start }) },
  { do: 'insertSchedule', row: schedule(4, { project: 'shop', name: 'nightly', origin: 'agent' }) },
  { do: 'insertSchedule', row: schedule(5, { removedAt: start, dependsOn: 'default/nightly' }) },
  ...[1, 2, 3].flatMap((n): Effect[] => [
    { do: 'insertOccurrence', row: occurrence(n, nightly) },
    { do: 'insertRun', row: scheduled(n, n === 3 ? {} : { ...ended, endedAt: start + 10 - n }) },
    { do: 'patchOccurrence', id: id.occurrence(n), set: ran(n) },
  ]),
  { do: 'insertOccurrence', row: occurrence(6, nightly, { state: 'waiting', reason: 'overlap: x' }) },
  { do: 'insertOccurrence', row: occurrence(5, nightly, { state: 'claimed', trigger: 'manual' }) },
  { do: 'insertOccurrence', row: occurrence(4, nightly) },
  {
    do: 'insertOccurrence',
    row: occurrence(-1, nightly, {
      id: id.occurrence(7),
      state: 'waiting',
      reason: 'turn',
      trigger: 'backfill',
      inTurn: true,
    }),
  },
  {
    do: 'insertOccurrence',
    row: occurrence(8, report, {
      trigger: 'after',
      state: 'expired',
      reason: 'deadline',
      decidedAt: start,
      until: start + 5,
    }),
  },
  { do: 'insertRun', row: run(9, id.session(1)) },
];

function ran(n: number): Partial<Occurrence> {
  return { state: 'ran', runId: id.run(n), decidedAt: start };
}

const patching = (n: number, set: Partial<Occurrence>): Effect => ({
  do: 'patchOccurrence',
  id: id.occurrence(n),
  set,
});
const adding = (set: Partial<Occurrence>): Effect => ({
  do: 'insertOccurrence',
  row: occurrence(20, nightly, set),
});
const violations: readonly (readonly [what: string, effect: Effect])[] = [
  ['a second schedule of one name', { do: 'insertSchedule', row: schedule(9, { name: 'nightly' }) }],
  ['a revision of zero', { do: 'patchSchedule', id: nightly, set: { revision: 0 } }],
  ['a reason for no pause', { do: 'patchSchedule', id: nightly, set: { pauseReason: 'x' } }],
  [
    'a kept session that does not exist',
    { do: 'patchSchedule', id: nightly, set: { sessionId: id.session(9) } },
  ],
  ['a patch of no schedule', { do: 'patchSchedule', id: id.schedule(9), set: { cursor: 1 } }],
  ['an occurrence of no schedule', adding({ scheduleId: id.schedule(9) })],
  ['the same instant twice', adding({ instant: start + 3_600_000 })],
  ['an occurrence that ran without a run', adding({ state: 'ran', decidedAt: start })],
  ['a run of an occurrence that did not run', patching(4, { runId: id.run(9) })],
  ['a run that does not exist', patching(4, { ...ran(99) })],
  ['an end without its instant', patching(4, { state: 'skipped', reason: 'x' })],
  ['an instant of no end', patching(4, { decidedAt: start })],
  ['a skipped one that does not say why', patching(4, { state: 'skipped', decidedAt: start })],
  ['a waiting one that does not say why', patching(4, { state: 'waiting' })],
  ['something that ran and is skipped', patching(1, { state: 'skipped', reason: 'x', runId: null })],
  ['something that ran and is due again', patching(1, { state: 'due', runId: null, decidedAt: null })],
  ['another run of what ran', patching(1, { runId: id.run(9) })],
  ['another instant', patching(4, { instant: start - 1 })],
  ['a patch of no occurrence', patching(99, { state: 'claimed' })],
  [
    'a second run of one occurrence',
    { do: 'insertRun', row: scheduled(10, { occurrenceId: id.occurrence(1) }) },
  ],
  [
    'a run of a schedule without an occurrence',
    { do: 'insertRun', row: scheduled(10, { occurrenceId: null }) },
  ],
  ['a run of an occurrence that does not exist', { do: 'insertRun', row: scheduled(99) }],
];

describe.each(adapters)('schedules on $name', ({ open }) => {
  let opened: Opened;
  const answer = <Name extends QuestionName>(
    name: Name,
    ...args: Questions[Name]['args']
  ): Promise<Questions[Name]['answer']> => opened.store.read(() => ask(name, ...args));
  const idsOf = async (answered: Promise<readonly { readonly id: string }[]>): Promise<string[]> =>
    (await answered).map((row) => row.id);
  const listed = async (page: Promise<Page<{ readonly id: string }>>): Promise<string[]> =>
    (await page).items.map((row) => row.id);
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
    await opened.store.decide(deciding(rows));
  });
  afterEach(() => opened.end());

  it('keeps every field of a schedule and of an occurrence', async () => {
    const dump = await opened.dump();
    expect(dump.schedules[1]).toEqual(
      schedule(2, {
        name: 'a report',
        origin: 'file',
        definition: { ...hourly, ...after, labels: ['money'] },
        dependsOn: 'default/nightly',
        pausedAt: start,
        pauseReason: 'holidays',
      }),
    );
    expect(dump.occurrences[6]).toEqual(
      occurrence(-1, nightly, {
        id: id.occurrence(7),
        state: 'waiting',
        reason: 'turn',
        trigger: 'backfill',
        inTurn: true,
      }),
    );
    expect(dump.occurrences[0]).toEqual({ ...occurrence(1, nightly), ...ran(1) });
    expect(dump.runs[0]).toEqual(scheduled(1, { ...ended, endedAt: start + 9 }));
    const set = { pausedAt: null, pauseReason: null, cursor: start + 1, revision: 2, sessionId: null };
    await opened.store.decide(deciding([{ do: 'patchSchedule', id: report, set }]));
    expect((await opened.dump()).schedules[1]).toMatchObject(set);
  });

  it('refuses what cannot be, and changes nothing', async () => {
    const was = await opened.dump();
    const harmless: Effect = { do: 'patchSchedule', id: report, set: { cursor: 77 } };
    for (const [what, violation] of violations) {
      await expect(opened.store.decide(deciding([harmless, violation])), what).rejects.toThrow();
      expect(await answer('schedule', report), what).toMatchObject({ cursor: start });
    }
    expect(await opened.dump()).toEqual(was);
  });

  it('lets an occurrence that had no run become due again, and a name of what was removed be used again', async () => {
    const set = { state: 'due', reason: null, decidedAt: null } as const;
    await opened.store.decide(
      deciding([
        { do: 'patchOccurrence', id: id.occurrence(8), set },
        { do: 'patchSchedule', id: nightly, set: { removedAt: start } },
        { do: 'insertSchedule', row: schedule(6, { name: 'nightly' }) },
      ]),
    );
    expect((await answer('scheduleNamed', 'default', 'nightly'))?.id).toBe(id.schedule(6));
    expect(await answer('occurrence', id.occurrence(8))).toMatchObject(set);
  });

  it('finds schedules by id, by name, by project, and by what they run after', async () => {
    expect((await answer('schedule', nightly))?.name).toBe('nightly');
    expect((await answer('scheduleNamed', 'default', 'nightly'))?.id).toBe(nightly);
    expect((await answer('scheduleNamed', 'shop', 'nightly'))?.id).toBe(id.schedule(4));
    expect(await answer('scheduleNamed', 'shop', 'a report')).toBeUndefined();
    expect(await idsOf(answer('schedulesOf', 'default'))).toEqual([report, nightly]);
    expect(await idsOf(answer('dependents', 'default/nightly'))).toEqual([report]);
    expect(await answer('dependents', 'shop/nightly')).toEqual([]);
  });

  it('finds occurrences by id, by instant, and what is open in the order of instants', async () => {
    expect((await answer('occurrence', id.occurrence(1)))?.instant).toBe(start + 3_600_000);
    expect((await answer('occurrenceAt', nightly, start + 4 * 3_600_000))?.id).toBe(id.occurrence(4));
    expect(await answer('occurrenceAt', report, start + 4 * 3_600_000)).toBeUndefined();
    expect(await idsOf(answer('openOccurrences', nightly, false, 9))).toEqual([4, 5, 6].map(id.occurrence));
    expect(await idsOf(answer('openOccurrences', nightly, false, 1))).toEqual([id.occurrence(4)]);
    expect(await idsOf(answer('openOccurrences', nightly, true, 9))).toEqual([id.occurrence(7)]);
    expect(await answer('openOccurrences', report, false, 9)).toEqual([]);
  });

  it('finds the live runs of a schedule, and the one that ended last', async () => {
    expect(await idsOf(answer('liveRunsOf', nightly))).toEqual([id.run(3)]);
    expect((await answer('lastRunOf', nightly))?.id).toBe(id.run(1));
    expect(await answer('lastRunOf', report)).toBeUndefined();
  });

  it('counts the turns and the tokens of a conversation', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, usd: 1 };
    const here = { runsIn: id.session(1) };
    await opened.store.decide(
      deciding([
        ...registering(execution(1, null, { kind: 'message', ...here, usage })),
        ...registering(execution(2, execution(1), { kind: 'continuation', ...here, usage })),
        ...registering(execution(3, execution(1), { kind: 'task', ...here, usage })),
        ...registering(execution(4, null, { kind: 'message', ...here })),
        settling(4, { usage: { outputTokens: 2 } }),
      ]),
    );
    expect(await answer('sessionTotals', id.session(1))).toEqual({ turns: 3, tokens: 32 });
    expect(await answer('sessionTotals', id.session(2))).toEqual({ turns: 0, tokens: 0 });
  });

  it('lists schedules by project and name, filtered by these, by state, origin and label', async () => {
    const { schedules } = opened.store.views;
    const numbers = (...of: number[]): string[] => of.map(id.schedule);
    expect(await listed(schedules({ limit: 9 }))).toEqual(numbers(2, 1, 4));
    expect(await listed(schedules({ project: 'default', limit: 9 }))).toEqual(numbers(2, 1));
    expect(await listed(schedules({ name: 'nightly', limit: 9 }))).toEqual(numbers(1, 4));
    expect(await listed(schedules({ state: 'active', limit: 9 }))).toEqual(numbers(1, 4));
    expect(await listed(schedules({ state: 'paused', limit: 9 }))).toEqual(numbers(2));
    expect(await listed(schedules({ state: 'removed', limit: 9 }))).toEqual(numbers(3, 5));
    expect(await listed(schedules({ origin: 'agent', limit: 9 }))).toEqual(numbers(4));
    expect(await listed(schedules({ label: 'money', limit: 9 }))).toEqual(numbers(2));
    const first = await schedules({ limit: 2 });
    expect([first.items.length, await listed(schedules({ limit: 2, cursor: first.next }))]).toEqual([
      2,
      numbers(4),
    ]);
  });

  it('lists occurrences from the latest instant back, page by page, and the runs of a schedule', async () => {
    const { occurrences, runs } = opened.store.views;
    const numbers = (...of: number[]): string[] => of.map(id.occurrence);
    expect(await listed(occurrences({ scheduleId: nightly, limit: 9 }))).toEqual(
      numbers(6, 5, 4, 3, 2, 1, 7),
    );
    const page = await occurrences({ scheduleId: nightly, limit: 3 });
    expect(await listed(occurrences({ scheduleId: nightly, limit: 9, cursor: page.next }))).toEqual(
      numbers(3, 2, 1, 7),
    );
    expect(await listed(occurrences({ scheduleId: nightly, state: 'ran', limit: 2 }))).toEqual(numbers(3, 2));
    expect(await listed(occurrences({ scheduleId: report, limit: 9 }))).toEqual(numbers(8));
    expect(await listed(runs({ scheduleId: nightly, limit: 9 }))).toEqual([3, 2, 1].map(id.run));
    expect(await listed(runs({ scheduleId: nightly, state: 'running', limit: 9 }))).toEqual([id.run(3)]);
  });

  it('resolves prefixes, and knows what was being begun', async () => {
    expect(await opened.store.views.resolvePrefix('schedule', 'sch_', 9)).toHaveLength(5);
    expect(await opened.store.views.resolvePrefix('occurrence', id.occurrence(8), 9)).toHaveLength(1);
    expect(await opened.store.recovery.schedules()).toEqual([1, 2, 4].map(id.schedule));
    expect(await idsOf(opened.store.recovery.claimedOccurrences())).toEqual([id.occurrence(5)]);
  });
});
