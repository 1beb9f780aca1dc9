import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import { deciding, occurrence, schedule } from '../store/conformance/rows.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { Draft } from './decision.ts';
import { noteDisk } from './disk.ts';
import type { Waiting } from './execution.ts';
import type { Notification } from './notification.ts';
import { owe } from './notifying.ts';
import { answerAll } from './questions.ts';
import type { Run } from './session.ts';
import { newRun } from './session.ts';

function told(scene: Scene): readonly Notification[] {
  return scene.model.state.snapshot.notifications;
}

/** A run of the one schedule, whose definition names these. */
async function scheduled(
  scene: Scene,
  sessionId: SessionId,
  notify: readonly string[],
  plan = planOf(['one']),
): Promise<Run> {
  const nth = scene.model.state.snapshot.occurrences.length + 1;
  const { definition } = schedule(1);
  const row = schedule(1, { definition: { ...definition, notify } });
  const at = occurrence(nth, row.id, { instant: scene.now });
  const about = { project: 'default', name: 'nightly', sessionId, ownerId: null, plan, createdAt: scene.now };
  const ofSchedule = { scheduleId: row.id, occurrenceId: at.id, instant: at.instant };
  const run = newRun({ id: scene.model.ids.make('run'), ...about, ...ofSchedule });
  await scene.model.store.decide(
    deciding([
      nth === 1
        ? { do: 'insertSchedule', row }
        : { do: 'patchSchedule', id: row.id, set: { definition: row.definition } },
      { do: 'insertOccurrence', row: at },
      { do: 'insertRun', row: run },
    ]),
  );
  return run;
}

function waits(scene: Scene, sessionId: SessionId, waiting: Waiting | null): Promise<boolean> {
  return scene.do({ rule: 'agentWaits', command: { now: scene.now, sessionId, waiting } });
}

describe('a run that fails', () => {
  it('owes the news to those that its schedule names, in the transaction that ends it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scheduled(scene, session, ['ops'], planOf(['one', 'two']));
    await scene.advance(run, 0);
    await scene.fails(session, await scene.runs(session), { message: 'no such file' });
    expect(told(scene)).toEqual([]);
    await scene.advance(run);
    const { currentId } = scene.runRow(run);
    expect(told(scene)).toMatchObject([
      {
        id: `failed:${run.id}:${currentId}`,
        name: 'nightly',
        code: 'AGENT_FAILED',
        text: 'no such file',
        runId: run.id,
        rootId: currentId,
        to: ['ops'],
        state: 'owed',
      },
    ]);
    expect(scene.model.state.wakes.get(`notification:failed:${run.id}:${currentId}`)?.at).toBe(0);
  });

  it('owes it to whoever hears of everything when nobody named anybody', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one']));
    await scene.advance(run);
    await scene.fails(session, await scene.runs(session));
    await scene.advance(run);
    expect(told(scene)).toMatchObject([{ to: null }]);
  });

  it('owes nothing when its schedule names nobody, but says so', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scheduled(scene, session, []);
    await scene.advance(run, 0);
    await scene.fails(session, await scene.runs(session));
    await scene.advance(run);
    expect(told(scene)).toMatchObject([{ to: [], state: 'addressed' }]);
    expect([...scene.model.state.wakes.keys()].filter((key) => key.startsWith('notification'))).toEqual([]);
  });

  it('tells nobody what a person ended, nor what went well', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const [good, ended] = [await scene.run(session, planOf(['1'])), await scene.run(session, planOf(['2']))];
    await scene.advance(good);
    await scene.ends(session, await scene.runs(session));
    await scene.advance(good);
    await scene.cancelRun(ended.id);
    await scene.advance(ended);
    expect([scene.runRow(good).outcome, scene.runRow(ended).outcome]).toEqual(['succeeded', 'cancelled']);
    expect(told(scene)).toEqual([]);
  });

  it('of a background agent tells its parent and nobody else', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['one']));
    await scene.advance(agent.run);
    await scene.fails(agent.sessionId, await scene.runs(agent.sessionId));
    expect(await scene.advance(agent.run)).toBe('ended');
    expect(told(scene)).toEqual([]);
  });
});

describe('a schedule that has failed', () => {
  it('has recovered with its first run that ends well, and with no other', async () => {
    const scene = new Scene();
    const session = await scene.session();
    for (const how of ['well', 'ill', 'cancelled', 'well', 'well', 'ill'] as const) {
      const run = await scheduled(scene, session, ['ops']);
      await scene.advance(run, 0);
      if (how === 'cancelled') await scene.cancelRun(run.id);
      else if (how === 'ill') await scene.fails(session, await scene.runs(session));
      else await scene.ends(session, await scene.runs(session));
      expect(await scene.advance(run)).toBe('ended');
    }
    expect(told(scene).map(({ transition }) => transition)).toEqual(['failed', 'recovered', 'failed']);
  });
});

