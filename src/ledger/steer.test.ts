import { describe, expect, it } from 'vitest';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { Scene } from '../../test/ledger/scene.ts';

/** A running message with a result that is owed to it. */
async function resultInTurn(): Promise<{
  scene: Scene;
  session: SessionId;
  id: ExecutionId;
  native: string;
  work: ExecutionId;
}> {
  const scene = new Scene();
  const session = await scene.session();
  const { id, native } = await scene.running(session);
  const work = await scene.launch(session, native);
  await scene.settle(work);
  return { scene, session, id, native, work };
}

describe('steering', () => {
  it('hands a result over to a continuation that joins the running turn', async () => {
    const { scene, session, id, native, work } = await resultInTurn();
    const steer = await scene.steer(session);
    expect(steer?.text).toContain(`[stemma ${scene.notice(work).id} #1] `);
    expect(scene.notice(work)).toMatchObject({ state: 'claimed', epoch: 1 });
    expect(await scene.takes(session, native, steer!.id)).toBe('joined');
    await scene.ends(session, native);
    expect(scene.notice(work)).toMatchObject({ state: 'handled', epoch: 1 });
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('puts one text at a time on its way, results first', async () => {
    const { scene, session } = await resultInTurn();
    await scene.message(session, { whenBusy: 'steer' });
    expect((await scene.steer(session))?.messageId).toBeNull();
    expect(await scene.claim(session)).toBeUndefined();
  });

  it('never puts the result of one root into the turn of another', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const work = await scene.launch(session, first.native);
    await scene.ends(session, first.native);
    await scene.running(session);
    await scene.settle(work);
    expect(await scene.claim(session)).toBeUndefined();
    expect(scene.notice(work).state).toBe('owed');
  });

  it('writes nothing that was dropped since it was claimed', async () => {
    const { scene, session, work } = await resultInTurn();
    const steer = await scene.claim(session);
    const command = {
      now: scene.now,
      id: scene.notice(work).id,
      reason: 'seen',
      actor: { kind: 'person' },
    } as const;
    await scene.do({ rule: 'waiveNotice', command });
    expect(await scene.resolve(steer!.id, 'written')).toBe(false);
    expect(scene.model.state.steers.get(steer!.id)?.state).toBe('withdrawn');
  });

  it('writes no message that was cancelled since it was claimed', async () => {
    const { scene, session, work } = await resultInTurn();
    await scene.resolve((await scene.steer(session))!.id, 'refused');
    await scene.do({
      rule: 'waiveNotice',
      command: { now: scene.now, id: scene.notice(work).id, reason: 'seen', actor: { kind: 'person' } },
    });
    const message = await scene.message(session, { whenBusy: 'steer' });
    const steer = await scene.claim(session);
    await scene.cancel(message);
    expect(await scene.resolve(steer!.id, 'written')).toBe(false);
    expect(scene.row(message)).toMatchObject({ closed: true, outcome: 'cancelled' });
  });

  it('puts nothing into a turn of which all was cancelled, and which is about to be interrupted', async () => {
    const { scene, session, id, native, work } = await resultInTurn();
    await scene.cancel(id);
    expect(scene.notice(work).state).toBe('waived');
    const message = await scene.message(session, { whenBusy: 'steer' });
    expect(await scene.claim(session)).toBeUndefined();
    await scene.ends(session, native, { status: 'interrupted' });
    await scene.runs(session);
    expect(scene.row(message).state).toBe('running');
  });

  it('gives a refused message back to the head of the queue, under its own id', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const queued = await scene.message(session);
    const steered = await scene.message(session, { whenBusy: 'steer' });
    await scene.resolve((await scene.steer(session))!.id, 'refused');
    await scene.ends(session, native);
    await scene.runs(session);
    expect([scene.row(steered).state, scene.row(queued).state]).toEqual(['running', 'queued']);
  });
});
