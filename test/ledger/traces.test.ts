import { describe, expect, it } from 'vitest';
import { Scene } from './scene.ts';

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
