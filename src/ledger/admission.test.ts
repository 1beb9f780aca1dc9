import { describe, expect, it } from 'vitest';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { planOf, Scene } from '../../test/ledger/scene.ts';

const hour = 60 * 60_000;

/** The instant at which a wake-up is owed. */
function wokenAt(scene: Scene, key: string): number | undefined {
  return scene.model.state.wakes.get(key)?.at;
}

/** The server handles the wake-up of the line, and then those whom it called look for their lanes. */
async function called(scene: Scene): Promise<SessionId[]> {
  await scene.limit(scene.model.limits);
  const waiting = [...scene.model.state.admissions.values()].filter((row) => row.calledAt !== null);
  return waiting.map((row) => row.sessionId);
}

function isDue(scene: Scene, id: ExecutionId): Promise<boolean> {
  return scene.do({ rule: 'nextDeadline', command: { now: scene.now, id } });
}

/** With one slot: a message that runs, and one in another session that waits. */
async function oneWaits(scene: Scene) {
  await scene.limit({ turns: 1 });
  const [first, second] = [await scene.session(), await scene.session()];
  const runs = await scene.running(first);
  const waits = await scene.message(second);
  await scene.lane(second);
  return { first, second, runs, waits };
}

describe('a message for which there is no turn slot', () => {
  it('waits for one, and says who has them', async () => {
    const scene = new Scene();
    const { first, runs, waits } = await oneWaits(scene);
    const name = scene.row(runs.id).name;
    const text = `1 of 1 turns are running: ${first} (${name})`;
    expect(scene.row(waits).waiting).toMatchObject({ for: 'slot', text });
    expect(scene.why(waits)).toMatchObject([{ why: 'waiting', evidence: `waits for slot: ${text}` }]);
  });

  it('is called when a turn ends, and has a clock that began with its lane', async () => {
    const scene = new Scene();
    const { first, second, runs, waits } = await oneWaits(scene);
    scene.wait(10 * hour);
    await scene.ends(first, runs.native);
    expect(wokenAt(scene, 'slot:line')).toBe(0);
    expect(await called(scene)).toEqual([second]);
    expect((await scene.lane(second))?.cause).toBe('message');
    expect(scene.row(waits)).toMatchObject({ state: 'running', waiting: null });
    expect(scene.row(waits).deadlineAt).toBeGreaterThan(scene.now + 3 * hour);
  });

  it('leaves the line when it is cancelled, and the next is called', async () => {
    const scene = new Scene();
    const { first, second, runs, waits } = await oneWaits(scene);
    const third = await scene.session();
    await scene.message(third);
    await scene.lane(third);
    await scene.ends(first, runs.native);
    await called(scene);
    await scene.cancel(waits);
    expect(await scene.lane(second)).toBeUndefined();
    expect(wokenAt(scene, 'slot:line')).toBe(0);
    expect(await called(scene)).toEqual([third]);
  });

  it('is called when the limits are raised', async () => {
    const scene = new Scene();
    const { second } = await oneWaits(scene);
    expect(await scene.limit({ turns: 2 })).toBe(1);
    expect(await scene.lane(second)).toBeDefined();
  });
});

describe('the line', () => {
  it('lets nobody in before those who asked earlier', async () => {
    const scene = new Scene();
    const { first, second, runs } = await oneWaits(scene);
    const third = await scene.session();
    await scene.message(third);
    await scene.ends(first, runs.native);
    expect(await scene.lane(third)).toBeUndefined();
    expect(await called(scene)).toEqual([second]);
    expect(await scene.lane(second)).toBeDefined();
  });

  it('holds back nobody of another agent because of one whose agent is busy', async () => {
    const scene = new Scene();
    await scene.limit({ turns: 3, perAgent: 1 });
    const [one, other, foreign] = [
      await scene.session(),
      await scene.session(),
      await scene.session('other'),
    ];
    await scene.running(one);
    const waits = await scene.message(other);
    expect(await scene.lane(other)).toBeUndefined();
    expect(scene.row(waits).waiting?.text).toMatch(/^1 of 1 turns of agent demo are running: ses_/);
    await scene.message(foreign);
    expect(await scene.lane(foreign)).toBeDefined();
  });

  it('counts what an agent begins by itself, and does not stop it', async () => {
    const scene = new Scene();
    await scene.limit({ turns: 1 });
    const [one, other] = [await scene.session(), await scene.session()];
    await scene.running(one);
    await scene.begins(other);
    const third = await scene.session();
    await scene.message(third);
    expect(await scene.lane(third)).toBeUndefined();
  });

  it('keeps a slot for whoever was called, but not for ever', async () => {
    const scene = new Scene();
    const { first, second, runs } = await oneWaits(scene);
    const third = await scene.session();
    await scene.message(third);
    await scene.lane(third);
    await scene.ends(first, runs.native);
    expect(await called(scene)).toEqual([second]);
    const until = scene.now + 30_000;
    expect(await scene.lane(third)).toBeUndefined();
    expect(wokenAt(scene, 'slot:line')).toBeLessThanOrEqual(until);
    scene.wait(30_000);
    expect(await called(scene)).toEqual([second, third]);
    expect(await scene.lane(third)).toBeDefined();
    expect(await scene.lane(second)).toBeUndefined();
  });
});

