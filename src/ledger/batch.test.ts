import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { besideFailure } from './controller.ts';
import type { Orchestration } from './step-plan.ts';

const gives: Orchestration = { agents: {}, generic: true, maxRounds: 2, onChildFailure: 'cancel' };

interface Orchestrator {
  /** The background agent whose conversation gives out work. */
  readonly hostId: ExecutionId;
  readonly sessionId: SessionId;
  readonly messageId: ExecutionId;
  readonly native: string;
}

/** Somebody's agent starts an orchestrator, whose first turn runs. */
async function orchestrator(scene: Scene, todo: Partial<Orchestration> = {}): Promise<Orchestrator> {
  const above = await scene.session();
  const { native: aboveNative } = await scene.running(above);
  const {
    id: hostId,
    sessionId,
    run,
  } = await scene.launchAgent(above, aboveNative, planOf(['do it']), 'cost', {
    ...gives,
    ...todo,
  });
  await scene.advance(run);
  const native = await scene.runs(sessionId);
  const messageId = scene.runRow(run).currentId;
  if (!messageId) throw new Error('nothing was sent');
  return { hostId, sessionId, messageId, native };
}

/** It gives out so much in its turn, and ends it. */
async function givesOut(
  scene: Scene,
  { sessionId, native }: Orchestrator,
  count: number,
): Promise<ExecutionId[]> {
  const ids: ExecutionId[] = [];
  for (let i = 0; i < count; i++) ids.push(await scene.launch(sessionId, native, { name: `part ${i}` }));
  await scene.ends(sessionId, native);
  return ids;
}

function isWoken(scene: Scene, sessionId: SessionId): boolean {
  return scene.model.state.wakes.has(`session:${sessionId}`);
}

