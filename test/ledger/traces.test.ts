import { describe, expect, it } from 'vitest';
import { planOf, Scene } from './scene.ts';

/** Histories that the simulator found to go wrong, told once more in a few calls. */

/** A message has ended with background work of its agent; another one is on its way when the agent wakes for that. */
async function wakesBeforeTheNextText(scene: Scene) {
  const session = await scene.session();
  const { id: first, native } = await scene.running(session);
  await scene.ends(session, native, { tasks: ['build'] });
  const second = await scene.message(session);
  const turn = await scene.lane(session);
  await scene.taskEnds(session, 'build');
  const woken = await scene.begins(session, { taskId: 'build' });
  return { session, first, second, turn, woken };
}

describe('a call of background work that nobody can place', () => {
  it('is counted on the running turn too, whose own background work may not have been told of', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    await scene.ends(session, first.native, { tasks: ['build'] });
    const second = await scene.running(session);
    const caller = { by: 'session', sessionId: session, call: { state: 'unknown' } } as const;
    const work = await scene.launch(session, second.native, { caller });
    await scene.ends(session, second.native);
    expect(scene.row(work).parentId).toBe(first.id);
    expect(scene.row(second.id)).toMatchObject({ state: 'succeeded', closed: false });
  });
});

describe('a cancelled turn that the agent began by itself, while a text of somebody else is with the agent', () => {
  it('is left alone at first: the text may be taken up in it', async () => {
    const scene = new Scene();
    const { first } = await wakesBeforeTheNextText(scene);
    expect((await scene.cancel(first)).interrupt).toEqual([]);
  });

  it('is interrupted when it has had its time: its agent may hang', async () => {
    const scene = new Scene();
    const { first, session } = await wakesBeforeTheNextText(scene);
    await scene.cancel(first);
    scene.wait(60_000);
    expect((await scene.cancel(first)).interrupt).toMatchObject([{ sessionId: session }]);
  });
});

describe('late activity of which nobody is the cause', () => {
  it('has a deadline of its own: an agent that hangs in it would hold the lane for ever', async () => {
    const scene = new Scene();
    const session = await scene.session();
    await scene.begins(session);
    expect(scene.only('late').deadlineAt).toBeGreaterThan(scene.now);
  });
});

describe('background work of a turn from which everybody has stepped down', () => {
  it('is cancelled with what began it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const late = await scene.begins(session);
    const message = await scene.message(session, { whenBusy: 'steer' });
    const steer = await scene.steer(session);
    await scene.takes(session, late, steer!.id);
    await scene.cancel(scene.only('late').id);
    await scene.cancel(message);
    await scene.ends(session, late, { tasks: ['build'] });
    expect(scene.task(session, 'build').cancelRequested).not.toBeNull();
  });
});

describe('a steered text that somebody else waits for', () => {
  it('is not written into a turn that was cancelled since it was claimed', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const second = await scene.message(session, { whenBusy: 'steer' });
    const steer = await scene.claim(session);
    await scene.cancel(first.id);
    expect(await scene.resolve(steer!.id, 'written')).toBe(false);
    await scene.ends(session, first.native, { status: 'interrupted' });
    await scene.ends(session, await scene.runs(session));
    expect(scene.row(second)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('delays the interruption of the turn into which it was written', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    await scene.message(session, { whenBusy: 'steer' });
    await scene.steer(session);
    expect((await scene.cancel(first.id)).interrupt).toEqual([]);
    scene.wait(20_000);
    expect((await scene.cancel(first.id)).interrupt).toMatchObject([{ sessionId: session }]);
  });
});

describe('a deadline', () => {
  it('does not end a message that went back to its queue when it had passed', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const id = await scene.message(session, { timeoutMs: 1_000 });
    const turn = await scene.lane(session);
    scene.wait(2_000);
    await scene.sendFails(turn!.id, false, 'AGENT_FAILED');
    const request = { actor: { kind: 'deadline' }, at: scene.now } as const;
    const about = { now: scene.now, id, request, verdict: 'TIMED_OUT', isByDeadline: true } as const;
    await scene.do({ rule: 'cancel', command: { ...about, fresh: scene.fresh() } });
    expect(scene.row(id)).toMatchObject({ state: 'queued', cancelRequested: null });
  });

  it('of what was cancelled with its parent says nothing about how it came out', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id: root, native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.cancel(root);
    await scene.cancel(work, { kind: 'deadline' }, 'TIMED_OUT');
    expect(scene.row(work).verdict).toBeNull();
  });
});

