import { describe, expect, it } from 'vitest';
import type { SessionId } from '../base/ids.ts';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import type { Run } from './session.ts';

const hourMs = 3_600_000;
const person = { kind: 'person' } as const;
/** A limit is no failure: nothing of this may be spent on it. */
const retry = { max: 3, backoffMs: 0 };

/** A run of three messages whose second one is at work. */
async function atSecond(scene: Scene): Promise<{ session: SessionId; run: Run; native: string }> {
  const session = await scene.session();
  const run = await scene.run(session, planOf(['one', 'two', 'three'], { retry }));
  await scene.advance(run);
  await scene.ends(session, await scene.runs(session));
  await scene.advance(run);
  return { session, run, native: await scene.runs(session) };
}

/** Everything that was ever sent to the agent, in order, without the line that says that it is sent again. */
function sent(scene: Scene): string[] {
  const turns = [...scene.model.state.turns.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return turns.map(({ text }) => text.replace(/^\[stemma \S+ again #\d+\][^\n]*\n\n/, ''));
}

/** Handles all that is due, as the server does, until nothing is. */
async function handleDue(scene: Scene, session: SessionId, run: Run): Promise<void> {
  await scene.advance(run);
  const turn = await scene.lane(session);
  if (turn) await scene.ends(session, await scene.begins(session, { deliveryId: turn.id }));
}

describe('a run whose message meets a usage limit', () => {
  it('waits at that message until the reset, goes on once, and repeats nothing that is finished', async () => {
    const scene = new Scene();
    const { session, run, native } = await atSecond(scene);
    const resetsAt = scene.now + 5 * hourMs;
    await scene.fails(session, native, { kind: 'capacity', resetsAt });
    for (let i = 0; i < 4; i++) {
      // Looked at again and again: nothing is tried, nothing is spent.
      await handleDue(scene, session, run);
      expect(scene.runRow(run)).toMatchObject({ state: 'running', cursor: 2, tries: 1, retryAt: null });
      scene.wait(hourMs);
    }
    const waiting = scene.row(scene.runRow(run).currentId!);
    expect(waiting).toMatchObject({
      state: 'queued',
      attempt: 1,
      waiting: { for: 'capacity', until: resetsAt },
    });
    expect(sent(scene)).toEqual(['one', 'two']);
    scene.wait(hourMs);
    for (let i = 0; i < 3; i++) await handleDue(scene, session, run);
    expect(scene.runRow(run)).toMatchObject({ state: 'ended', outcome: 'succeeded', cursor: 3 });
    expect(sent(scene)).toEqual(['one', 'two', 'two', 'three']);
    const messages = [...scene.model.state.executions.values()].filter((row) => row.runId === run.id);
    expect(messages.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'succeeded'],
      [1, 'succeeded'],
      [1, 'succeeded'],
    ]);
  });

  it('whose end nobody knows is woken by nothing, and goes on once a person says so', async () => {
    const scene = new Scene();
    const { session, run, native } = await atSecond(scene);
    await scene.fails(session, native, { kind: 'capacity', message: 'try again later' });
    await handleDue(scene, session, run);
    scene.wait(400 * 24 * hourMs);
    await handleDue(scene, session, run);
    expect(sent(scene)).toEqual(['one', 'two']);
    // No instant is owed at which anything would look again by itself.
    const later = [...scene.model.state.wakes.values()].filter((wake) => wake.at > scene.now);
    expect(later).toEqual([]);
    expect(scene.row(scene.runRow(run).currentId!).waiting).toMatchObject({
      for: 'capacity',
      text: 'try again later',
    });
    const resume = { now: scene.now, sessionId: session, action: 'resume', actor: person } as const;
    await scene.do({ rule: 'decideLimit', command: { ...resume, fresh: scene.fresh() } });
    for (let i = 0; i < 3; i++) await handleDue(scene, session, run);
    expect(sent(scene)).toEqual(['one', 'two', 'two', 'three']);
    expect(scene.runRow(run)).toMatchObject({ state: 'ended', outcome: 'succeeded' });
  });

  it('that a person gives up has failed, and is not tried again', async () => {
    const scene = new Scene();
    const { session, run, native } = await atSecond(scene);
    await scene.fails(session, native, { kind: 'capacity' });
    const giveUp = { now: scene.now, sessionId: session, action: 'giveUp', actor: person } as const;
    await scene.do({ rule: 'decideLimit', command: { ...giveUp, fresh: scene.fresh() } });
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'failed', outcomeCode: 'CAPACITY' });
  });

  it('is cancelled while it waits, and sends no other message after the reset', async () => {
    const scene = new Scene();
    const { session, run, native } = await atSecond(scene);
    await scene.fails(session, native, { kind: 'capacity', resetsAt: scene.now + hourMs });
    await scene.cancelRun(run.id);
    await scene.cancel(scene.runRow(run).currentId!);
    scene.wait(2 * hourMs);
    for (let i = 0; i < 3; i++) await handleDue(scene, session, run);
    expect(scene.runRow(run)).toMatchObject({ state: 'ended', outcome: 'cancelled', cursor: 2 });
    expect(sent(scene)).toEqual(['one', 'two']);
  });
});
