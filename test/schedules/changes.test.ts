import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stop } from '../../src/schedules/stop.ts';
import { Stage, after, slow, start } from './stage.ts';
import { day, hour, minute, says } from './world.ts';

const stage = new Stage();
beforeEach(() => stage.begin());
afterEach(() => stage.world.end());

describe('a schedule that is changed', () => {
  it('56: while it is paused each instant says so, and none of them is caught up', async () => {
    const id = await stage.add('hourly');
    await stage.world.runTo(start + hour);
    await stage.pause(id, 'holidays');
    await stage.world.runTo(start + 3 * hour);
    await stage.resume(id);
    await stage.world.runTo(start + 4 * hour);
    expect(await stage.world.story(id)).toEqual([
      '01-01 01:00 ran',
      '01-01 02:00 skipped paused',
      '01-01 03:00 skipped paused',
      '01-01 04:00 ran',
    ]);
    expect((await stage.world.occurrences(id))[1]?.reason).toBe('paused: holidays');
  });

  it('pausing or resuming late decides what had come by what held then', async () => {
    const id = await stage.add('hourly');
    await stage.pass(2 * hour);
    await stage.pause(id);
    stage.clock.advance(2 * hour);
    await stage.resume(id);
    await stage.world.settle();
    expect((await stage.world.story(id)).map((line) => line.slice(6))).toEqual([
      '01:00 superseded latest',
      '02:00 ran',
      '03:00 skipped paused',
      '04:00 skipped paused',
    ]);
  });

  it('an edit changes what comes, not what was', async () => {
    const id = await stage.add('hourly');
    await stage.pass(2 * hour);
    await stage.edit(id, { when: { cron: '30 * * * *', timezone: 'UTC' } });
    await stage.world.runTo(stage.clock.now() + 2 * hour);
    expect((await stage.world.story(id)).map((line) => line.slice(6))).toEqual([
      '01:00 superseded latest',
      '02:00 ran',
      '03:30 ran',
      '04:30 ran',
    ]);
    expect(await stage.world.schedule(id)).toMatchObject({ revision: 2 });
    expect((await stage.edit(id, { when: { cron: '30 * * * *', timezone: 'UTC' } })).ok).toBe(true);
    expect(await stage.world.schedule(id)).toMatchObject({ revision: 2 });
  });

  it('57: what waits runs by what it says now', async () => {
    stage.begin({ fate: slow(90 * minute) });
    const id = await stage.add('slow', { overlap: 'queueOne' });
    await stage.world.runTo(start + 2 * hour - 1);
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2));
    expect((await stage.world.story(id)).at(-1)).toBe('01-01 02:00 waiting overlap');
    const messages = says().messages.map((message) => ({ ...message, text: 'the new words' }));
    await stage.edit(id, { overlap: 'queueOne', messages });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2, 40));
    const [first, second] = await stage.runsOf(id);
    expect([first?.plan[0]?.text, second?.plan[0]?.text]).toEqual(['go', 'the new words']);
    expect((await stage.world.occurrences(id))[1]).toMatchObject({ state: 'ran', revision: 2 });
  });

  it('57: what waits is skipped when it is paused or removed meanwhile', async () => {
    stage.begin({ fate: slow(90 * minute) });
    const paused = await stage.add('paused', { overlap: 'queueOne' });
    const removed = await stage.add('removed', { overlap: 'queueOne' });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2, 10));
    await stage.pause(paused);
    await stage.remove(removed);
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2, 40));
    expect(await stage.world.story(paused)).toEqual(['01-01 01:00 ran', '01-01 02:00 skipped paused']);
    expect(await stage.world.story(removed)).toEqual(['01-01 01:00 ran', '01-01 02:00 skipped removed']);
    // What was at work went on.
    expect(await stage.runsOf(removed)).toMatchObject([{ outcome: 'succeeded' }]);
    await stage.world.runTo(Date.UTC(2026, 0, 1, 5));
    expect(await stage.world.story(removed)).toHaveLength(2);
  });

  it('a time that has passed, and a circle, are refused', async () => {
    const past = await stage.create('past', { when: { at: '2026-01-01T00:00', timezone: 'UTC' } });
    expect(past).toMatchObject({ ok: false, code: 'INVALID_INPUT' });
    const first = await stage.add('first');
    await stage.add('second', after('first'));
    const nowhere = await stage.create('third', after('nowhere'));
    expect(nowhere).toMatchObject({ ok: false, code: 'INVALID_INPUT' });
    const circle = await stage.edit(first, after('second'));
    expect(circle).toMatchObject({ ok: false, code: 'INVALID_INPUT' });
    expect(await stage.remove(first)).toMatchObject({ ok: false, code: 'ILLEGAL_STATE' });
  });

  it('comes once when it says once', async () => {
    const id = await stage.add('once', { when: { at: '2026-01-02T09:00', timezone: 'Europe/Berlin' } });
    await stage.world.runTo(start + 5 * day);
    expect(await stage.world.story(id)).toEqual(['01-02 08:00 ran']);
  });
});