describe('background work that its message wants cancelled', () => {
  it('is asked to stop when its turn ends, also what was told of before: it would hold the message', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { background: 'cancel' });
    const task = { taskId: 'early', name: 'early' };
    const command = { now: scene.now, sessionId: session, task, fresh: scene.fresh() };
    await scene.do({ rule: 'taskStarted', command });
    expect(scene.task(session, 'early').cancelRequested).toBeNull();
    await scene.ends(session, native, { tasks: ['early', 'server'] });
    for (const name of ['early', 'server']) {
      const { id: taskId, cancelRequested } = scene.task(session, name);
      expect(cancelRequested).toMatchObject({ actor: { kind: 'parent' } });
      expect(scene.model.state.wakes.has(`deadline:${taskId}`)).toBe(true);
      await scene.taskEnds(session, name);
    }
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('is not, where it was cancelled, why the message failed', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { background: 'cancel', join: 'all' });
    await scene.ends(session, native, { tasks: ['server'] });
    const about = { sessionId: session, taskId: 'server', status: 'failed', result: 'killed' } as const;
    await scene.do({ rule: 'taskEnded', command: { now: scene.now, ...about, fresh: scene.fresh() } });
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });
});

describe('background work that its message does not wait for', () => {
  it('does not hold it either when it is begun while a result is handled', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { background: 'detach' });
    const work = await scene.launch(session, native);
    await scene.ends(session, native);
    await scene.settle(work);
    await scene.ends(session, await scene.runs(session), { tasks: ['server'] });
    expect(scene.row(id).closed).toBe(true);
  });

  it('is not asked first whose child a call is: what it was begun below is closed', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session, { background: 'detach' });
    await scene.ends(session, first.native, { tasks: ['server'] });
    const second = await scene.running(session);
    await scene.ends(session, second.native, { tasks: ['server', 'build'] });
    const caller = { by: 'session', sessionId: session, call: { state: 'ended' } } as const;
    const work = await scene.launch(session, second.native, { caller });
    expect(scene.row(work).parentId).toBe(second.id);
  });
});

describe('a message of a background agent that wants all below it to succeed', () => {
  it('fails with what failed below it, and its sequence stops', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['first', 'second'], { join: 'all' }));
    await scene.advance(agent.run);
    const first = await scene.runs(agent.sessionId);
    const work = await scene.launch(agent.sessionId, first);
    await scene.ends(agent.sessionId, first);
    await scene.settle(work, 'failed');
    await scene.ends(agent.sessionId, await scene.runs(agent.sessionId));
    await scene.advance(agent.run);
    const about = { state: 'ended', outcome: 'failed', outcomeCode: 'DESCENDANT_FAILED' };
    expect(scene.runRow(agent.run)).toMatchObject(about);
    expect(scene.row(agent.id)).toMatchObject({ state: 'failed', error: { code: 'DESCENDANT_FAILED' } });
  });
});

describe('a call of background work that began in a shared turn', () => {
  it('is counted on everyone on whom that work is counted', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const second = await scene.message(session, { whenBusy: 'steer' });
    const steer = await scene.steer(session);
    await scene.takes(session, first.native, steer!.id);
    await scene.ends(session, first.native, { tasks: ['build'] });
    const caller = { by: 'session', sessionId: session, call: { state: 'unknown' } } as const;
    const work = await scene.launch(session, first.native, { caller });
    await scene.taskEnds(session, 'build', false);
    await scene.ends(session, await scene.runs(session));
    expect(scene.row(work).parentId).toBe(first.id);
    expect(scene.row(second).closed).toBe(false);
  });
});
