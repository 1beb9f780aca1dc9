import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import type { SessionId } from '../base/ids.ts';
import type { Run } from './session.ts';

const here = '/repository';

/** A run that must have the directory alone, with its first message in the queue. */
async function runIn(scene: Scene, sessionId: SessionId, texts = ['one'], alone = here): Promise<Run> {
  const run = await scene.run(sessionId, planOf(texts), {}, alone);
  await scene.advance(run);
  return run;
}

/** One run works in the directory, another one waits for it. */
async function twoRuns(scene: Scene, texts = ['one']) {
  const [one, other] = [await scene.session(), await scene.session()];
  const first = await runIn(scene, one, texts);
  const native = await scene.runs(one);
  const second = await runIn(scene, other);
  await scene.lane(other);
  return { one, other, first, second, native };
}

function isWoken(scene: Scene, sessionId: SessionId): boolean {
  return scene.model.state.wakes.get(`session:${sessionId}`)?.at === 0;
}

/** Every wake-up that is due was handled. */
async function forgetWakes(scene: Scene): Promise<void> {
  for (const wake of scene.model.state.wakes.values()) await scene.model.store.finishWake(wake, null);
}

describe('a workspace that a run must have alone', () => {
  it('is held from the first message to the end of the run; another run waits, and says for whom', async () => {
    const scene = new Scene();
    const { one, other, first, second, native } = await twoRuns(scene, ['one', 'two']);
    const waits = scene.runRow(second).currentId!;
    const text = `the workspace ${here} is held by ${first.id}`;
    expect(scene.row(waits).waiting).toMatchObject({ for: 'workspace', text });
    expect(scene.why(waits)).toMatchObject([{ why: 'waiting', evidence: `waits for workspace: ${text}` }]);
    await scene.ends(one, native);
    await scene.advance(first);
    expect(await scene.lane(other)).toBeUndefined();
    const next = await scene.runs(one);
    await forgetWakes(scene);
    await scene.ends(one, next);
    await scene.advance(first);
    expect(scene.runRow(first).state).toBe('ended');
    expect(isWoken(scene, other)).toBe(true);
    expect(await scene.lane(other)).toBeDefined();
    expect(scene.row(waits)).toMatchObject({ state: 'running', waiting: null });
  });

  it('goes to whoever asked first', async () => {
    const scene = new Scene();
    const { one, other, first, native } = await twoRuns(scene);
    const third = await scene.session();
    await runIn(scene, third);
    await scene.ends(one, native);
    await scene.advance(first);
    expect(await scene.lane(third)).toBeUndefined();
    expect(await scene.lane(other)).toBeDefined();
  });

  it('is not waited for by a run in another one, nor by a person', async () => {
    const scene = new Scene();
    await twoRuns(scene);
    const [elsewhere, free] = [await scene.session(), await scene.session()];
    await runIn(scene, elsewhere, ['one'], '/other');
    await scene.message(free);
    expect(await scene.lane(elsewhere)).toBeDefined();
    expect(await scene.lane(free)).toBeDefined();
  });

  it('is shared by all that works below the run', async () => {
    const scene = new Scene();
    const session = await scene.session();
    await runIn(scene, session);
    const native = await scene.runs(session);
    const agent = await scene.launchAgent(session, native, planOf(['below']));
    await scene.advance(agent.run);
    expect(await scene.lane(agent.sessionId)).toBeDefined();
  });

  it('holds back nobody in the queue of one conversation: the next message of its holder may be there', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await runIn(scene, session, ['one', 'two']);
    const native = await scene.runs(session);
    const second = await runIn(scene, session);
    await scene.ends(session, native);
    await scene.advance(first);
    await scene.ends(session, await scene.runs(session));
    await scene.advance(first);
    expect(scene.runRow(first).outcome).toBe('succeeded');
    await scene.ends(session, await scene.runs(session));
    await scene.advance(second);
    expect(scene.runRow(second).outcome).toBe('succeeded');
  });

  it('does not wait for a run that cannot come: the next one has it', async () => {
    const scene = new Scene();
    const { one, other, first, second, native } = await twoRuns(scene);
    const third = await scene.session();
    await runIn(scene, third);
    await scene.lane(third);
    await scene.begins(other);
    await forgetWakes(scene);
    await scene.ends(one, native);
    await scene.advance(first);
    expect(isWoken(scene, third)).toBe(true);
    expect(await scene.lane(third)).toBeDefined();
    expect(scene.model.state.workspaces.get(second.id)?.place).toBeNull();
  });

  it('is still waited for by those who ask before the first in line has come', async () => {
    const scene = new Scene();
    const { one, other, first, native } = await twoRuns(scene);
    const session = await scene.session();
    const third = await runIn(scene, session);
    await scene.ends(one, native);
    await scene.advance(first);
    expect(await scene.lane(session)).toBeUndefined();
    expect(await scene.lane(session)).toBeUndefined();
    expect(scene.model.state.workspaces.get(third.id)?.place).not.toBeNull();
    expect(await scene.lane(other)).toBeDefined();
  });

  it('goes to another conversation when one with several runs in line is stopped', async () => {
    const scene = new Scene();
    const { one, other, first, native } = await twoRuns(scene);
    await runIn(scene, other);
    await scene.lane(other);
    const last = await scene.session();
    await runIn(scene, last);
    await scene.lane(last);
    await forgetWakes(scene);
    await scene.ends(one, native);
    await scene.advance(first);
    await scene.stop(other);
    await scene.lane(other);
    expect(isWoken(scene, last)).toBe(true);
    expect(await scene.lane(last)).toBeDefined();
  });

  it('is given up by a run that is cancelled while it waits', async () => {
    const scene = new Scene();
    const { other, second } = await twoRuns(scene);
    await scene.cancelRun(second.id);
    await scene.cancel(scene.runRow(second).currentId!);
    await scene.advance(second);
    expect(scene.runRow(second).state).toBe('ended');
    expect(scene.model.state.workspaces.get(second.id)?.place).toBeNull();
    expect(await scene.lane(other)).toBeUndefined();
  });

  it('is held while its run waits for a turn slot', async () => {
    const scene = new Scene();
    await scene.limit({ turns: 1 });
    const [busy, one, other] = [await scene.session(), await scene.session(), await scene.session()];
    const { native } = await scene.running(busy);
    const [first, second] = [await runIn(scene, one), await runIn(scene, other)];
    await scene.lane(one);
    await scene.lane(other);
    expect(scene.row(scene.runRow(first).currentId!).waiting?.for).toBe('slot');
    expect(scene.row(scene.runRow(second).currentId!).waiting?.for).toBe('workspace');
    await scene.ends(busy, native);
    expect(await scene.lane(other)).toBeUndefined();
    expect(await scene.lane(one)).toBeDefined();
  });
});
