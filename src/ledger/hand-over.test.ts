import { describe, expect, it } from 'vitest';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { Scene } from '../../test/ledger/scene.ts';

interface Owed {
  readonly scene: Scene;
  readonly session: SessionId;
  readonly message: ExecutionId;
  readonly work: ExecutionId;
}

/** A message whose turn has ended, and whose work has ended after it. */
async function resultOwed(): Promise<Owed> {
  const scene = new Scene();
  const session = await scene.session();
  const { id: message, native } = await scene.running(session);
  const work = await scene.launch(session, native);
  await scene.ends(session, native);
  await scene.settle(work);
  return { scene, session, message, work };
}

/** The turn that handles the result fails. */
async function failOnce({ scene, session }: Owed, error = {}): Promise<void> {
  await scene.fails(session, await scene.runs(session), error);
}

describe('delivering a result whose turn fails', () => {
  it('waits one second, then four, and says each time that it is one more', async () => {
    const owed = await resultOwed();
    const { scene, session, work } = owed;
    for (const [attempt, waitMs] of [
      [1, 1_000],
      [2, 4_000],
    ] as const) {
      await failOnce(owed);
      expect(scene.notice(work)).toMatchObject({ state: 'owed', attempt, epoch: attempt });
      expect(scene.notice(work).notBefore - scene.now).toBe(waitMs - 1);
      expect(await scene.lane(session)).toBeUndefined();
      scene.wait(waitMs);
    }
    const text = (await scene.lane(session))?.text ?? '';
    expect(text).toContain(`[stemma ${scene.notice(work).id} #3] `);
    expect(text).toContain('delivered again');
  });

  it('is given up after the third time: the root fails, the result is kept, people are told', async () => {
    const owed = await resultOwed();
    const { scene, message, work } = owed;
    for (let i = 0; i < 3; i++) {
      await failOnce(owed);
      scene.wait(20_000);
    }
    expect(scene.notice(work)).toMatchObject({ state: 'waived', reason: 'undeliverable' });
    expect(scene.row(message)).toMatchObject({ outcome: 'failed', outcomeCode: 'NOTICE_UNDELIVERABLE' });
    expect(scene.row(work).result).toBe('its result');
    const alarms = scene.model.store.snapshot().events.filter(({ type }) => type === 'alarm');
    expect(alarms).toMatchObject([{ data: { what: 'undeliverable' } }]);
  });

  it('a usage limit spends no attempt, and is waited for until the instant that the provider gave', async () => {
    const owed = await resultOwed();
    const { scene, session, work } = owed;
    const resetsAt = scene.now + 60_000;
    await failOnce(owed, { kind: 'capacity', resetsAt });
    expect(scene.notice(work)).toMatchObject({ state: 'owed', attempt: 0 });
    expect(await scene.lane(session)).toBeUndefined();
    scene.wait(60_000);
    expect(await scene.lane(session)).toBeDefined();
  });

  it.each(['resume', 'giveUp'] as const)(
    'a limit of unknown length wakes nobody; a person decides: %s',
    async (action) => {
      const owed = await resultOwed();
      const { scene, session, message, work } = owed;
      await failOnce(owed, { kind: 'login' });
      scene.wait(1_000_000);
      expect(await scene.lane(session)).toBeUndefined();
      const actor = { kind: 'person' } as const;
      const command = { now: scene.now, sessionId: session, action, actor, fresh: scene.fresh() };
      await scene.do({ rule: 'decideLimit', command });
      if (action === 'resume') expect(await scene.lane(session)).toBeDefined();
      else expect(scene.row(message).outcomeCode).toBe('NOTICE_UNDELIVERABLE');
      expect(scene.notice(work).state).toBe(action === 'resume' ? 'handed' : 'waived');
    },
  );

  it('is given up at once when the conversation cannot be had again', async () => {
    const { scene, session, message, work } = await resultOwed();
    await scene.sendFails((await scene.lane(session))!.id, true, 'SESSION_GONE');
    expect(scene.notice(work)).toMatchObject({ state: 'waived', reason: 'session_gone' });
    expect(scene.row(message)).toMatchObject({ outcome: 'failed', outcomeCode: 'SESSION_GONE' });
  });

  it('a person who interrupts the turn waives it', async () => {
    const { scene, session, message, work } = await resultOwed();
    await scene.ends(session, await scene.runs(session), { status: 'interrupted' });
    expect(scene.notice(work)).toMatchObject({ state: 'waived', reason: 'interrupted' });
    expect(scene.row(message).outcome).toBe('succeeded');
  });

  it.each(['its turn fails', 'its send fails'])(
    'is dropped when the continuation was detached and %s',
    async (how) => {
      const { scene, session, message, work } = await resultOwed();
      const turn = await scene.lane(session);
      const native = await (how === 'its turn fails'
        ? scene.begins(session, { deliveryId: turn!.id })
        : undefined);
      const id = scene.continuationOf(work).id;
      await scene.do({ rule: 'detach', command: { now: scene.now, id, actor: { kind: 'person' } } });
      // Nothing holds the message any more, and nothing may hold it again.
      expect(scene.row(message).closed).toBe(true);
      if (native === undefined) await scene.sendFails(turn!.id);
      else await scene.fails(session, native);
      expect(scene.notice(work)).toMatchObject({ state: 'waived', reason: 'detached' });
    },
  );
});

describe('dropping a result', () => {
  it('is refused while its text is with the agent', async () => {
    const { scene, session, work } = await resultOwed();
    await scene.lane(session);
    const about = { now: scene.now, id: scene.notice(work).id };
    const actor = { kind: 'person' } as const;
    expect(await scene.refused({ rule: 'waiveNotice', command: { ...about, reason: 'no', actor } })).toBe(
      'IN_FLIGHT',
    );
    expect(await scene.refused({ rule: 'redeliver', command: about })).toBe('ILLEGAL_STATE');
  });

  it('closes what waited for it, and leaves the outcome alone', async () => {
    const { scene, message, work } = await resultOwed();
    const command = {
      now: scene.now,
      id: scene.notice(work).id,
      reason: 'seen',
      actor: { kind: 'person' },
    } as const;
    expect(await scene.do({ rule: 'waiveNotice', command })).toBe('waived');
    expect(await scene.do({ rule: 'waiveNotice', command })).toBe('already');
    expect(scene.row(message)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });
});
