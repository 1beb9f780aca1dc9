import { describe, expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';

describe('the end of a turn', () => {
  it('settles everybody who joined it, at the same boundary', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const second = await scene.message(session, { whenBusy: 'steer' });
    await scene.takes(session, first.native, (await scene.steer(session))!.id);
    await scene.ends(session, first.native, { answer: 'both done' });
    for (const id of [first.id, second])
      expect(scene.row(id)).toMatchObject({ state: 'succeeded', result: 'both done', closed: true });
  });

  it('counts once; a second one is told and ignored', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    expect(await scene.ends(session, native)).toBe('ended');
    expect(await scene.ends(session, native, { status: 'failed' })).toBe('ignored');
    expect(scene.model.store.snapshot().events.at(-1)).toMatchObject({ type: 'turn.endIgnored' });
  });

  it('counts a background task once, also where the driver names it twice or has told of it before', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const task = { taskId: 'build', name: 'build' };
    const started = { now: scene.now, sessionId: session, task, fresh: scene.fresh() };
    await scene.do({ rule: 'taskStarted', command: started });
    await scene.ends(session, native, { tasks: ['build', 'serve', 'serve'] });
    expect(scene.children(id).map((row) => row.nativeId)).toEqual(['build', 'serve']);
  });

  it('gives a steered text back when the driver proves by the end that it never will be taken', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const message = await scene.message(session, { whenBusy: 'steer' });
    await scene.message(session);
    await scene.steer(session);
    await scene.ends(session, native);
    await scene.lane(session);
    // It is the next one, before what was queued behind it.
    expect(scene.row(message).state).toBe('running');
  });

  it('leaves a text that was only claimed to nobody', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.settle(work);
    await scene.claim(session);
    await scene.ends(session, native, { endIsNegativeProof: false });
    expect(scene.notice(work)).toMatchObject({ state: 'owed', attempt: 0 });
  });

  it('moves the deadline of a message by as long as it waited for capacity', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { timeoutMs: 10_000 });
    await scene.program(id);
    const { deadlineAt } = scene.row(id);
    const until = scene.now + 120_000;
    const waiting = { for: 'capacity', since: scene.now, until, text: 'limit' } as const;
    await scene.do({ rule: 'agentWaits', command: { now: scene.now, sessionId: session, waiting } });
    scene.wait(60_000);
    expect(await scene.do({ rule: 'nextDeadline', command: { now: scene.now, id } })).toBe(false);
    await scene.ends(session, native, { status: 'failed' });
    // Its work runs on, and must not run for ever.
    expect(scene.row(id).deadlineAt).toBe(deadlineAt! + scene.now - 1 - waiting.since);
    const wakes = scene.model.state.wakes.get(`deadline:${id}`);
    expect(wakes?.at).toBeLessThanOrEqual(scene.row(id).deadlineAt!);
  });
});

describe('the death of an agent', () => {
  it('ends both of its turns, and leaves a text that had not begun its lane', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const message = await scene.message(session);
    const turn = await scene.lane(session);
    await scene.begins(session);
    await scene.dies(session);
    expect(scene.sessionRow(session)).toMatchObject({
      laneTurn: turn!.id,
      wakeTurn: null,
      state: 'cold',
      epoch: 1,
    });
    expect(scene.row(message).state).toBe('running');
  });

  it('frees the lane when both the wake and the text behind it had begun', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const message = await scene.message(session);
    const turn = await scene.lane(session);
    await scene.begins(session);
    await scene.begins(session, { deliveryId: turn!.id });
    await scene.dies(session);
    expect(scene.sessionRow(session)).toMatchObject({ laneTurn: null, wakeTurn: null });
    expect(scene.row(message)).toMatchObject({ state: 'lost', outcome: 'failed', outcomeCode: 'LOST' });
  });

  it('waives once what it was given of a cancelled tree', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.settle(work);
    await scene.steer(session);
    await scene.cancel(id);
    await scene.dies(session);
    expect(scene.notice(work)).toMatchObject({ state: 'waived', reason: 'cancelled' });
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'cancelled' });
  });

  it('makes us deliver the end of background work for which it would have woken by itself', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    await scene.ends(session, native, { tasks: ['build'] });
    await scene.taskEnds(session, 'build');
    expect(await scene.lane(session)).toBeUndefined();
    await scene.dies(session);
    expect((await scene.lane(session))?.text).toContain('build');
  });
});