describe('a clock that was set back', () => {
  it('makes nobody hear twice that a schedule has recovered', async () => {
    const scene = new Scene();
    const session = await scene.session();
    for (const how of ['ill', 'well', 'well', 'ill', 'well'] as const) {
      const run = await scheduled(scene, session, ['ops']);
      await scene.advance(run, 0);
      if (how === 'ill') await scene.fails(session, await scene.runs(session));
      else await scene.ends(session, await scene.runs(session));
      if (how === 'ill') scene.model.clock.jump(3_600_000);
      expect(await scene.advance(run)).toBe('ended');
      if (how === 'ill') scene.model.clock.jump(-3_600_000);
    }
    const transitions = told(scene).map(({ transition }) => transition);
    expect(transitions.sort()).toEqual(['failed', 'failed', 'recovered', 'recovered']);
  });

  it('makes nobody hear twice that the disk has room again', async () => {
    const scene = new Scene();
    const look = async (now: number, freeBytes: number): Promise<boolean> => {
      const seen = await scene.model.store.decide(() => noteDisk({ now, freeBytes, lowBytes: 1_000 }));
      return seen.ok && seen.value;
    };
    const isLow = [await look(90_000, 10), await look(1_000, 9_000), await look(2_000, 9_000)];
    isLow.push(await look(3_000, 10), await look(4_000, 10));
    expect(isLow).toEqual([true, false, false, true, true]);
    const rows = scene.model.store.snapshot().notifications;
    expect(rows.map(({ transition }) => transition).sort()).toEqual(['diskLow', 'diskLow', 'diskOk']);
  });
});

describe('what waits for a person', () => {
  it('is told once for each question, with who is named for its run', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scheduled(scene, session, ['ops']);
    await scene.advance(run, 0);
    await scene.runs(session);
    const question = { for: 'input', since: scene.now, questionId: 'q 1\r\n', text: 'Delete it?' } as const;
    await waits(scene, session, question);
    await waits(scene, session, null);
    await waits(scene, session, { ...question, since: scene.now });
    await waits(scene, session, null);
    await waits(scene, session, { ...question, questionId: 'q2' });
    expect(told(scene)).toMatchObject([
      { transition: 'waiting', code: 'INPUT', text: 'Delete it?', to: ['ops'], runId: run.id },
      { transition: 'waiting', code: 'INPUT', to: ['ops'] },
    ]);
    for (const { subject } of told(scene)) expect(subject).toMatch(/^trn_\w+:input:[\w-]+$/);
  });

  it('is an expired sign-in, once for all sessions of the agent', async () => {
    const scene = new Scene();
    const [one, two] = [await scene.session(), await scene.session()];
    const [first, second] = [await scene.running(one), await scene.running(two)];
    await scene.fails(one, first.native, { kind: 'login', message: 'sign in' });
    await scene.fails(two, second.native, { kind: 'login', message: 'sign in' });
    expect(told(scene)).toMatchObject([{ transition: 'waiting', code: 'SIGNED_OUT', sessionId: one }]);
  });

  it('is a usage limit whose end nobody knows, and not one that ends by itself', async () => {
    const scene = new Scene();
    const [one, two] = [await scene.session(), await scene.session('other')];
    const [first, second] = [await scene.running(one), await scene.running(two)];
    await scene.fails(one, first.native, { kind: 'capacity', resetsAt: scene.now + 60_000 });
    expect(told(scene)).toEqual([]);
    await scene.fails(two, second.native, { kind: 'capacity' });
    expect(told(scene)).toMatchObject([{ transition: 'waiting', code: 'CAPACITY', sessionId: two }]);
  });
});

describe('other news', () => {
  it('is late activity, for its own sake', async () => {
    const scene = new Scene();
    const session = await scene.session();
    await scene.begins(session);
    const { id } = scene.only('late');
    expect(told(scene)).toMatchObject([
      { id: `lateActivity:${id}`, rootId: id, sessionId: session, project: 'default', to: null },
    ]);
  });

  it('is a result that could not be delivered', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const child = await scene.launch(session, native);
    await scene.ends(session, native);
    await scene.settle(child);
    for (let i = 0; i < 3; i++) {
      await scene.fails(session, await scene.runs(session));
      scene.wait(3_600_000);
    }
    expect(scene.notice(child)).toMatchObject({ state: 'waived', reason: 'undeliverable' });
    expect(told(scene)).toMatchObject([
      { id: `undeliverable:${scene.notice(child).id}`, code: 'NOTICE_UNDELIVERABLE', to: null },
    ]);
  });

  it('is owed once, however often one decision asks for it, and bounded', () => {
    const draft = new Draft(5);
    const owed = { transition: 'missed', subject: 'occ_1', text: '🦊'.repeat(5_000), to: null } as const;
    for (let i = 0; i < 3; i++) answerAll(owe(draft, owed), () => undefined);
    const done = draft.done(null);
    const rows = done.ok ? done.effects.flatMap((e) => (e.do === 'insertNotification' ? [e.row] : [])) : [];
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text?.length).toBeLessThanOrEqual(2_000);
    expect(rows[0]?.text).not.toMatch(/\p{Surrogate}/u);
    expect(rows[0]?.runId).toBe(null satisfies RunId | null);
  });
});
