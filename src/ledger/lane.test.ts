import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import { listed } from '../../test/ledger/state.ts';
import { takeLane } from './lane.ts';

/** How many results the text of a turn carries. */
function resultsIn(text: string): number {
  return text.split('\n').filter((line) => line.startsWith('[stemma ntc_')).length;
}

describe('taking the lane', () => {
  it('takes all results that are owed to one parent together, before the messages that wait', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const works = [await scene.launch(session, native), await scene.launch(session, native)];
    await scene.message(session);
    await scene.ends(session, native);
    for (const work of works) await scene.settle(work);
    const turn = await scene.lane(session);
    expect(turn?.cause).toBe('notices');
    expect(resultsIn(turn?.text ?? '')).toBe(2);
    expect(works.map((work) => scene.continuationOf(work).parentId)).toEqual([id, id]);
  });

  it('never hands the results of two parents over in one turn; the oldest goes first', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const early = await scene.launch(session, first.native);
    await scene.ends(session, first.native);
    const second = await scene.running(session);
    const late = await scene.launch(session, second.native);
    await scene.settle(late);
    await scene.settle(early);
    await scene.ends(session, second.native);
    expect((await scene.lane(session))?.text).toContain(scene.notice(late).id);
    expect(scene.notice(early).state).toBe('owed');
  });

  it('runs messages in the order in which they were accepted', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const ids = [await scene.message(session), await scene.message(session)];
    for (const id of ids) {
      const native = await scene.runs(session);
      expect(scene.row(id).state).toBe('running');
      await scene.ends(session, native);
    }
  });

  it('hands over under the shares of everything in the batch', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const alone = await scene.launch(session, first.native);
    const second = await scene.message(session, { whenBusy: 'steer' });
    await scene.takes(session, first.native, (await scene.steer(session))!.id);
    const shared = await scene.launch(session, first.native);
    await scene.ends(session, first.native);
    await scene.settle(alone);
    await scene.settle(shared);
    await scene.lane(session);
    const continuation = scene.continuationOf(alone);
    expect(scene.continuationOf(shared).id).toBe(continuation.id);
    expect(listed(scene.model.state.holders, continuation.id)).toEqual([second]);
  });

  it('owes the wake-up of a result that is not due, since wake-ups of one session are merged', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.ends(session, native);
    await scene.settle(work);
    await scene.fails(session, await scene.runs(session));
    const wakes: number[] = [];
    scene.model.store.onCommit((told) => wakes.push(...told.wakes.map((wake) => wake.at)));
    expect(await scene.lane(session)).toBeUndefined();
    expect(wakes).toEqual([scene.notice(work).notBefore]);
  });

  it.each([0, 1])(
    'delivers a result soon when the clock is set back by a day after %i failures',
    async (failures) => {
      const scene = new Scene();
      const session = await scene.session();
      const { native } = await scene.running(session);
      const work = await scene.launch(session, native);
      await scene.ends(session, native);
      await scene.settle(work);
      for (let i = 0; i < failures; i++) await scene.fails(session, await scene.runs(session));
      scene.model.clock.jump(-24 * 60 * 60_000);
      expect(await scene.lane(session)).toBeUndefined();
      expect(scene.notice(work).notBefore).toBeLessThanOrEqual(scene.now + failures * 1_000);
      scene.wait(failures * 1_000);
      expect((await scene.lane(session))?.cause).toBe('notices');
    },
  );

  it('a result that would go to another session than that of its parent is waived and alarmed', async () => {
    const scene = new Scene();
    const [session, other] = [await scene.session(), await scene.session()];
    const { native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.ends(session, native);
    await scene.settle(work);
    // No rule can bring this about: a row is changed by hand, to see the net below the rules.
    const row = scene.notice(work);
    const set = { sessionId: other };
    await scene.model.store.decide(function* () {
      yield* [];
      return { ok: true, value: undefined, effects: [{ do: 'patchNotice', id: row.id, set }] };
    });
    const command = { now: scene.now, sessionId: other, node: 'local', fresh: scene.fresh() };
    const unchecked = await scene.model.store.decide(() => takeLane(command));
    expect(unchecked).toMatchObject({ ok: true, value: { taken: false } });
    const snapshot = scene.model.store.snapshot();
    const notice = snapshot.notices.find(({ id }) => id === row.id);
    expect(notice).toMatchObject({ state: 'waived', reason: 'session_mismatch' });
    const alarms = snapshot.events.filter(({ type }) => type === 'alarm');
    expect(alarms).toMatchObject([{ data: { what: 'session_mismatch', noticeId: row.id } }]);
  });

  it('keeps a session that was stopped from running, until a person sends a message', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const request = { actor: { kind: 'person' } as const, at: scene.now };
    const run = await scene.run(session, planOf(['one']));
    await scene.do({ rule: 'stopSession', command: { now: scene.now, sessionId: session, request } });
    expect(await scene.advance(run)).toBe('ended');
    expect(await scene.lane(session)).toBeUndefined();
    await scene.message(session);
    expect(await scene.lane(session)).toBeDefined();
  });
});
