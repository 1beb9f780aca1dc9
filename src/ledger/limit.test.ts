import { describe, expect, it } from 'vitest';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { planOf, Scene } from '../../test/ledger/scene.ts';

const minute = 60_000;
const person = { kind: 'person' } as const;

async function decide(scene: Scene, sessionId: SessionId, action: 'resume' | 'giveUp'): Promise<number> {
  const command = { now: scene.now, sessionId, action, actor: person, fresh: scene.fresh() };
  return scene.do({ rule: 'decideLimit', command });
}

function isDue(scene: Scene, id: ExecutionId): Promise<boolean> {
  return scene.do({ rule: 'nextDeadline', command: { now: scene.now, id } });
}

describe('a message whose turn meets a usage limit', () => {
  it('waits for the instant that the provider gave, and then goes to its agent again, marked', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { text: 'write the report' });
    const resetsAt = scene.now + minute;
    await scene.fails(session, native, { kind: 'capacity', resetsAt });
    expect(scene.row(id)).toMatchObject({ state: 'queued', waiting: { for: 'capacity', until: resetsAt } });
    expect(scene.model.state.wakes.get(`session:${session}`)?.at).toBe(0);
    expect(await scene.lane(session)).toBeUndefined();
    expect(scene.model.state.wakes.get(`session:${session}`)?.at).toBe(0);
    scene.wait(minute);
    const again = await scene.lane(session);
    expect(again?.text).toMatch(/^\[stemma exe_\w+ again #1\] [^\n]+\n\nwrite the report$/);
    await scene.ends(session, await scene.begins(session, { deliveryId: again!.id }));
    expect(scene.row(id)).toMatchObject({ state: 'succeeded', closed: true, outcome: 'succeeded' });
  });

  it('is marked once, however often it meets one, and is tried ever more seldom', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { text: 'one\n\ntwo' });
    await scene.fails(session, native, { kind: 'capacity', resetsAt: scene.now });
    scene.wait(10);
    const second = await scene.runs(session);
    await scene.fails(session, second, { kind: 'capacity', resetsAt: scene.now });
    scene.wait(1000);
    expect(await scene.lane(session)).toBeUndefined();
    scene.wait(5000);
    expect((await scene.lane(session))?.text).toMatch(/^\[stemma exe_\w+ again #2\] [^\n]+\n\none\n\ntwo$/);
    expect(scene.row(id).state).toBe('running');
  });

  it('is not overtaken by what was queued behind it, and nothing of its session is sent meanwhile', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    const next = await scene.message(session);
    await scene.fails(session, native, { kind: 'capacity', resetsAt: scene.now + minute });
    expect(await scene.lane(session)).toBeUndefined();
    scene.wait(minute);
    await scene.lane(session);
    expect([scene.row(id).state, scene.row(next).state]).toEqual(['running', 'queued']);
  });

  it('keeps its clock where the agent never got it again, and what it began before goes on', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { timeoutMs: 10_000 });
    await scene.launch(session, native);
    await scene.fails(session, native, { kind: 'capacity', resetsAt: scene.now });
    scene.wait(minute);
    const again = await scene.lane(session);
    await scene.sendFails(again!.id);
    expect(scene.row(id)).toMatchObject({ state: 'queued', waiting: { for: 'lane' } });
    expect(scene.row(id).deadlineAt).not.toBeNull();
  });

  it('has a clock that stands still: the deadline moves by as long as it waited', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { timeoutMs: 10_000 });
    const { deadlineAt } = scene.row(id);
    const met = scene.now;
    await scene.fails(session, native, { kind: 'capacity', resetsAt: met + minute });
    scene.wait(30_000);
    expect(await isDue(scene, id)).toBe(false);
    scene.wait(minute);
    const taken = scene.now;
    await scene.lane(session);
    expect(scene.row(id).deadlineAt).toBe(deadlineAt! + taken - met);
  });

  it('is cancelled like any other that is queued', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    await scene.fails(session, native, { kind: 'capacity' });
    await scene.cancel(id);
    expect(scene.row(id)).toMatchObject({ state: 'cancelled', closed: true, outcome: 'cancelled' });
  });

  it('fails when a person gives up, and says why', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session);
    await scene.fails(session, native, { kind: 'capacity', message: 'weekly limit' });
    scene.wait(100 * minute);
    expect(await scene.lane(session)).toBeUndefined();
    await decide(scene, session, 'giveUp');
    expect(scene.row(id)).toMatchObject({ outcome: 'failed', outcomeCode: 'CAPACITY' });
    expect(scene.row(id).error?.message).toBe('weekly limit');
    await scene.message(session);
    expect(await scene.lane(session)).toBeDefined();
  });

  it('keeps the sequence where it is', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const plan = planOf(['first', 'second']);
    const run = await scene.run(session, plan);
    await scene.advance(run);
    await scene.fails(session, await scene.runs(session), { kind: 'capacity', resetsAt: scene.now + minute });
    expect(await scene.advance(run)).toBe('notYet');
    scene.wait(minute);
    await scene.ends(session, await scene.runs(session));
    await scene.advance(run);
    expect((await scene.lane(session))?.text).toBe('second');
  });
});

