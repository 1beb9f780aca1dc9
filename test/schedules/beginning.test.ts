import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ScheduleId, SessionId } from '../../src/base/ids.ts';
import type { CommandEnd } from '../../src/runs/ports.ts';
import { deciding, execution, registering, settling } from '../../src/store/conformance/rows.ts';
import { Stage, after, start } from './stage.ts';
import { day, hour, minute } from './world.ts';

const stage = new Stage();
beforeEach(() => stage.begin());
afterEach(() => stage.world.end());

describe('a precondition', () => {
  it('56: that says no costs no run, and its last words are kept', async () => {
    stage.begin({ precondition: () => ({ exitCode: 1, output: 'looking\nnothing new\n' }) });
    const id = await stage.add('careful', { onlyIf: 'test -n "$(git log)"' });
    await stage.world.runTo(start + hour);
    expect((await stage.world.occurrences(id))[0]).toMatchObject({
      state: 'skipped',
      reason: 'precondition: exit code 1: looking\nnothing new',
    });
    expect(await stage.runsOf(id)).toEqual([]);
    expect(stage.world.forgotten).toHaveLength(1);
    await stage.trigger(id);
    await stage.world.settle();
    expect((await stage.world.story(id)).at(-1)).toBe('01-01 01:30 manual ran');
  });

  it('that could not be started has not said no: people are told', async () => {
    const output = 'the working directory /work does not exist';
    stage.begin({ precondition: () => ({ exitCode: null, isUnstarted: true, output }) });
    const id = await stage.add('careful', { onlyIf: 'true' });
    await stage.world.runTo(start + hour);
    expect((await stage.world.occurrences(id))[0]?.reason).toBe(
      `dispatch: the precondition could not be started: ${output}`,
    );
    expect(stage.told('missed')).toHaveLength(1);
  });

  it('survives a restart: the occurrence is begun once', async () => {
    let say: (end: CommandEnd) => void = () => undefined;
    const asked: string[] = [];
    const hangs = (command: string): Promise<CommandEnd> => {
      asked.push(command);
      return new Promise((resolve) => {
        say = resolve;
      });
    };
    stage.begin({ precondition: hangs });
    const id = await stage.add('careful', { onlyIf: 'true' });
    await stage.world.runTo(start + 30 * minute);
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 claimed']);
    await stage.restart();
    expect(stage.world.forgotten).toEqual([]);
    expect(asked).toEqual(['true', 'true']);
    say({ exitCode: 0, output: '' });
    await stage.world.settle();
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 ran']);
  });

  it('that does not end is ended, and has not said yes', async () => {
    let say: (end: CommandEnd) => void = () => undefined;
    stage.begin({ precondition: () => new Promise((resolve) => (say = resolve)) });
    const id = await stage.add('careful', { onlyIf: 'sleep 1d' });
    await stage.world.runTo(start + 41 * minute);
    expect(stage.world.ended).toHaveLength(1);
    say({ exitCode: null, output: '' });
    await stage.world.settle();
    expect((await stage.world.occurrences(id))[0]?.reason).toBe('precondition: it did not end within 10 min');
  });

  it('is asked again when the schedule was edited meanwhile', async () => {
    const asked: string[] = [];
    const ends: ((end: CommandEnd) => void)[] = [];
    stage.begin({
      precondition: (command) => {
        asked.push(command);
        return new Promise((resolve) => ends.push(resolve));
      },
    });
    const id = await stage.add('careful', { onlyIf: 'old' });
    await stage.world.runTo(start + 30 * minute);
    await stage.edit(id, { onlyIf: 'new' });
    ends[0]?.({ exitCode: 0, output: '' });
    await stage.world.settle();
    expect(asked).toEqual(['old', 'new']);
    // Or the end of the old one would be the answer of the new one.
    expect(stage.world.forgotten).toHaveLength(1);
    ends[1]?.({ exitCode: 1, output: '' });
    await stage.world.settle();
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 skipped precondition']);
  });
});