describe('an instant that comes while a run is at work', () => {
  it('56: is skipped, and says which run', async () => {
    stage.begin({ fate: slow(90 * minute) });
    const id = await stage.add('slow');
    await stage.world.runTo(Date.UTC(2026, 0, 1, 3));
    expect(await stage.world.story(id)).toEqual([
      '01-01 01:00 ran',
      '01-01 02:00 skipped overlap',
      '01-01 03:00 ran',
    ]);
    const [run] = await stage.runsOf(id);
    expect((await stage.world.occurrences(id))[1]?.reason).toBe(`overlap: ${run?.id} is still at work`);
  });

  it('waits alone when one may wait: the newer takes the place of the older', async () => {
    stage.begin({ fate: slow(3.5 * hour) });
    const id = await stage.add('slow', { overlap: 'queueOne' });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 5));
    expect(await stage.world.story(id)).toEqual([
      '01-01 01:00 ran',
      '01-01 02:00 superseded overlap',
      '01-01 03:00 superseded overlap',
      '01-01 04:00 ran',
      '01-01 05:00 waiting overlap',
    ]);
  });

  it('ends the other run and goes on when that has ended', async () => {
    stage.begin({ fate: slow(90 * minute) });
    const id = await stage.add('slow', { overlap: 'cancelOther' });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2));
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 ran', '01-01 02:00 ran']);
    expect(await stage.runsOf(id)).toMatchObject([{ outcome: 'cancelled' }, { state: 'running' }]);
  });

  it('goes beside it when that is allowed', async () => {
    stage.begin({ fate: slow(90 * minute) });
    const id = await stage.add('slow', { overlap: 'allow' });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2));
    expect(await stage.runsOf(id)).toMatchObject([{ state: 'running' }, { state: 'running' }]);
  });
});

describe('a trigger', () => {
  it('works while the schedule is paused, is an occurrence of its own, and moves no cursor', async () => {
    const id = await stage.add('hourly');
    await stage.pause(id);
    const { cursor } = await stage.world.schedule(id);
    const made = await stage.trigger(id);
    expect(made).toMatchObject({ ok: true, value: { trigger: 'manual', state: 'due' } });
    await stage.world.settle();
    expect(await stage.world.schedule(id)).toMatchObject({ cursor });
    await stage.world.runTo(start + hour);
    expect(await stage.world.story(id)).toEqual(['01-01 00:30 manual ran', '01-01 01:00 skipped paused']);
  });

  it('at the instant of the rule takes the place of neither', async () => {
    const id = await stage.add('hourly', { overlap: 'allow' });
    await stage.world.runTo(start + 30 * minute - 1);
    stage.clock.advance(1);
    await stage.trigger(id);
    await stage.trigger(id);
    await stage.world.settle();
    const rows = await stage.world.occurrences(id);
    expect(rows.map((row) => [row.trigger, row.state])).toEqual([
      ['time', 'ran'],
      ['manual', 'ran'],
      ['manual', 'ran'],
    ]);
  });

  it('is refused while a run is at work, or waits, as the policy says', async () => {
    stage.begin({ fate: slow(90 * minute) });
    const skips = await stage.add('skips');
    const queues = await stage.add('queues', { overlap: 'queueOne' });
    await stage.world.runTo(start + hour);
    const [run] = await stage.runsOf(skips);
    const refused = await stage.trigger(skips);
    expect(refused).toMatchObject({ ok: false, code: 'OVERLAP', data: { runId: run?.id } });
    expect(await stage.world.story(skips)).toHaveLength(1);
    expect(await stage.trigger(queues)).toMatchObject({ ok: true, value: { state: 'waiting' } });
    await stage.world.runTo(start + 2 * hour + minute);
    expect((await stage.world.story(queues)).filter((line) => line.includes('manual'))).toEqual([
      '01-01 01:30 manual superseded overlap',
    ]);
  });
});

