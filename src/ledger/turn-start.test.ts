import { describe, expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';

describe('what an agent begins', () => {
  it('by itself goes before a text that it has not seen', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const message = await scene.message(session);
    const turn = await scene.lane(session);
    const wake = await scene.begins(session);
    expect(scene.sessionRow(session)).toMatchObject({ laneTurn: turn!.id, wakeTurn: expect.any(String) });
    await scene.ends(session, wake);
    expect(scene.sessionRow(session)).toMatchObject({ laneTurn: turn!.id, wakeTurn: null });
    expect(scene.row(message).state).toBe('running');
  });

  it('and takes our text up in it, settles both together', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const message = await scene.message(session);
    const turn = await scene.lane(session);
    const wake = await scene.begins(session);
    expect(await scene.takes(session, wake, turn!.id)).toBe('joined');
    expect(scene.model.state.turns.get(turn!.id)).toMatchObject({ state: 'ended', status: 'joined' });
    await scene.ends(session, wake);
    expect(scene.row(message)).toMatchObject({ state: 'succeeded', closed: true });
  });

  it('late is below the root of the last turn, of several the first that is open', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const second = await scene.message(session, { whenBusy: 'steer' });
    await scene.takes(session, first.native, (await scene.steer(session))!.id);
    await scene.program(second);
    await scene.ends(session, first.native);
    expect(scene.row(first.id).closed).toBe(true);
    await scene.begins(session);
    expect(scene.children(second).map((row) => row.kind)).toEqual(['outside', 'late']);
  });

  it('late below nothing is a root of its own, with an alarm', async () => {
    const scene = new Scene();
    const session = await scene.session();
    await scene.begins(session);
    const [late] = scene.model.state.executions.values();
    expect(late).toMatchObject({ kind: 'late', parentId: null, mode: 'none' });
    expect(scene.model.store.snapshot().events).toContainEqual(expect.objectContaining({ type: 'alarm' }));
  });
});

describe('an end of background work that the agent is told of within a turn', () => {
  it('is handled by a continuation that joins the turn, once', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    await scene.ends(session, first.native, { tasks: ['build'] });
    const second = await scene.running(session);
    await scene.taskEnds(session, 'build');
    expect(scene.row(first.id).closed).toBe(false);
    expect(await scene.isToldOfTask(session, second.native, 'build')).toBe('joined');
    expect(await scene.isToldOfTask(session, second.native, 'build')).toBe('ignored');
    await scene.ends(session, second.native);
    expect(scene.row(first.id)).toMatchObject({ state: 'succeeded', closed: true });
    expect(scene.row(second.id).closed).toBe(true);
  });

  it('in a turn that does not run changes nothing: the agent will wake for it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    await scene.ends(session, first.native, { tasks: ['build'] });
    await scene.taskEnds(session, 'build');
    expect(await scene.isToldOfTask(session, 'another', 'build')).toBe('ignored');
    expect(scene.row(first.id).closed).toBe(false);
  });
});

describe('old news', () => {
  it('of a turn whose end was heard begins nothing', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const message = await scene.message(session);
    const turn = await scene.lane(session);
    const native = await scene.begins(session, { deliveryId: turn!.id });
    await scene.ends(session, native);
    expect(await scene.takes(session, native, turn!.id)).toBe('ignored');
    expect(scene.sessionRow(session).laneTurn).toBeNull();
    expect(scene.children(message)).toEqual([]);
  });

  it('does not rename the turn that runs, whose end would then go unheard', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.lane(session).then(async () => scene.running(session));
    const old = scene.sessionRow(session).laneTurn!;
    await scene.ends(session, first.native);
    const second = await scene.running(session);
    expect(await scene.takes(session, first.native, old)).toBe('ignored');
    expect(await scene.ends(session, first.native)).toBe('ignored');
    expect(scene.row(second.id).state).toBe('running');
    expect(await scene.ends(session, second.native)).toBe('ended');
  });

  it('of a text whose fate is still open is no old news: the text is taken up', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.settle(work);
    const steer = await scene.steer(session);
    await scene.ends(session, native, { endIsNegativeProof: false });
    expect(await scene.takes(session, native, steer!.id)).toBe('adopted');
    expect(scene.continuationOf(work).parentId).toBe(id);
  });
});

describe('a text of ours', () => {
  it('of another session is not taken up here', async () => {
    const scene = new Scene();
    const [session, other] = [await scene.session(), await scene.session()];
    const message = await scene.message(other);
    const turn = await scene.lane(other);
    await scene.sendFails(turn!.id);
    const native = await scene.begins(session);
    expect(await scene.takes(session, native, turn!.id)).toBe('ignored');
    expect(scene.row(message).state).toBe('queued');
  });

  it('whose sending was given up is not sent again when the agent takes it up after all', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const message = await scene.message(session);
    const turn = await scene.lane(session);
    await scene.sendFails(turn!.id);
    await scene.begins(session, { deliveryId: turn!.id });
    expect(scene.row(message).state).toBe('running');
    expect(await scene.lane(session)).toBeUndefined();
  });

  it('below a parent that was lost is handed over, and below one that was cancelled it is dropped', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const works = [await scene.launch(session, native), await scene.launch(session, native)];
    await scene.dies(session);
    expect(scene.row(id).state).toBe('lost');
    await scene.settle(works[0]!);
    const again = await scene.runs(session);
    await scene.settle(works[1]!);
    const steer = await scene.steer(session);
    await scene.takes(session, again, steer!.id);
    expect(scene.continuationOf(works[1]!)).toMatchObject({ parentId: id, state: 'running' });
  });
});
