import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../src/ledger/questions.ts';
import { Stage, slow, start } from './stage.ts';
import { World, day, hour, minute, shared } from './world.ts';

const stage = new Stage();
beforeEach(() => stage.begin());
afterEach(() => stage.world.end());

describe('the instants of a schedule', () => {
  it('have one row and one run each, and none of the past', async () => {
    const id = await stage.add('hourly');
    await stage.world.runTo(start + 3 * hour);
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 ran', '01-01 02:00 ran', '01-01 03:00 ran']);
    const rows = await stage.world.occurrences(id);
    expect(new Set(rows.map((row) => row.runId)).size).toBe(3);
    expect(rows[0]?.runId?.slice(4)).toBe(rows[0]?.id.slice(4));
    expect(await stage.runsOf(id)).toMatchObject([
      { scheduleId: id, instant: Date.UTC(2026, 0, 1, 1) },
      {},
      {},
    ]);
  });

  it('49: have one row and one decision although the server restarts across a due time', async () => {
    const id = await stage.add('hourly');
    await stage.world.runTo(start + 29 * minute);
    await stage.world.end();
    stage.clock.advance(minute + 5_000);
    await stage.restart();
    await stage.restart();
    await stage.world.runTo(start + 2 * hour);
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 ran', '01-01 02:00 ran']);
    expect(await stage.runsOf(id)).toHaveLength(2);
  });

  it('50: are caught up by one run after two days, and each that was missed or superseded says so', async () => {
    const id = await stage.add('hourly', { catchUp: { windowMs: 12 * hour, policy: 'latest' } });
    await stage.away(2 * day);
    await stage.world.settle();
    const rows = await stage.world.occurrences(id);
    expect(rows).toHaveLength(48);
    const count = (state: string): number => rows.filter((row) => row.state === state).length;
    expect([count('missed'), count('superseded'), count('ran')]).toEqual([36, 11, 1]);
    expect(rows.at(-1)?.state).toBe('ran');
    expect(rows[0]?.reason).toBe('window: 2 d late');
    expect(rows[40]?.reason).toBe('latest: 2026-01-03T00:00:00Z stands for it');
    expect(await stage.runsOf(id)).toHaveLength(1);
  });

  it('50: are caught up one after the other, oldest first, when all are wanted', async () => {
    const id = await stage.add('hourly', { catchUp: { windowMs: 3 * hour, policy: 'all' } });
    await stage.away(5 * hour);
    expect(await stage.world.story(id)).toEqual([
      '01-01 01:00 missed window',
      '01-01 02:00 missed window',
      '01-01 03:00 ran',
      '01-01 04:00 waiting turn',
      '01-01 05:00 waiting turn',
    ]);
    await stage.world.runTo(stage.clock.now() + 10 * minute);
    const runs = await stage.runsOf(id);
    const begun = runs.toSorted((a, b) => a.createdAt - b.createdAt);
    expect(begun.map((run) => new Date(Number(run.instant)).getUTCHours())).toEqual([3, 4, 5]);
    // One at a time.
    for (const [i, run] of begun.entries())
      expect(run.createdAt).toBeGreaterThanOrEqual(begun[i - 1]?.endedAt ?? 0);
  });

  it('50: are missed when none are to be caught up, and people are told once', async () => {
    const id = await stage.add('hourly', { catchUp: { windowMs: day, policy: 'none' }, notify: ['ops'] });
    await stage.away(3 * hour + 10 * minute);
    expect(await stage.world.story(id)).toEqual([
      '01-01 01:00 missed policy',
      '01-01 02:00 missed policy',
      '01-01 03:00 missed policy',
    ]);
    expect(await stage.runsOf(id)).toEqual([]);
    await stage.restart();
    expect(stage.told('missed')).toMatchObject([{ name: 'hourly', to: ['ops'] }]);
  });

  it('50: that are only a moment late are on time', async () => {
    const id = await stage.add('hourly', { catchUp: { windowMs: day, policy: 'none' } });
    await stage.away(30 * minute + 59_000);
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 ran']);
  });

  it('51: do not run before they come, however often the server looks', async () => {
    const id = await stage.add('daily', { when: { cron: '0 12 * * *', timezone: 'UTC' } });
    for (let i = 0; i < 5; i++) {
      await stage.world.schedules.handle({ kind: 'schedule', target: id, at: 0 });
      await stage.restart();
    }
    expect(await stage.world.story(id)).toEqual([]);
    await stage.world.runTo(Date.UTC(2026, 0, 1, 11, 59, 59, 999));
    expect(await stage.world.story(id)).toEqual([]);
    await stage.world.runTo(Date.UTC(2026, 0, 1, 12));
    expect(await stage.world.story(id)).toEqual(['01-01 12:00 ran']);
  });

  it('52: go on when a server died over a run: what holds them back is the run, which comes to its end', async () => {
    stage.begin({ fate: slow(90 * minute) });
    const id = await stage.add('slow');
    await stage.world.runTo(start + 40 * minute);
    await stage.restart();
    await stage.world.runTo(start + 4 * hour);
    expect(await stage.world.story(id)).toEqual([
      '01-01 01:00 ran',
      '01-01 02:00 skipped overlap',
      '01-01 03:00 ran',
      '01-01 04:00 skipped overlap',
    ]);
    expect((await stage.runsOf(id))[0]).toMatchObject({ state: 'ended', outcome: 'succeeded' });
  });

  it('53: a dispatch that fails is no run, and says why', async () => {
    const id = await stage.add('lost', { agent: 'nobody', notify: ['ops'] });
    await stage.world.runTo(start + hour);
    expect((await stage.world.occurrences(id))[0]).toMatchObject({
      state: 'skipped',
      reason: 'dispatch: no agent "nobody" is configured for shop/lost',
    });
    expect(await stage.runsOf(id)).toEqual([]);
    expect(await stage.store.read(() => ask('lastRunOf', id))).toBeUndefined();
    expect(stage.told('missed')).toHaveLength(1);
  });

  it('53: a dispatch that fails each time is told once, and again when an edit has not mended it', async () => {
    const id = await stage.add('lost', { agent: 'nobody', notify: ['ops'] });
    await stage.world.runTo(start + 5 * hour);
    expect((await stage.world.occurrences(id)).map(({ state }) => state)).toEqual(Array(5).fill('skipped'));
    expect(stage.told('missed')).toHaveLength(1);
    await stage.edit(id, { agent: 'nobody at all', notify: ['ops'] });
    await stage.world.runTo(start + 10 * hour);
    expect(stage.told('missed')).toHaveLength(2);
  });

  it('53: a dispatch that fails again after a run is told again', async () => {
    let isGone = true;
    const message = 'There is no directory /disk.';
    stage.begin({
      prepare: async ({ how, cwd }) =>
        isGone ? { ok: false, code: 'INVALID_WORKSPACE', message, data: {} } : shared(how, cwd),
    });
    await stage.add('unplugged', { notify: ['ops'] });
    for (const [hours, gone] of [
      [2, true],
      [4, false],
      [7, true],
    ] as const) {
      isGone = gone;
      await stage.world.runTo(start + hours * hour);
    }
    expect(stage.told('missed')).toHaveLength(2);
  });

  it('53: so is a directory that cannot be had', async () => {
    const message = 'There is no directory /gone.';
    stage.begin({ prepare: async () => ({ ok: false, code: 'INVALID_WORKSPACE', message, data: {} }) });
    const id = await stage.add('gone');
    await stage.world.runTo(start + hour);
    expect((await stage.world.occurrences(id))[0]?.reason).toBe(`dispatch: ${message}`);
  });

  it('55: become one run although two handlers look at them at once', async () => {
    const id = await stage.add('hourly');
    stage.clock.advance(30 * minute);
    const other = new World(stage.world.parts);
    const both = [stage.world, other].map(({ schedules }) =>
      schedules.handle({ kind: 'schedule', target: id, at: 0 }),
    );
    await Promise.all(both);
    const [row] = await stage.world.occurrences(id);
    const target = row?.id ?? '';
    await Promise.all(
      [stage.world, other].map(({ schedules }) => schedules.handle({ kind: 'occurrence', target, at: 0 })),
    );
    await stage.world.settle();
    await other.end();
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 ran']);
    expect(await stage.runsOf(id)).toHaveLength(1);
  });

  it('61: go on after failures: nothing is paused by itself', async () => {
    stage.begin({ fate: () => ({ tookMs: minute, outcome: 'failed' }) });
    const id = await stage.add('bad');
    await stage.world.runTo(start + 5 * hour);
    expect(await stage.world.story(id)).toHaveLength(5);
    expect(await stage.world.schedule(id)).toMatchObject({ pausedAt: null });
  });

  it('of more than a thousand that were missed get their rows in several commits', async () => {
    const id = await stage.add('often', {
      when: { everyMs: minute, anchor: 0 },
      catchUp: { windowMs: hour, policy: 'latest' },
    });
    await stage.away(2_500 * minute);
    const rows = await stage.world.occurrences(id);
    expect(rows).toHaveLength(2_500);
    expect(rows.filter((row) => row.state === 'ran')).toHaveLength(1);
    expect(rows.filter((row) => row.state === 'missed')).toHaveLength(2_500 - 61);
  });
});