describe('a backfill', () => {
  it('runs what did not run, oldest first and one at a time, also before the schedule was there', async () => {
    const id = await stage.add('hourly', { catchUp: { windowMs: 2 * hour, policy: 'none' } });
    await stage.away(3 * hour);
    await stage.world.runTo(Date.UTC(2026, 0, 1, 5, 10));
    const from = Date.UTC(2025, 11, 31, 23);
    const to = Date.UTC(2026, 0, 1, 5);
    const dry = await stage.backfill(id, from, to, true);
    expect(dry).toMatchObject({
      value: {
        left: 1,
        due: [{ was: null }, { was: null }, { was: 'missed' }, { was: 'missed' }, { was: 'missed' }],
      },
    });
    expect(await stage.world.story(id)).toHaveLength(5);
    await stage.backfill(id, from, to);
    await stage.world.runTo(stage.clock.now() + 10 * minute);
    expect((await stage.world.story(id)).map((line) => line.slice(6))).toEqual([
      '23:00 backfill ran',
      '00:00 backfill ran',
      '01:00 backfill ran',
      '02:00 backfill ran',
      '03:00 backfill ran',
      '04:00 ran',
      '05:00 ran',
    ]);
    const begun = (await stage.runsOf(id)).toSorted((a, b) => a.createdAt - b.createdAt).slice(2);
    for (const [i, run] of begun.entries())
      expect(run.createdAt).toBeGreaterThanOrEqual(begun[i - 1]?.endedAt ?? 0);
  });

  it('of what is older waits for the one that is being begun', async () => {
    const prepared: (() => void)[] = [];
    stage.begin({
      prepare: ({ how, cwd }) =>
        new Promise((resolve) => {
          const workspace = { how, from: cwd, path: cwd, lock: null, checkout: null };
          prepared.push(() => resolve({ ok: true, workspace }));
        }),
    });
    const id = await stage.add('yearly', { when: { cron: '0 0 1 1 *', timezone: 'UTC' } });
    const backfill = async (year: number): Promise<void> => {
      await stage.backfill(id, Date.UTC(year, 0, 1), Date.UTC(year, 0, 2));
      await stage.world.settle();
    };
    await backfill(2025);
    await backfill(2024);
    expect(await stage.world.story(id)).toEqual([
      '01-01 00:00 backfill waiting turn',
      '01-01 00:00 backfill claimed',
    ]);
    for (let begun = 0; begun < 2; begun++) {
      prepared[begun]?.();
      await stage.world.runTo(stage.clock.now() + 5 * minute);
    }
    expect((await stage.world.occurrences(id)).map(({ state }) => state)).toEqual(['ran', 'ran']);
  });

  it('is no way into the future, and has an end', async () => {
    const id = await stage.add('often', { when: { everyMs: 1_000, anchor: 0 } });
    expect(await stage.backfill(id, start, start + hour)).toMatchObject({ code: 'ILLEGAL_STATE' });
    expect(await stage.backfill(id, start - day, start)).toMatchObject({ code: 'INVALID_INPUT' });
  });
});

describe('stopping a schedule', () => {
  it('gives up what waits and names the runs that are to end; the next instant comes as ever', async () => {
    stage.begin({ fate: slow(90 * minute) });
    const id = await stage.add('slow', { overlap: 'queueOne' });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2, 10));
    const stopped = await stage.store.decide(() => stop({ now: stage.clock.now(), id }));
    const [run] = await stage.runsOf(id);
    expect(stopped).toMatchObject({
      value: { runs: [run?.id], instants: [Date.UTC(2026, 0, 1, 2)], isDone: true },
    });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 3));
    expect(await stage.world.story(id)).toEqual([
      '01-01 01:00 ran',
      '01-01 02:00 skipped stopped',
      '01-01 03:00 ran',
    ]);
  });
});
