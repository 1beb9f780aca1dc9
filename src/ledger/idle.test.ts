import { describe, expect, it } from 'vitest';
import type { SessionId } from '../base/ids.ts';
import { Scene } from '../../test/ledger/scene.ts';
import { node } from '../../test/ledger/choice.ts';

const minute = 60_000;
const afterMs = 15 * minute;

async function opened(scene: Scene): Promise<SessionId> {
  const sessionId = await scene.session();
  const command = { now: scene.now, sessionId, nativeId: 'n', node, idleAt: scene.now + afterMs };
  await scene.do({ rule: 'sessionOpened', command });
  return sessionId;
}

function isIdle(scene: Scene, sessionId: SessionId, isInUse = false): Promise<boolean> {
  return scene.do({ rule: 'isIdle', command: { now: scene.now, sessionId, afterMs, isInUse } });
}

const askedAt = (scene: Scene, id: SessionId): number | undefined =>
  scene.model.state.wakes.get(`idle:${id}`)?.at;

describe('an agent process', () => {
  it('is of no use when nothing has happened in its session for long enough', async () => {
    const scene = new Scene();
    const session = await opened(scene);
    const { native } = await scene.running(session);
    scene.wait(10 * minute);
    await scene.ends(session, native);
    const endedAt = scene.now - 1;
    expect(await isIdle(scene, session)).toBe(false);
    expect(askedAt(scene, session)).toBeLessThanOrEqual(endedAt + afterMs);
    scene.wait(afterMs);
    expect(await isIdle(scene, session)).toBe(true);
  });

  it('is needed by a turn, by a message in the queue, and by somebody who looks at it', async () => {
    const scene = new Scene();
    const session = await opened(scene);
    const { native } = await scene.running(session);
    scene.wait(2 * afterMs);
    expect(await isIdle(scene, session)).toBe(false);
    await scene.ends(session, native);
    scene.wait(2 * afterMs);
    expect(await isIdle(scene, session, true)).toBe(false);
    await scene.message(session);
    scene.wait(2 * afterMs);
    expect(await isIdle(scene, session)).toBe(false);
    await scene.ends(session, await scene.runs(session));
    scene.wait(afterMs);
    expect(await isIdle(scene, session)).toBe(true);
  });

  it('is needed by work that its message has set in motion, and by what the agent does in the background', async () => {
    const scene = new Scene();
    const session = await opened(scene);
    const { native } = await scene.running(session);
    const work = await scene.launch(session, native);
    await scene.ends(session, native, { tasks: ['server'] });
    scene.wait(2 * afterMs);
    expect(await isIdle(scene, session)).toBe(false);
    await scene.settle(work);
    await scene.ends(session, await scene.runs(session), { tasks: ['server'] });
    scene.wait(2 * afterMs);
    expect(await isIdle(scene, session)).toBe(false);
    await scene.taskEnds(session, 'server', false);
    await scene.ends(session, await scene.runs(session));
    scene.wait(2 * afterMs);
    expect(await isIdle(scene, session)).toBe(true);
  });

  it('is not asked for where there is none', async () => {
    const scene = new Scene();
    const session = await opened(scene);
    await scene.dies(session);
    const before = askedAt(scene, session);
    scene.wait(2 * afterMs);
    expect(await isIdle(scene, session)).toBe(false);
    expect(askedAt(scene, session)).toBe(before);
  });
});