describe('a message above what waits for a limit', () => {
  it('has a clock that stands still while its result waits', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { timeoutMs: 10_000 });
    const work = await scene.launch(session, native);
    await scene.ends(session, native);
    await scene.settle(work);
    const { deadlineAt } = scene.row(id);
    const met = scene.now;
    await scene.fails(session, await scene.runs(session), { kind: 'capacity', resetsAt: met + minute });
    scene.wait(30_000);
    expect(await isDue(scene, id)).toBe(false);
    scene.wait(30_000);
    await scene.ends(session, await scene.runs(session));
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'succeeded' });
    expect(scene.row(id).deadlineAt).toBeGreaterThan(deadlineAt! + minute - 1000);
  });

  it('has a clock that stands still while a turn below it waits', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { timeoutMs: 10_000 });
    const work = await scene.launch(session, native);
    await scene.ends(session, native);
    await scene.settle(work);
    const { deadlineAt } = scene.row(id);
    const continuation = await scene.runs(session);
    const since = scene.now;
    const waiting = { for: 'capacity', since, until: since + 2 * minute, text: 'limit' } as const;
    await scene.do({ rule: 'agentWaits', command: { now: since, sessionId: session, waiting } });
    scene.wait(minute);
    expect(await isDue(scene, id)).toBe(false);
    const now = scene.now;
    await scene.do({ rule: 'agentWaits', command: { now, sessionId: session, waiting: null } });
    expect(scene.row(id).deadlineAt).toBe(deadlineAt! + now - since);
    await scene.ends(session, continuation);
    expect(scene.row(id).outcome).toBe('succeeded');
  });
});

it('an agent that says it waits, and hangs, is believed for as long as its message may take', async () => {
  const scene = new Scene();
  const session = await scene.session();
  const { id } = await scene.running(session, { timeoutMs: 10_000 });
  const waiting = { for: 'capacity', since: scene.now, text: 'busy' } as const;
  await scene.do({ rule: 'agentWaits', command: { now: scene.now, sessionId: session, waiting } });
  scene.wait(15_000);
  expect(await isDue(scene, id)).toBe(false);
  scene.wait(10_000);
  expect(await isDue(scene, id)).toBe(true);
});

describe('an expired sign-in', () => {
  it('holds every session of the agent, though it was met once, until a person says that it is renewed', async () => {
    const scene = new Scene();
    const [first, second] = [await scene.session(), await scene.session()];
    const { id, native } = await scene.running(first);
    await scene.fails(first, native, { kind: 'login', message: 'sign in again' });
    const other = await scene.message(second);
    expect(await scene.lane(second)).toBeUndefined();
    expect(scene.row(other).waiting).toMatchObject({ for: 'login', text: 'sign in again' });
    expect(await decide(scene, second, 'resume')).toBe(2);
    expect(scene.row(other).waiting).toBeNull();
    await scene.lane(first);
    await scene.lane(second);
    expect([scene.row(id).state, scene.row(other).state]).toEqual(['running', 'running']);
  });

  it('does not hold the sessions of other agents', async () => {
    const scene = new Scene();
    const first = await scene.session();
    const { native } = await scene.running(first);
    await scene.fails(first, native, { kind: 'login' });
    const second = await scene.session('another');
    await scene.message(second);
    expect(await scene.lane(second)).toBeDefined();
  });

  it('of a stopped session holds nobody', async () => {
    const scene = new Scene();
    const [first, second] = [await scene.session(), await scene.session()];
    const { native } = await scene.running(first);
    await scene.fails(first, native, { kind: 'login' });
    const request = { actor: person, at: scene.now };
    await scene.do({ rule: 'stopSession', command: { now: scene.now, sessionId: first, request } });
    await scene.message(second);
    expect(await scene.lane(second)).toBeDefined();
  });
});

it('there is nothing to decide for a session that waits for no limit', async () => {
  const scene = new Scene();
  const sessionId = await scene.session();
  const command = {
    now: scene.now,
    sessionId,
    action: 'resume',
    actor: person,
    fresh: scene.fresh(),
  } as const;
  expect(await scene.refused({ rule: 'decideLimit', command })).toBe('ILLEGAL_STATE');
});
