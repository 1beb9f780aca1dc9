import { describe, expect, it } from 'vitest';
import type { RunId, SessionId } from '../base/ids.ts';
import { deciding, occurrence, schedule } from '../store/conformance/rows.ts';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import type { Effect } from './effects.ts';
import type { Run } from './session.ts';

/** The agent works on the message that is due, and ends well or fails. */
async function work(scene: Scene, session: SessionId, how: 'ends' | 'fails' = 'ends'): Promise<void> {
  const native = await scene.runs(session);
  if (how === 'ends') await scene.ends(session, native);
  else await scene.fails(session, native);
}

/** A run of two messages, of which the second failed. */
async function failedRun(scene: Scene): Promise<{ session: SessionId; run: Run }> {
  const session = await scene.session();
  const run = await scene.run(session, planOf(['one', 'two']));
  await scene.advance(run);
  await work(scene, session);
  await scene.advance(run);
  await work(scene, session, 'fails');
  await scene.advance(run);
  return { session, run };
}

function rerun(scene: Scene, id: RunId, from: number) {
  return { rule: 'rerun', command: { now: scene.now, id, from } } as const;
}

function resume(scene: Scene, id: RunId) {
  return { rule: 'resumeRun', command: { now: scene.now, id } } as const;
}

describe('an ended run that is rerun from a message', () => {
  it('goes on as the same run with the next attempts, and keeps what was', async () => {
    const scene = new Scene();
    const { session, run } = await failedRun(scene);
    const failed = scene.runRow(run).currentId!;
    expect(await scene.do(rerun(scene, run.id, 0))).toEqual({ from: 0 });
    expect(scene.runRow(run)).toMatchObject({ state: 'running', outcome: null, endedAt: null, cursor: 0 });
    for (const _ of ['one', 'two']) {
      expect(await scene.advance(run)).toBe('sent');
      expect(scene.row(scene.runRow(run).currentId!).attempt).toBe(2);
      await work(scene, session);
    }
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ state: 'ended', outcome: 'succeeded' });
    expect(scene.row(failed)).toMatchObject({ outcome: 'failed', attempt: 1 });
  });

  it('counts its retries anew', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one'], { retry: { max: 1, backoffMs: 1_000 } }));
    const fail = async (): Promise<string> => {
      await scene.advance(run);
      await work(scene, session, 'fails');
      const came = await scene.advance(run);
      scene.wait(1_000);
      return came;
    };
    expect([await fail(), await fail()]).toEqual(['backsOff', 'ended']);
    await scene.do(rerun(scene, run.id, 0));
    expect([await fail(), await fail()]).toEqual(['backsOff', 'ended']);
    expect(scene.row(scene.runRow(run).currentId!).attempt).toBe(4);
  });

  it('begins once for one request, however often that is repeated', async () => {
    const scene = new Scene();
    const { session, run } = await failedRun(scene);
    const asked = {
      rule: 'rerun',
      command: { now: scene.now, id: run.id, from: 0, request: 'one' },
    } as const;
    await scene.do(asked);
    const { moves } = scene.runRow(run);
    await scene.do(asked);
    expect(scene.runRow(run).moves).toBe(moves);
    await scene.advance(run);
    await work(scene, session, 'fails');
    expect(await scene.advance(run)).toBe('ended');
    await scene.do(asked);
    expect(scene.runRow(run).state).toBe('ended');
    await scene.do({ ...asked, command: { ...asked.command, request: 'another' } });
    expect(scene.runRow(run).state).toBe('running');
  });

  it('is refused while it runs, in a stopped session, and where there is no such message', async () => {
    const scene = new Scene();
    const { session, run } = await failedRun(scene);
    expect(await scene.refused(rerun(scene, run.id, 2))).toBe('INVALID_INPUT');
    expect(await scene.refused(rerun(scene, run.id, -1))).toBe('INVALID_INPUT');
    await scene.do(rerun(scene, run.id, 1));
    expect(await scene.refused(rerun(scene, run.id, 1))).toBe('ILLEGAL_STATE');
    await scene.stop(session);
    await scene.advance(run);
    expect(await scene.refused(rerun(scene, run.id, 1))).toBe('SESSION_STOPPED');
  });

  it('is refused while another run of its schedule is at work', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const nightly = schedule(1);
    const instants = [occurrence(1, nightly.id), occurrence(2, nightly.id)];
    const rows: Effect[] = [
      { do: 'insertSchedule', row: nightly },
      ...instants.map((row): Effect => ({ do: 'insertOccurrence', row })),
    ];
    await scene.model.store.decide(deciding(rows));
    const [one, two] = instants.map(({ id: occurrenceId, instant }) => ({
      scheduleId: nightly.id,
      occurrenceId,
      instant,
    }));
    const first = await scene.run(session, planOf(['one']), one);
    await scene.advance(first);
    await work(scene, session);
    await scene.advance(first);
    const second = await scene.run(session, planOf(['one']), two);
    expect(await scene.refused(rerun(scene, first.id, 0))).toBe('OVERLAP');
    await scene.cancelRun(second.id);
    await scene.advance(second);
    const claimed = occurrence(3, nightly.id, { state: 'claimed' });
    await scene.model.store.decide(deciding([{ do: 'insertOccurrence', row: claimed }]));
    expect(await scene.refused(rerun(scene, first.id, 0))).toBe('OVERLAP');
    const given = { state: 'skipped', reason: 'stopped', decidedAt: scene.now } as const;
    await scene.model.store.decide(deciding([{ do: 'patchOccurrence', id: claimed.id, set: given }]));
    expect(await scene.do(rerun(scene, first.id, 0))).toEqual({ from: 0 });
  });

  it('is refused when nothing is left of its budget', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one']), { budget: { tokens: 10 } });
    await scene.advance(run);
    await scene.ends(session, await scene.runs(session), { usage: { inputTokens: 10 } });
    await scene.advance(run);
    expect(await scene.refused(rerun(scene, run.id, 0))).toBe('ILLEGAL_STATE');
  });
});

describe('an ended run that is resumed', () => {
  it('goes on at the message that failed', async () => {
    const scene = new Scene();
    const { run } = await failedRun(scene);
    expect(await scene.do(resume(scene, run.id))).toEqual({ from: 1 });
    expect(await scene.advance(run)).toBe('sent');
    expect(scene.row(scene.runRow(run).currentId!)).toMatchObject({ runIndex: 1, attempt: 2 });
  });

  it('that was cancelled between two messages goes on at the one that was never sent', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one', 'two']));
    await scene.advance(run);
    await work(scene, session);
    await scene.cancelRun(run.id);
    await scene.advance(run);
    expect(await scene.do(resume(scene, run.id))).toEqual({ from: 1 });
    expect(await scene.advance(run)).toBe('sent');
    expect(scene.runRow(run)).toMatchObject({ cursor: 2, cancelRequested: false });
  });

  it('is refused when it has done what it had to', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one']));
    await scene.advance(run);
    await work(scene, session);
    await scene.advance(run);
    expect(await scene.refused(resume(scene, run.id))).toBe('ILLEGAL_STATE');
  });

  it('while it backs off does not wait any longer', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one'], { retry: { max: 1, backoffMs: 3_600_000 } }));
    await scene.advance(run);
    await work(scene, session, 'fails');
    await scene.advance(run);
    expect(await scene.advance(run)).toBe('notYet');
    await scene.do(resume(scene, run.id));
    expect(await scene.advance(run)).toBe('sent');
  });
});
