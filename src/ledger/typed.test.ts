import { describe, expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';
import type { Execution } from './execution.ts';

function typedIn(scene: Scene): Execution[] {
  return [...scene.model.state.executions.values()].filter(
    (row) => row.kind === 'message' && row.nativeId !== null,
  );
}

describe('what a person types at the screen of an agent', () => {
  it('is a message with a root of its own, which holds the lane until the agent is idle', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const native = await scene.begins(session, { typed: { id: 'u1', text: 'fix it\nplease' } });
    const [message] = typedIn(scene);
    expect(message).toMatchObject({ name: 'fix it', parentId: null, parentSource: 'none', state: 'running' });
    const queued = await scene.message(session);
    expect(await scene.lane(session)).toBeUndefined();
    await scene.ends(session, native);
    expect(scene.row(message!.id)).toMatchObject({ closed: true, outcome: 'succeeded' });
    expect((await scene.lane(session))?.cause).toBe('message');
    expect(scene.row(queued).state).toBe('running');
  });

  it('is the parent of what is launched in its turn, and stays open for it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const native = await scene.begins(session, { typed: { id: 'u1', text: 'typed' } });
    const [message] = typedIn(scene);
    const work = await scene.launch(session, native);
    await scene.ends(session, native);
    expect(scene.row(work).parentId).toBe(message!.id);
    expect(scene.row(message!.id)).toMatchObject({ state: 'succeeded', closed: false, open: 1 });
    await scene.settle(work);
    await scene.ends(session, await scene.runs(session));
    expect(scene.row(message!.id)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('while a turn of ours runs joins it: both settle together, and both hold what is launched', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const ours = await scene.running(session);
    expect(await scene.hears(session, ours.native, 'u1')).toBe('joined');
    const [message] = typedIn(scene);
    const work = await scene.launch(session, ours.native);
    await scene.ends(session, ours.native);
    expect(scene.row(message!.id)).toMatchObject({ state: 'succeeded', closed: false });
    expect(scene.row(ours.id)).toMatchObject({ state: 'succeeded', closed: false });
    await scene.settle(work);
    await scene.ends(session, await scene.runs(session));
    expect(scene.row(message!.id).closed).toBe(true);
    expect(scene.row(ours.id).closed).toBe(true);
  });

  it('before our text is seen goes first, and our text may join it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const message = await scene.message(session);
    const turn = await scene.lane(session);
    const native = await scene.begins(session, { typed: { id: 'u1', text: 'typed' } });
    expect(await scene.takes(session, native, turn!.id)).toBe('joined');
    await scene.ends(session, native);
    expect(scene.row(message)).toMatchObject({ state: 'succeeded', closed: true });
    expect(typedIn(scene)).toEqual([expect.objectContaining({ closed: true })]);
  });

  it('without a beginning that was told begins a turn', async () => {
    const scene = new Scene();
    const session = await scene.session();
    expect(await scene.hears(session, 'n', 'u1')).toBe('adopted');
    expect(await scene.ends(session, 'n')).toBe('ended');
    expect(typedIn(scene)).toEqual([expect.objectContaining({ closed: true })]);
  });

  it('is counted once, however often it is told', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const native = await scene.begins(session, { typed: { id: 'u1', text: 'typed' } });
    expect(await scene.hears(session, native, 'u1')).toBe('ignored');
    expect(await scene.hears(session, native, 'u2')).toBe('joined');
    await scene.ends(session, native);
    expect(await scene.hears(session, native, 'u2')).toBe('ignored');
    expect(typedIn(scene)).toHaveLength(2);
  });

  it('and is a text of ours that nobody recognises is no second message', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const ours = scene.sessionRow(session).laneTurn!;
    expect(await scene.hears(session, native, ours)).toBe('ignored');
    expect(typedIn(scene)).toEqual([]);
  });

  it('keeps a turn from being interrupted whose other owner is cancelled', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const ours = await scene.running(session);
    await scene.hears(session, ours.native, 'u1');
    await scene.cancel(ours.id);
    expect(scene.row(ours.id).state).toBe('cancelled');
    await scene.ends(session, ours.native);
    expect(typedIn(scene)).toEqual([expect.objectContaining({ state: 'succeeded', closed: true })]);
  });

  it('after the session was stopped ends with it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const native = await scene.begins(session, { typed: { id: 'u1', text: 'typed' } });
    await scene.ends(session, native);
    await scene.stop(session);
    await scene.begins(session, { typed: { id: 'u2', text: 'typed' } });
    await scene.dies(session);
    expect(typedIn(scene)[1]).toMatchObject({ state: 'cancelled', closed: true, outcome: 'cancelled' });
    expect(scene.sessionRow(session).state).toBe('stopped');
  });
});