describe('a batch', () => {
  it('is handed over in one continuation when everything that was given out is closed', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const parts = await givesOut(scene, who, 3);
    await scene.settle(parts[0]!);
    await scene.settle(parts[1]!, 'failed');
    expect(await scene.lane(who.sessionId)).toBeUndefined();
    expect(scene.why(scene.row(who.hostId).rootId)).toContainEqual(
      expect.objectContaining({ why: 'waiting', evidence: 'waits for 1 of 3 sub-agents: part 2' }),
    );
    await scene.settle(parts[2]!);
    const turn = await scene.lane(who.sessionId);
    const heads = turn!.text.match(/^\[stemma ntc_\w+ #1\] part \d \w+/gm);
    expect(heads?.map((line) => line.split('] ')[1])).toEqual([
      'part 0 succeeded',
      'part 1 failed',
      'part 2 succeeded',
    ]);
    expect(turn!.text).toContain('AGENT_FAILED: it failed');
    expect(turn!.text).toMatch(/^\[stemma batch, round 1 of 2\] .*2 succeeded, 1 failed/);
    expect(new Set(parts.map((id) => scene.continuationOf(id).id)).size).toBe(1);
  });

  it('is never put into the running turn, and waits for its end', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const part = await scene.launch(who.sessionId, who.native);
    await scene.settle(part);
    expect(await scene.claim(who.sessionId)).toBeUndefined();
    expect(scene.notice(part)).toMatchObject({ mode: 'batch', state: 'owed' });
    await scene.ends(who.sessionId, who.native);
    expect(isWoken(scene, who.sessionId)).toBe(true);
    expect((await scene.lane(who.sessionId))?.cause).toBe('notices');
  });

  it('waits for what has settled and is not closed', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const [part] = await givesOut(scene, who, 1);
    const below = await scene.program(part!);
    await scene.settle(part!);
    expect(await scene.lane(who.sessionId)).toBeUndefined();
    await scene.settle(below);
    expect(scene.model.state.wakes.has(`drained:${who.messageId}`)).toBe(true);
    expect(
      await scene.do({
        rule: 'drained',
        command: { now: scene.now, id: who.messageId, fresh: scene.fresh() },
      }),
    ).toBe(true);
    expect((await scene.lane(who.sessionId))?.cause).toBe('notices');
  });

  it('is whole again after its continuation failed, and marked', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const parts = await givesOut(scene, who, 2);
    for (const part of parts) await scene.settle(part);
    await scene.fails(who.sessionId, await scene.runs(who.sessionId));
    expect(parts.map((id) => scene.notice(id))).toMatchObject([
      { state: 'owed', attempt: 1 },
      { state: 'owed', attempt: 1 },
    ]);
    expect(await scene.lane(who.sessionId)).toBeUndefined();
    scene.wait(2_000);
    const again = await scene.lane(who.sessionId);
    expect(again?.text.match(/#2\]/g)).toHaveLength(2);
    expect(again?.text.match(/delivered again/g)).toHaveLength(2);
    expect(again?.text).toContain('round 1 of 2');
  });

  it('waits for what a failed handling had given out itself', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const [part] = await givesOut(scene, who, 1);
    await scene.settle(part!);
    const native = await scene.runs(who.sessionId);
    const more = await scene.launch(who.sessionId, native);
    await scene.fails(who.sessionId, native);
    scene.wait(2_000);
    expect(await scene.lane(who.sessionId)).toBeUndefined();
    await scene.settle(more);
    const first = await scene.runs(who.sessionId);
    expect(scene.notice(more).state).toBe('handed');
    expect(scene.notice(part!).state).toBe('owed');
    await scene.ends(who.sessionId, first);
    await scene.ends(who.sessionId, await scene.runs(who.sessionId));
    expect(scene.notice(part!).state).toBe('handled');
  });

  it('goes without what was waived or detached', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const parts = await givesOut(scene, who, 3);
    await scene.settle(parts[0]!);
    await scene.settle(parts[1]!);
    const waive = {
      now: scene.now,
      id: scene.notice(parts[0]!).id,
      reason: 'no',
      actor: { kind: 'person' },
    } as const;
    await scene.do({ rule: 'waiveNotice', command: waive });
    await scene.do({ rule: 'detach', command: { now: scene.now, id: parts[2]!, actor: { kind: 'person' } } });
    await scene.runs(who.sessionId);
    expect(parts.map((id) => scene.hasNotice(id) && scene.notice(id).state)).toEqual([
      'waived',
      'handed',
      false,
    ]);
  });

  it('lets a message of a person go first while it waits, and follows it', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const parts = await givesOut(scene, who, 2);
    await scene.settle(parts[0]!);
    const { native } = await scene.running(who.sessionId);
    const own = await scene.launch(who.sessionId, native);
    await scene.settle(parts[1]!);
    await scene.settle(own);
    await scene.ends(who.sessionId, native);
    await scene.ends(who.sessionId, await scene.runs(who.sessionId));
    await scene.ends(who.sessionId, await scene.runs(who.sessionId));
    const [a, b, c] = [...parts, own].map((id) => scene.continuationOf(id).id);
    expect(a).toBe(b);
    expect(c).not.toBe(a);
  });

  it('stands still while its session waits for capacity, and is no failed delivery then', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const [part] = await givesOut(scene, who, 1);
    await scene.settle(part!);
    const native = await scene.runs(who.sessionId);
    await scene.fails(who.sessionId, native, { kind: 'capacity', resetsAt: scene.now + 60_000 });
    expect(await scene.lane(who.sessionId)).toBeUndefined();
    expect(scene.notice(part!)).toMatchObject({ state: 'owed', attempt: 0 });
    scene.wait(61_000);
    expect((await scene.lane(who.sessionId))?.cause).toBe('notices');
  });

  it('is waived when its session is stopped', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const parts = await givesOut(scene, who, 2);
    await scene.settle(parts[0]!);
    await scene.stop(who.sessionId);
    expect(scene.notice(parts[0]!)).toMatchObject({ state: 'waived', reason: 'session_stopped' });
  });

  it('comes with a note of what was ended because of whom, and only what was there before the failure is ended', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const parts = await givesOut(scene, who, 3);
    await scene.settle(parts[1]!, 'failed');
    expect(scene.model.state.wakes.has(`controller:${who.messageId}`)).toBe(true);
    const { ids, reason } = await scene.model.store.read(() => besideFailure(who.messageId));
    expect(ids).toEqual([parts[0], parts[2]]);
    for (const id of ids) {
      const request = { actor: { kind: 'system' }, at: scene.now, reason } as const;
      await scene.do({
        rule: 'cancel',
        command: { now: scene.now, id, request, verdict: 'CANCELLED', fresh: scene.fresh() },
      });
      await scene.settle(id, 'cancelled');
    }
    const turn = await scene.lane(who.sessionId);
    expect(turn?.text).toContain('part 0 cancelled');
    expect(turn?.text).toContain('cancelled by system: "part 1" failed');
  });

  it('is one round too many when the agent starts again in the last one: the step fails, and says so', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene, { maxRounds: 1 });
    const [part] = await givesOut(scene, who, 1);
    await scene.settle(part!);
    const native = await scene.runs(who.sessionId);
    const more = await scene.launch(who.sessionId, native);
    await scene.ends(who.sessionId, native);
    await scene.settle(more);
    expect(await scene.lane(who.sessionId)).toBeUndefined();
    expect(scene.notice(more)).toMatchObject({ state: 'waived', reason: 'rounds_exceeded' });
    expect(scene.row(who.messageId)).toMatchObject({ closed: true, verdict: 'ROUNDS_EXCEEDED' });
    const run = [...scene.model.state.runs.values()].find((each) => each.ownerId === who.hostId);
    await scene.advance(run!);
    expect(scene.row(who.hostId)).toMatchObject({ state: 'failed', error: { code: 'ROUNDS_EXCEEDED' } });
  });
});

describe('the result of a background agent', () => {
  it('is what it said last, after it had handled the results of what it started', async () => {
    const scene = new Scene();
    const who = await orchestrator(scene);
    const [part] = await givesOut(scene, who, 1);
    await scene.settle(part!);
    await scene.ends(who.sessionId, await scene.runs(who.sessionId), { answer: 'all is well' });
    const run = [...scene.model.state.runs.values()].find((each) => each.ownerId === who.hostId);
    await scene.advance(run!);
    expect(scene.row(who.hostId)).toMatchObject({ state: 'succeeded', result: 'all is well' });
  });
});
