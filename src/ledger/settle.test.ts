import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';

describe('the end of something', () => {
  it('counts once; later evidence is alarmed and changes nothing', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.settle(work, 'failed');
    await scene.settle(work, 'succeeded');
    expect(scene.row(work).state).toBe('failed');
    const alarms = scene.model.store.snapshot().events.filter(({ type }) => type === 'alarm');
    expect(alarms).toMatchObject([{ data: { what: 'lateEvidence', state: 'succeeded' } }]);
  });

  it('owes a notice to whom it reports, and none where only a program waits', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const work = await scene.launch(session, native);
    const part = await scene.program(work);
    await scene.settle(part);
    await scene.settle(work);
    expect([scene.hasNotice(part), scene.hasNotice(work)]).toEqual([false, true]);
  });

  it.each([
    ['a person', { kind: 'person' }, true],
    ['a deadline', { kind: 'deadline' }, true],
    ['the agent that launched it', { kind: 'agent' }, false],
  ] as const)('that %s asked for is told where somebody waits who did not ask', async (_, actor, isTold) => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.cancel(work, actor);
    await scene.settle(work, 'cancelled');
    expect(scene.hasNotice(work)).toBe(isTold);
  });

  it('of a root that reports to a session is counted on itself, and handled below itself', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const caller = { by: 'person', reportsTo: session } as const;
    const root = await scene.launch(session, '', { caller });
    await scene.settle(root);
    expect(scene.row(root)).toMatchObject({ open: 1, closed: false });
    await scene.ends(session, await scene.runs(session));
    expect(scene.continuationOf(root).parentId).toBe(root);
    expect(scene.row(root).outcome).toBe('succeeded');
  });

  it('of what a turn or a run ends cannot be declared by anybody else', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['one']));
    for (const each of [id, agent.id]) {
      const noticeId = scene.model.ids.make('notice');
      const command = { now: scene.now, id: each, noticeId, ending: { state: 'succeeded' } } as const;
      expect(await scene.refused({ rule: 'settle', command })).toBe('ILLEGAL_STATE');
    }
  });

  it('of an outside program comes when its heartbeats stop, and a message is no outside program', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id } = await scene.running(session, { timeoutMs: 1_000 });
    const program = await scene.program(id, { deadlineAt: scene.now + 1_000 });
    scene.wait(900);
    const until = scene.now + 1_000;
    for (const each of [id, program])
      await scene.do({ rule: 'heartbeat', command: { now: scene.now, id: each, until } });
    scene.wait(500);
    const look = async (each: typeof id): Promise<boolean> => {
      const noticeId = scene.model.ids.make('notice');
      return scene.do({ rule: 'beatOrLose', command: { now: scene.now, id: each, noticeId } });
    };
    expect([await look(id), await look(program)]).toEqual([false, false]);
    scene.wait(1_000);
    expect([await look(id), await look(program)]).toEqual([false, true]);
    expect(scene.row(program)).toMatchObject({ state: 'lost', error: { code: 'LOST' } });
    expect(await scene.do({ rule: 'nextDeadline', command: { now: scene.now, id } })).toBe(true);
  });
});