describe('a schedule that runs after another', () => {
  it('is bound to the same instant, and begins when the run of that one has ended', async () => {
    stage.begin({
      fate: ({ name }) => ({ tookMs: name === 'import' ? 20 * minute : minute, outcome: 'succeeded' }),
    });
    await stage.add('import');
    const id = await stage.add('report', after('import'));
    const last = await stage.add('mail', after('report'));
    await stage.world.runTo(start + hour);
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 after ran']);
    expect(await stage.world.story(last)).toEqual(['01-01 01:00 after ran']);
    const [report] = await stage.runsOf(id);
    const [mail] = await stage.runsOf(last);
    expect(report?.createdAt).toBe(Date.UTC(2026, 0, 1, 1, 20));
    expect(mail?.createdAt).toBe(Date.UTC(2026, 0, 1, 1, 21));
  });

  it('follows a run that somebody asked for, too', async () => {
    const first = await stage.add('import');
    const id = await stage.add('report', after('import'));
    const made = await stage.trigger(first);
    await stage.world.runTo(start + 10 * minute);
    expect(made.ok && made.value.instant).toBeGreaterThan(0);
    expect(await stage.world.occurrences(id)).toMatchObject([
      { state: 'ran', trigger: 'after', instant: made.ok && made.value.instant },
    ]);
  });

  it('says so when the other one failed, was skipped or was missed', async () => {
    const outcomes = new Map([[1, 'failed' as const]]);
    stage.begin({
      fate: ({ instant }) => ({
        tookMs: minute,
        outcome: outcomes.get(new Date(instant ?? 0).getUTCHours()) ?? 'succeeded',
      }),
    });
    const first = await stage.add('import', { catchUp: { windowMs: day, policy: 'none' } });
    const id = await stage.add('report', after('import'));
    const repair = await stage.add('repair', after('import', { status: 'failed' }));
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2, 30));
    await stage.pause(first);
    await stage.world.runTo(Date.UTC(2026, 0, 1, 3, 30));
    await stage.resume(first);
    await stage.away(2 * hour);
    await stage.world.settle();
    expect((await stage.world.occurrences(id)).map((row) => row.reason)).toEqual([
      'dependency: shop/import failed',
      null,
      'dependency: shop/import was skipped',
      'dependency: shop/import was missed',
      'dependency: shop/import was missed',
    ]);
    expect((await stage.world.story(repair))[0]).toBe('01-01 01:00 after ran');
  });

  it('expires at its deadline, which is that of the day that the instant belongs to', async () => {
    stage.begin({
      fate: ({ name }) => ({ tookMs: name === 'import' ? 5 * hour : minute, outcome: 'succeeded' }),
    });
    await stage.add('import', { when: { cron: '0 2 * * *', timezone: 'UTC' } });
    const id = await stage.add('report', after('import', { deadline: '06:00' }));
    await stage.world.runTo(Date.UTC(2026, 0, 1, 6));
    expect((await stage.world.occurrences(id))[0]).toMatchObject({
      state: 'expired',
      reason: 'deadline: 2026-01-01T06:00:00Z has passed',
      until: Date.UTC(2026, 0, 1, 6),
    });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 8));
    expect(await stage.runsOf(id)).toEqual([]);
  });

  it('that does not run after it any more, by an edit, waits for it no longer', async () => {
    stage.begin({
      fate: ({ name }) => ({ tookMs: name === 'import' ? 5 * hour : minute, outcome: 'succeeded' }),
    });
    await stage.add('import');
    await stage.add('fetch', { when: { cron: '15 * * * *', timezone: 'UTC' } });
    const own = await stage.add('own', after('import'));
    const other = await stage.add('other', after('import'));
    await stage.world.runTo(start + 40 * minute);
    await stage.edit(own, { when: { cron: '30 * * * *', timezone: 'UTC' } });
    await stage.edit(other, after('fetch'));
    await stage.world.settle();
    expect(await stage.world.story(own)).toEqual(['01-01 01:00 after skipped edited']);
    expect(await stage.world.story(other)).toEqual(['01-01 01:00 after skipped dependency']);
  });

  it('expires at its deadline also while it waits for a run of its own', async () => {
    stage.begin({
      fate: ({ name }) => ({ tookMs: name === 'report' ? 5 * hour : minute, outcome: 'succeeded' }),
    });
    await stage.add('import');
    const id = await stage.add('report', { ...after('import', { deadline: '02:30' }), overlap: 'queueOne' });
    await stage.trigger(id);
    await stage.world.runTo(Date.UTC(2026, 0, 1, 1, 30));
    expect((await stage.world.story(id)).at(-1)).toBe('01-01 01:00 after waiting overlap');
    await stage.world.runTo(Date.UTC(2026, 0, 1, 2, 40));
    expect((await stage.world.story(id)).slice(1)).toEqual([
      '01-01 01:00 after superseded overlap',
      '01-01 02:00 after expired deadline',
    ]);
  });

  it('whose deadline passes while it is being begun expires, and blocks nothing', async () => {
    let say: (end: CommandEnd) => void = () => undefined;
    stage.begin({ precondition: () => new Promise((resolve) => (say = resolve)) });
    await stage.add('import');
    const id = await stage.add('report', { ...after('import', { deadline: '01:05' }), onlyIf: 'true' });
    await stage.world.runTo(Date.UTC(2026, 0, 1, 1, 6));
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 after claimed']);
    say({ exitCode: 0, output: '' });
    await stage.world.settle();
    expect(await stage.world.story(id)).toEqual(['01-01 01:00 after expired deadline']);
    expect(stage.world.reports).toEqual([]);
    expect(stage.told('missed')).toHaveLength(1);
  });
});

