import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';

/** The reasons that hold a root, in the order of their age. */
function reasons(scene: Scene, root: Parameters<Scene['why']>[0]): string[] {
  return scene.why(root).map(({ why }) => why);
}

describe('what holds a root', () => {
  it('is named at each step of a message', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const id = await scene.message(session);
    expect(reasons(scene, id)).toEqual(['queued']);
    const turn = await scene.lane(session);
    expect(scene.why(id)).toMatchObject([
      { why: 'starting', evidence: expect.stringContaining('not sent yet') },
    ]);
    await scene.do({ rule: 'markWritten', command: { now: scene.now, turnId: turn!.id } });
    expect(scene.why(id)).toMatchObject([
      { why: 'starting', evidence: expect.stringContaining('not seen to begin') },
    ]);
    const native = await scene.begins(session, { deliveryId: turn!.id });
    expect(scene.why(id)).toMatchObject([{ why: 'running', evidence: expect.stringContaining(turn!.id) }]);
    const waiting = { for: 'input', since: scene.now, text: 'which one?' } as const;
    await scene.do({ rule: 'agentWaits', command: { now: scene.now, sessionId: session, waiting } });
    expect(scene.why(id)).toMatchObject([{ why: 'waiting', evidence: 'waits for input: which one?' }]);
    await scene.ends(session, native);
    expect(scene.why(id)).toEqual([]);
  });

  it('is the work below a message, then its result, then who handles it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.ends(session, native);
    expect(scene.why(id)).toMatchObject([{ why: 'running', executionId: work }]);
    await scene.settle(work);
    expect(scene.why(id)).toMatchObject([{ why: 'notice_owed', noticeId: scene.notice(work).id }]);
    const again = await scene.runs(session);
    expect(scene.why(id)).toMatchObject([{ why: 'running', executionId: scene.continuationOf(work).id }]);
    await scene.fails(session, again);
    expect(scene.why(id)).toMatchObject([{ why: 'notice_backing_off', until: scene.notice(work).notBefore }]);
  });

  it('is a text that nobody has seen taken', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    await scene.settle(await scene.launch(session, native));
    await scene.claim(session);
    expect(reasons(scene, id)).toEqual(['running', 'notice_owed']);
    const [steer] = scene.model.state.steers.keys();
    await scene.resolve(steer!, 'written');
    expect(reasons(scene, id)).toContain('steer_unresolved');
  });

  it('is a check that waits, and something that was asked to stop', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { check: 'true' });
    const work = await scene.launch(session, native);
    await scene.ends(session, native);
    expect(reasons(scene, id)).toEqual(['running', 'check_pending']);
    await scene.cancel(work);
    expect(reasons(scene, id)).toEqual(['check_pending', 'cancelling']);
  });

  it('is work of another tree that was begun in a common turn, and after it its result', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const second = await scene.message(session, { whenBusy: 'steer' });
    await scene.takes(session, first.native, (await scene.steer(session))!.id);
    const work = await scene.launch(session, first.native);
    await scene.ends(session, first.native);
    expect(scene.why(second)).toMatchObject([
      { why: 'shared_turn', evidence: expect.stringContaining('running') },
    ]);
    await scene.settle(work);
    expect(scene.row(work).closed).toBe(true);
    expect(scene.why(second)).toMatchObject([
      { why: 'shared_turn', evidence: expect.stringContaining('result') },
    ]);
  });

  it('is a background agent itself as long as nothing below it is counted', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['one']));
    await scene.ends(session, native);
    const below = await scene.program(agent.id);
    expect(scene.why(id)).toMatchObject([{ executionId: below }]);
    await scene.do({ rule: 'detach', command: { now: scene.now, id: below, actor: { kind: 'person' } } });
    expect(scene.why(id)).toMatchObject([{ executionId: agent.id, why: 'running' }]);
  });
});
