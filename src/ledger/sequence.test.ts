import { describe, expect, it } from 'vitest';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { CheckToRun } from './check.ts';
import { planOf, Scene } from '../../test/ledger/scene.ts';

/** Asks for the check of a message to start. */
async function startCheck(scene: Scene, messageId: ExecutionId): Promise<CheckToRun | undefined> {
  return scene.do({ rule: 'startCheck', command: { now: scene.now, messageId } });
}

/** Tells a composite that its deficit may have fallen. */
function drain(scene: Scene, id: ExecutionId): Promise<boolean> {
  return scene.do({ rule: 'drained', command: { now: scene.now, id, fresh: scene.fresh() } });
}

/** The agent works on the message that is due, and ends well. */
async function work(scene: Scene, session: SessionId): Promise<void> {
  await scene.ends(session, await scene.runs(session));
}

describe('a sequence', () => {
  it('sends a message when the one before it is closed, not when its turn has ended', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one', 'two']));
    await scene.advance(run);
    const native = await scene.runs(session);
    const child = await scene.launch(session, native);
    await scene.ends(session, native);
    expect(await scene.advance(run)).toBe('notYet');
    await scene.settle(child);
    expect(await scene.advance(run)).toBe('notYet');
    await work(scene, session);
    expect(await scene.advance(run)).toBe('sent');
    await work(scene, session);
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ state: 'ended', outcome: 'succeeded', cursor: 2 });
  });

  it.each([
    ['stop', 'ended'],
    ['continue', 'sent'],
  ] as const)('whose message failed does as its plan says: %s', async (onFailure, then) => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one', 'two'], { onFailure }));
    await scene.advance(run);
    await scene.fails(session, await scene.runs(session));
    expect(await scene.advance(run)).toBe(then);
  });

  it('that is cancelled between two messages sends no other', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one', 'two']));
    await scene.advance(run);
    await work(scene, session);
    await scene.cancelRun(run.id);
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'cancelled', cursor: 1 });
  });

  it('that is cancelled has its open message and all below it cancelled in the same step', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one', 'two']));
    await scene.advance(run);
    const native = await scene.runs(session);
    const child = await scene.launch(session, native);
    const message = scene.runRow(run).currentId!;
    const { openId, cancelling } = await scene.cancelRun(run.id);
    // Whoever asked for it dies here: nothing else is done, and what is left is done by wake-ups.
    for (const id of [message, child]) expect(scene.row(id).cancelRequested).not.toBeNull();
    expect(scene.model.state.wakes.has(`deadline:${message}`)).toBe(true);
    expect(openId).toBe(message);
    expect(cancelling).toMatchObject({ interrupt: [{ sessionId: session }], processes: [child] });
  });

  it('that is cancelled before its message was taken up ends it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one', 'two']));
    await scene.advance(run);
    const message = scene.runRow(run).currentId!;
    await scene.cancelRun(run.id);
    expect(scene.row(message)).toMatchObject({ state: 'cancelled', closed: true });
    expect(await scene.advance(run)).toBe('ended');
  });
});

describe('a background agent', () => {
  it('settles with its last message when nothing below it is open', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['one']));
    await scene.advance(agent.run);
    await scene.ends(agent.sessionId, await scene.runs(agent.sessionId), { answer: 'found it' });
    expect(await scene.advance(agent.run)).toBe('ended');
    expect(scene.row(agent.id)).toMatchObject({ state: 'succeeded', closed: true, result: 'found it' });
    expect(scene.notice(agent.id)).toMatchObject({ state: 'owed', sessionId: session });
  });

  it('whose program has ended is called again when its deficit has fallen to zero', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['one']));
    await scene.advance(agent.run);
    await work(scene, agent.sessionId);
    const below = await scene.program(agent.id);
    expect(await scene.advance(agent.run)).toBe('ended');
    expect(scene.row(agent.id)).toMatchObject({ state: 'running', drain: 0, open: 1 });
    expect(await drain(scene, agent.id)).toBe(false);
    await scene.settle(below);
    expect(scene.model.state.wakes.has(`drained:${agent.id}`)).toBe(true);
    expect(await drain(scene, agent.id)).toBe(true);
    expect(scene.row(agent.id)).toMatchObject({ state: 'succeeded', closed: true });
  });
});

describe('the check of a message', () => {
  it('waits until all else below the message is closed', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { check: 'true' });
    const child = await scene.launch(session, native);
    await scene.ends(session, native);
    expect(scene.row(id)).toMatchObject({ state: 'succeeded', drain: 1, open: 2, closed: false });
    expect(await startCheck(scene, id)).toBeUndefined();
    await scene.settle(child);
    await work(scene, session);
    expect(scene.model.state.wakes.has(`drained:${id}`)).toBe(true);
    const ready = await startCheck(scene, id);
    await scene.settle(ready!.check.id);
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('that says no fails the message, whatever its turn said', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { check: 'true' });
    await scene.ends(session, native);
    const ready = await startCheck(scene, id);
    await scene.settle(ready!.check.id, 'failed');
    expect(scene.row(id)).toMatchObject({
      state: 'succeeded',
      outcome: 'failed',
      outcomeCode: 'CHECK_FAILED',
    });
  });

  it('that is cancelled alone has not said yes', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { check: 'true' });
    await scene.ends(session, native);
    await scene.cancel(scene.only('step').id);
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'failed', outcomeCode: 'CHECK_FAILED' });
  });

  it('starts although something that was detached lives on', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { check: 'true', background: 'detach' });
    await scene.ends(session, native, { tasks: ['a server'] });
    expect(scene.row(id).open).toBe(1);
    expect((await startCheck(scene, id))?.check).toMatchObject({ kind: 'step', parentId: id });
  });

  it('is no other step: one that is alone below a running message is left to its program', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id } = await scene.running(session, { check: 'true' });
    await scene.program(id, { kind: 'step' });
    expect(await startCheck(scene, id)).toBeUndefined();
  });

  it('of a turn that failed never runs', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { check: 'true' });
    await scene.fails(session, native);
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'failed', outcomeCode: 'AGENT_FAILED' });
    expect(scene.children(id)).toEqual([]);
  });
});