describe('the conversation of a schedule', () => {
  it('is a new one for each run, or the same', async () => {
    const fresh = await stage.add('fresh');
    const keep = await stage.add('keep', { session: { mode: 'keep' } });
    await stage.world.runTo(start + 3 * hour);
    const sessions = async (id: ScheduleId): Promise<number> =>
      new Set((await stage.runsOf(id)).map((run) => run.sessionId)).size;
    expect([await sessions(fresh), await sessions(keep)]).toEqual([3, 1]);
  });

  it('gives way to a new one when it is old, and what has another agent or directory is another one', async () => {
    const id = await stage.add('keep', { session: { mode: 'keep', rotate: { ageMs: 2 * hour } } });
    await stage.world.runTo(start + 4 * hour);
    const ids = (await stage.runsOf(id)).map((run) => run.sessionId);
    expect(ids.map((each) => ids.indexOf(each))).toEqual([0, 0, 2, 2]);
    await stage.edit(id, { session: { mode: 'keep' }, cwd: '/elsewhere' });
    await stage.world.runTo(start + 5 * hour);
    expect((await stage.runsOf(id)).at(-1)?.sessionId).not.toBe(ids[3]);
  });

  it('tells the one that takes its place what its last answer was', async () => {
    const id = await stage.add('keep', { session: { mode: 'keep', rotate: { turns: 1 } } });
    await stage.world.runTo(start + hour);
    const [run] = await stage.runsOf(id);
    if (!run) throw new Error('no run');
    const message = execution(1, null, { kind: 'message', runsIn: run.sessionId });
    await stage.store.decide(
      deciding([
        ...registering(message),
        settling(1, { result: 'All is well with {{this}}.', answerPlace: 1 }),
        { do: 'patchRun', id: run.id, set: { currentId: message.id } },
      ]),
    );
    await stage.world.runTo(start + 2 * hour);
    const next = (await stage.runsOf(id))[1];
    expect(next?.sessionId).not.toBe(run.sessionId);
    expect(next?.plan[0]?.text).toBe(
      'A conversation before this one was ended, since it had 1 turn. Its last answer was:\n\nAll is well with \\{{this}}.\n\ngo',
    );
  });

  it('that its agent has lost gives way to a new one, which is told its last answer', async () => {
    const id = await stage.add('keep', { session: { mode: 'keep' } });
    await stage.world.runTo(start + 2 * hour);
    const [first, lost] = await stage.runsOf(id);
    if (!first || !lost) throw new Error('no runs');
    expect(lost.sessionId).toBe(first.sessionId);
    await stage.store.decide(
      deciding([
        ...registering(execution(1, null, { kind: 'message', runsIn: first.sessionId })),
        settling(1, { result: 'Looked at 3 of 5.', answerPlace: 1 }),
        { do: 'patchRun', id: lost.id, set: { outcome: 'failed', outcomeCode: 'SESSION_GONE' } },
      ]),
    );
    await stage.world.runTo(start + 4 * hour);
    const [next, after] = (await stage.runsOf(id)).slice(2);
    expect(next?.sessionId).not.toBe(first.sessionId);
    expect(after?.sessionId).toBe(next?.sessionId);
    expect(next?.plan[0]?.text).toBe(
      'A conversation before this one was ended, since its agent does not have it any more. Its last answer was:\n\nLooked at 3 of 5.\n\ngo',
    );
  });

  it('that a person stopped stays stopped, and its schedule says so', async () => {
    const id = await stage.add('keep', { session: { mode: 'keep' } });
    await stage.world.runTo(start + hour);
    const sessionId = (await stage.world.schedule(id)).sessionId as SessionId;
    const set = { state: 'stopped' } as const;
    await stage.store.decide(deciding([{ do: 'patchSession', id: sessionId, set }]));
    await stage.world.runTo(start + 2 * hour);
    expect((await stage.world.occurrences(id))[1]?.reason).toBe(
      `session: ${sessionId} was stopped; a message to it starts it again`,
    );
  });
});
