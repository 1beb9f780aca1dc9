import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';

describe('cancelling', () => {
  it('reaches everything that is open below, and asks for what runs outside to be ended', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const work = await scene.launch(session, native);
    const part = await scene.program(work);
    const cancelling = await scene.cancel(id);
    expect(cancelling.interrupt).toMatchObject([{ sessionId: session }]);
    expect(cancelling.processes).toEqual([work, part]);
    expect(scene.row(part).cancelRequested?.actor.kind).toBe('parent');
    expect(scene.row(id).closed).toBe(false);
  });

  it('ends a message that waits in a queue at once', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const message = await scene.message(session);
    await scene.cancel(message);
    expect(scene.row(message)).toMatchObject({ state: 'cancelled', closed: true, outcome: 'cancelled' });
    expect(await scene.lane(session)).toBeUndefined();
  });

  it('stops a background agent by its run: it settles when its last message has closed', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['one', 'two']));
    await scene.advance(agent.run);
    const inner = await scene.runs(agent.sessionId);
    await scene.cancel(agent.id);
    expect(await scene.advance(agent.run)).toBe('notYet');
    await scene.ends(agent.sessionId, inner, { status: 'interrupted' });
    expect(await scene.advance(agent.run)).toBe('ended');
    expect(scene.row(agent.id)).toMatchObject({ state: 'cancelled', closed: true });
    expect(scene.hasNotice(agent.id)).toBe(true);
  });

  it('by a person goes before an earlier failure, so that a run which may go on does not', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one', 'two'], { onFailure: 'continue' }));
    await scene.advance(run);
    const native = await scene.runs(session);
    const [lost, kept] = [await scene.launch(session, native), await scene.launch(session, native)];
    await scene.ends(session, native);
    await scene.settle(lost);
    await scene.sendFails((await scene.lane(session))!.id, true);
    const message = scene.runRow(run).currentId!;
    expect(scene.row(message).verdict).toBe('NOTICE_UNDELIVERABLE');
    await scene.cancel(message);
    await scene.settle(kept, 'cancelled');
    expect(scene.row(message).outcome).toBe('cancelled');
    expect(await scene.advance(run)).toBe('ended');
  });

  it('of a deadline fails its root as timed out', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { timeoutMs: 1_000 });
    scene.wait(1_000);
    expect(await scene.do({ rule: 'nextDeadline', command: { now: scene.now, id } })).toBe(true);
    await scene.cancel(id, { kind: 'deadline' }, 'TIMED_OUT');
    await scene.ends(session, native);
    expect(scene.row(id)).toMatchObject({ state: 'cancelled', outcome: 'failed', outcomeCode: 'TIMED_OUT' });
  });

  it('waives what a continuation was given that steps down from a turn it shares', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.settle(work);
    await scene.takes(session, native, (await scene.steer(session))!.id);
    const continuation = scene.continuationOf(work);
    expect((await scene.cancel(continuation.id)).interrupt).toEqual([]);
    expect(scene.notice(work)).toMatchObject({ state: 'waived', reason: 'cancelled' });
    expect(scene.row(id).state).toBe('running');
  });

  it('leaves what was detached alone', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.do({ rule: 'detach', command: { now: scene.now, id: work, actor: { kind: 'person' } } });
    await scene.cancel(id);
    await scene.ends(session, native, { status: 'interrupted' });
    expect(scene.row(id).closed).toBe(true);
    expect(scene.row(work)).toMatchObject({ state: 'running', cancelRequested: null });
  });

  it('keeps the shares of a holder: it closes when the work of the common turn has', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const second = await scene.message(session, { whenBusy: 'steer' });
    await scene.takes(session, first.native, (await scene.steer(session))!.id);
    const work = await scene.launch(session, first.native);
    await scene.cancel(second);
    expect(scene.row(second)).toMatchObject({ state: 'cancelled', closed: false });
    expect(scene.row(work).cancelRequested).toBeNull();
    await scene.ends(session, first.native);
    await scene.settle(work);
    await scene.ends(session, await scene.runs(session));
    expect(scene.row(second)).toMatchObject({ closed: true, outcome: 'cancelled' });
  });
});

describe('stopping a session', () => {
  it('latches its trees and what it hosts, waives what was destined to it, and ends its runs', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one']));
    await scene.advance(run);
    const native = await scene.runs(session);
    const work = await scene.launch(session, native);
    await scene.settle(work);
    const request = { actor: { kind: 'person' } as const, at: scene.now };
    const command = { now: scene.now, sessionId: session, request };
    const { roots } = await scene.do<{ roots: string[] }>({ rule: 'stopSession', command });
    const message = scene.runRow(run).currentId!;
    expect(roots).toEqual([message]);
    expect(scene.row(message).cancelRequested).not.toBeNull();
    expect(scene.notice(work)).toMatchObject({ state: 'waived', reason: 'session_stopped' });
    expect(scene.runRow(run).cancelRequested).toBe(true);
    expect(await scene.refused(scene.launching(session, native))).toBe('SESSION_STOPPED');
  });
});
