import { describe, expect, it } from 'vitest';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import { listed } from '../../test/ledger/state.ts';

/** A running message that asks for everything below it to succeed. */
async function joinAll(): Promise<{ scene: Scene; session: SessionId; id: ExecutionId; native: string }> {
  const scene = new Scene();
  const session = await scene.session();
  return { scene, session, ...(await scene.running(session, { join: 'all' })) };
}

/** Settles the message and hands over whatever is owed to it. */
async function close({ scene, session, native }: Awaited<ReturnType<typeof joinAll>>): Promise<void> {
  await scene.ends(session, native);
  for (let turn = await scene.lane(session); turn; turn = await scene.lane(session))
    await scene.ends(session, await scene.begins(session, { deliveryId: turn.id }));
}

describe('join: all', () => {
  it('fails the root of a work whose last attempt failed', async () => {
    const tree = await joinAll();
    const { scene, session, native, id } = tree;
    await scene.settle(await scene.launch(session, native, { key: 'build' }));
    await scene.settle(await scene.launch(session, native, { key: 'test' }), 'failed');
    await close(tree);
    expect(scene.row(id)).toMatchObject({ outcome: 'failed', outcomeCode: 'DESCENDANT_FAILED' });
  });

  it('counts the last attempt of each thing, and a lost one as failed', async () => {
    const tree = await joinAll();
    const { scene, session, native, id } = tree;
    for (const state of ['lost', 'failed', 'succeeded'] as const)
      await scene.settle(await scene.launch(session, native, { key: 'build' }), state);
    expect(scene.children(id).map((row) => row.attempt)).toEqual([1, 2, 3]);
    await close(tree);
    expect(scene.row(id).outcome).toBe('succeeded');
  });

  it('counts an attempt that fails after the next one has begun for nothing', async () => {
    const tree = await joinAll();
    const { scene, session, native, id } = tree;
    const first = await scene.launch(session, native, { key: 'build' });
    const second = await scene.launch(session, native, { key: 'build' });
    await scene.settle(first, 'failed');
    await scene.settle(second);
    await close(tree);
    expect(scene.row(id).outcome).toBe('succeeded');
  });

  it('does not count continuations, nor what was only held', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const second = await scene.message(session, { whenBusy: 'steer', join: 'all' });
    await scene.takes(session, first.native, (await scene.steer(session))!.id);
    const work = await scene.launch(session, first.native);
    await scene.settle(work, 'failed');
    await close({ scene, session, id: first.id, native: first.native });
    expect(scene.row(second)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('takes back only a failure that was counted, where messages of one tree join differently', async () => {
    const tree = await joinAll();
    const { scene, session, native } = tree;
    const agent = await scene.launchAgent(session, native, planOf(['one']));
    await scene.advance(agent.run);
    const inner = await scene.runs(agent.sessionId);
    await scene.settle(await scene.launch(agent.sessionId, inner, { key: 'build' }), 'failed');
    await scene.settle(await scene.launch(session, native, { key: 'build' }), 'failed');
    await scene.settle(await scene.launch(agent.sessionId, inner, { key: 'build' }));
    expect(scene.row(tree.id).failures).toBe(0);
  });
});

describe('launching', () => {
  it('numbers attempts itself, past those that a caller has numbered', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id } = await scene.running(session);
    for (const attempt of [2, 1]) await scene.program(id, { key: 'build', attempt });
    await scene.program(id, { key: 'build' });
    expect(scene.children(id).map((row) => row.attempt)).toEqual([2, 1, 3]);
  });

  it('refuses an attempt that exists', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    await scene.program(id, { key: 'build', attempt: 1 });
    const caller = { by: 'execution', executionId: id } as const;
    const again = scene.launching(session, native, { caller, key: 'build', attempt: 1 });
    expect(await scene.refused(again)).toBe('DUPLICATE_KEY');
  });

  it('of a known id is the same thing for its session, and refused for another', async () => {
    const scene = new Scene();
    const [session, other] = [await scene.session(), await scene.session()];
    const [here, there] = [await scene.running(session), await scene.running(other)];
    const id = await scene.launch(session, here.native);
    expect(await scene.do(scene.launching(session, here.native, { id }))).toMatchObject({ isNew: false });
    expect(await scene.refused(scene.launching(other, there.native, { id }))).toBe('SESSION_MISMATCH');
  });

  it('is bounded in depth, and a delivery is not', async () => {
    const scene = new Scene({ checks: false });
    const session = await scene.session();
    const { native } = await scene.running(session);
    let deepest = await scene.launch(session, native, { kind: 'workflow' });
    while (scene.row(deepest).depth < 1_000) deepest = await scene.program(deepest);
    const caller = { by: 'execution', executionId: deepest } as const;
    expect(await scene.refused(scene.launching(session, native, { caller }))).toBe('DEPTH_EXCEEDED');
  }, 60_000);

  it('by an agent that only the order of events places is held by its background tasks too', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    await scene.ends(session, first.native, { tasks: ['watch'] });
    const second = await scene.running(session);
    const call = { state: 'running', nativeTurnId: second.native, byId: false } as const;
    const caller = { by: 'session', sessionId: session, call } as const;
    const work = await scene.launch(session, second.native, { caller });
    expect(scene.row(work).parentId).toBe(second.id);
    expect(listed(scene.model.state.holders, work)).toEqual([first.id]);
  });

  it('by a background task alone belongs to the parent of the task', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    await scene.ends(session, native, { tasks: ['watch'] });
    const caller = { by: 'session', sessionId: session, call: { state: 'unknown' } } as const;
    const work = await scene.launch(session, native, { caller });
    expect(scene.row(work)).toMatchObject({ parentId: id, parentSource: 'task' });
  });
});