describe('a clock that is set', () => {
  it('back: nothing runs twice, and what was missed by mistake has its chance again', async () => {
    const id = await stage.add('hourly', { catchUp: { windowMs: 2 * hour, policy: 'latest' } });
    await stage.world.runTo(start + hour);
    // Somebody sets the clock a day ahead, and back again.
    stage.clock.jump(day);
    await stage.world.schedules.lookAtAll();
    await stage.world.runTo(stage.clock.now() + 2 * minute);
    const wrong = await stage.world.story(id);
    expect(wrong).toHaveLength(25);
    expect(wrong.at(-1)).toBe('01-02 01:00 ran');
    stage.clock.jump(-day);
    await stage.world.schedules.lookAtAll();
    await stage.world.runTo(Date.UTC(2026, 0, 2, 3, 30));
    const rows = await stage.world.occurrences(id);
    expect(rows.map((row) => row.state)).toEqual(new Array(27).fill('ran'));
    expect(await stage.runsOf(id)).toHaveLength(27);
  });

  it('forward: what it leaps over is caught up as after a sleep', async () => {
    const id = await stage.add('hourly');
    stage.clock.sleep(5 * hour);
    await stage.world.schedules.lookAtAll();
    await stage.world.settle();
    expect((await stage.world.story(id)).map((line) => line.slice(6))).toEqual([
      '01:00 superseded latest',
      '02:00 superseded latest',
      '03:00 superseded latest',
      '04:00 superseded latest',
      '05:00 ran',
    ]);
  });
});
