import { describe, expect, it } from 'vitest';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import type { ExecutionUsage } from './execution.ts';
import { addUsage, describeUsage } from './spending.ts';

function uses(scene: Scene, sessionId: SessionId, nativeTurnId: string, usage: ExecutionUsage) {
  const command = { now: scene.now, sessionId, nativeTurnId, usage };
  return scene.do<boolean>({ rule: 'agentUsed', command });
}

/** Whether the deadline handler would end it now. */
function mustEnd(scene: Scene, id: ExecutionId) {
  return scene.do<boolean>({ rule: 'nextDeadline', command: { now: scene.now, id } });
}

describe('usage', () => {
  it('is counted at the root, whoever below used it, over sessions and levels', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['inner']));
    await scene.ends(session, native, { usage: { inputTokens: 100, outputTokens: 10, usd: 0.1 } });
    await scene.advance(agent.run);
    const inner = await scene.runs(agent.sessionId);
    await scene.ends(agent.sessionId, inner, { usage: { inputTokens: 7, usd: 0.2 } });
    expect(scene.row(id)).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 10, usd: 0.1 },
      spent: { inputTokens: 107, outputTokens: 10, usd: 0.3 },
    });
    expect(scene.row(agent.id)).toMatchObject({ usage: null, spent: null });
  });

  it('of a turn that several share is counted once, on its primary owner', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const other = await scene.message(session, { whenBusy: 'steer' });
    const steer = await scene.steer(session);
    await scene.takes(session, native, steer!.id);
    await scene.ends(session, native, { usage: { inputTokens: 50 } });
    expect(scene.row(id).spent).toEqual({ inputTokens: 50 });
    expect(scene.row(other)).toMatchObject({ state: 'succeeded', usage: null, spent: null });
  });

  it('that is told while the turn runs is a total: told again, it counts once, and a smaller one changes nothing', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    expect(await uses(scene, session, native, { inputTokens: 10 })).toBe(true);
    expect(await uses(scene, session, native, { inputTokens: 10 })).toBe(false);
    expect(await uses(scene, session, native, { inputTokens: 4 })).toBe(false);
    expect(await uses(scene, session, 'another turn', { inputTokens: 99 })).toBe(false);
    expect(scene.row(id)).toMatchObject({ usage: { inputTokens: 10 }, spent: { inputTokens: 10 } });
    await scene.ends(session, native, { usage: { inputTokens: 12, outputTokens: 3 } });
    expect(scene.row(id).usage).toEqual({ inputTokens: 12, outputTokens: 3 });
    expect(scene.row(id).spent).toEqual({ inputTokens: 12, outputTokens: 3 });
  });

  it('stays known when the agent dies in the turn', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    await uses(scene, session, native, { inputTokens: 10 });
    await scene.dies(session);
    expect(scene.row(id)).toMatchObject({ state: 'lost', usage: { inputTokens: 10 } });
  });
});