describe('a clock that is set back', () => {
  it('keeps a slot for whoever was called no longer than else', async () => {
    const scene = new Scene();
    const { first, second, runs } = await oneWaits(scene);
    const third = await scene.session();
    await scene.message(third);
    await scene.lane(third);
    await scene.ends(first, runs.native);
    expect(await called(scene)).toEqual([second]);
    scene.model.clock.jump(-24 * hour);
    expect(await called(scene)).toEqual([second]);
    expect(wokenAt(scene, 'slot:line')).toBeLessThanOrEqual(scene.now + 30_000);
    scene.wait(30_000);
    expect(await called(scene)).toEqual([second, third]);
  });
});

/** With one slot: a message has ended its turn, and its background agent works; a result of its own is due. */
async function parentAndChild(scene: Scene) {
  await scene.limit({ turns: 1 });
  const session = await scene.session();
  const { id, native } = await scene.running(session, { timeoutMs: hour });
  const agent = await scene.launchAgent(session, native, planOf(['work']));
  const work = await scene.launch(session, native);
  await scene.advance(agent.run);
  return { session, id, native, agent, work };
}

describe('a parent and its children', () => {
  it('share one slot, one after the other: what has ended its turn holds none', async () => {
    const scene = new Scene();
    const { session, id, native, agent, work } = await parentAndChild(scene);
    expect(await scene.lane(agent.sessionId)).toBeUndefined();
    await scene.ends(session, native);
    await called(scene);
    const child = await scene.runs(agent.sessionId);
    await scene.settle(work);
    expect(await scene.lane(session)).toBeUndefined();
    expect(scene.why(id)).toContainEqual(
      expect.objectContaining({ noticeId: scene.notice(work).id, why: 'waiting' }),
    );
    await scene.ends(agent.sessionId, child);
    await called(scene);
    await scene.ends(session, await scene.runs(session));
    await scene.advance(agent.run);
    await scene.ends(session, await scene.runs(session));
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('do not run out of time while all of them wait for others', async () => {
    const scene = new Scene();
    const { session, id, native, agent } = await parentAndChild(scene);
    const other = await scene.session();
    await scene.message(other);
    await scene.lane(other);
    await scene.lane(agent.sessionId);
    await scene.ends(session, native);
    await called(scene);
    const busy = await scene.runs(other);
    await scene.lane(agent.sessionId);
    scene.wait(2 * hour);
    expect(await isDue(scene, id)).toBe(false);
    await scene.ends(other, busy);
    await called(scene);
    await scene.lane(agent.sessionId);
    expect(scene.row(id).deadlineAt).toBeGreaterThan(scene.now);
    expect(scene.row(id).deadlineAt).toBeLessThanOrEqual(scene.now + hour);
  });

  it('run out of time while one of them has the slot that the others wait for', async () => {
    const scene = new Scene();
    const { session, id, native, agent, work } = await parentAndChild(scene);
    await scene.ends(session, native);
    await called(scene);
    await scene.runs(agent.sessionId);
    await scene.settle(work);
    await scene.lane(session);
    scene.wait(2 * hour);
    expect(await isDue(scene, id)).toBe(true);
  });
});