describe('a budget', () => {
  it('that a turn exceeds at its end fails the message, though the agent succeeded', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { budget: { tokens: 99 } });
    await scene.ends(session, native, { usage: { inputTokens: 60, outputTokens: 40 } });
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'failed', outcomeCode: 'BUDGET' });
  });

  it('that is used up to the last is not exceeded', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const budget = { tokens: 100, usd: 0.3 };
    const { id, native } = await scene.running(session, { budget });
    await scene.ends(session, native, { usage: { inputTokens: 60, outputTokens: 40, usd: 0.3 } });
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('is exceeded by what a grandchild uses while its turn runs: the whole tree is to end', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { budget: { usd: 1 } });
    const child = await scene.launchAgent(session, native, planOf(['child']));
    await scene.ends(session, native, { usage: { usd: 0.5 } });
    await scene.advance(child.run);
    const inChild = await scene.runs(child.sessionId);
    const grandchild = await scene.launchAgent(child.sessionId, inChild, planOf(['grandchild']));
    await scene.advance(grandchild.run);
    const deep = await scene.runs(grandchild.sessionId);
    const program = await scene.launch(grandchild.sessionId, deep);
    expect(await mustEnd(scene, id)).toBe(false);
    await uses(scene, grandchild.sessionId, deep, { usd: 0.6 });
    expect(scene.row(id)).toMatchObject({ verdict: 'BUDGET', closed: false });
    expect(await mustEnd(scene, id)).toBe(true);
    const cancelling = await scene.cancel(id, { kind: 'budget' }, 'BUDGET');
    expect(cancelling.interrupt.map((turn) => turn.sessionId).sort()).toEqual(
      [child.sessionId, grandchild.sessionId].sort(),
    );
    expect(cancelling.processes).toEqual([program]);
    expect(scene.row(id).cancelRequested?.actor.kind).toBe('budget');
  });

  it('of a message in a background agent ends that message and what is below it, not what is above', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const agent = await scene.launchAgent(session, native, planOf(['one', 'two'], { budget: { tokens: 5 } }));
    await scene.ends(session, native);
    await scene.advance(agent.run);
    const inner = await scene.runs(agent.sessionId);
    await scene.ends(agent.sessionId, inner, { usage: { outputTokens: 6 } });
    expect(await scene.advance(agent.run)).toBe('ended');
    expect(scene.row(agent.id)).toMatchObject({ state: 'failed', error: { code: 'BUDGET' } });
    expect(scene.row(id)).toMatchObject({ closed: false, verdict: null, spent: { outputTokens: 6 } });
  });

  it('refuses background agents whose usage nobody tells', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { native } = await scene.running(session, { budget: { usd: 1 } });
    await expect(scene.launchAgent(session, native, planOf(['one']), 'tokens')).rejects.toThrow('NO_USAGE');
    await expect(scene.launchAgent(session, native, planOf(['one']), 'none')).rejects.toThrow('NO_USAGE');
    const agent = await scene.launchAgent(session, native, planOf(['one'], { budget: { usd: 0.1 } }));
    expect(scene.row(agent.id).closed).toBe(false);
    const free = await scene.session();
    const { native: unbound } = await scene.running(free);
    await scene.launchAgent(free, unbound, planOf(['one']), 'none');
    const bound = planOf(['one'], { budget: { tokens: 1 } });
    await expect(scene.launchAgent(free, unbound, bound, 'none')).rejects.toThrow('NO_USAGE');
  });

  it('of whose use an agent tells nothing raises an alarm: it was believed to tell', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const alarms = () =>
      scene.model.store
        .snapshot()
        .events.filter(({ type, data }) => type === 'alarm' && data['what'] === 'usageUntold');
    const { native } = await scene.running(session, { budget: { usd: 1 } });
    await scene.ends(session, native, { usage: { inputTokens: 5 } });
    expect(alarms()).toHaveLength(1);
    const told = await scene.running(session, { budget: { usd: 1 } });
    await scene.ends(session, told.native, { usage: { usd: 0 } });
    expect(alarms()).toHaveLength(1);
  });

  it('gives way to a word of a person, who cancelled first', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { budget: { tokens: 5 } });
    await scene.cancel(id);
    await scene.ends(session, native, { status: 'interrupted', usage: { outputTokens: 6 } });
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'cancelled', outcomeCode: 'CANCELLED' });
  });
});

describe('sums of usage', () => {
  it('say nothing of what nobody said, and keep no dust of decimals', () => {
    expect(addUsage(null, { usd: 0.1 })).toEqual({ usd: 0.1 });
    expect(addUsage({ usd: 0.1 }, { usd: 0.2, inputTokens: 1 })).toEqual({ usd: 0.3, inputTokens: 1 });
  });

  it('are told to people', () => {
    expect(describeUsage({ inputTokens: 5, outputTokens: 6, usd: 0.5 })).toBe('11 tokens and 0.5 USD');
    expect(describeUsage({ tokens: 10 })).toBe('10 tokens');
    expect(describeUsage(null)).toBe('nothing');
  });
});
