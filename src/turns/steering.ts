import { reach } from '../base/faults.ts';
import type { SessionId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { ask } from '../ledger/questions.ts';
import { claimSteer, resolveSteer } from '../ledger/steer.ts';
import { capabilitiesOf, type OpenSession } from './open-session.ts';
import type { TurnsContext } from './ports.ts';

/** Puts what is owed to the running turn into it, where the driver can prove that it was taken up. One text at a time. */
export async function steerNext(
  context: TurnsContext,
  sessionId: SessionId,
  open: OpenSession,
): Promise<void> {
  if (capabilitiesOf(open).steer !== 'proven') return;
  const { store, clock, ids } = context;
  const fresh = new FreshIds(ids);
  const claimed = await store.decide(() => claimSteer({ now: clock.now(), sessionId, fresh }));
  const steer = claimed.ok ? claimed.value : undefined;
  if (!steer) return;
  reach('steer.before');
  // Written before it is sent: a claim that a crash leaves unwritten was provably never sent.
  const written = await store.decide(() =>
    resolveSteer({ now: clock.now(), steerId: steer.id, what: 'written' }),
  );
  if (!written.ok || !written.value) return;
  const turn = await store.read(() => ask('turn', steer.turnId));
  const outcome = await open.conversation.steer(
    { id: steer.id, text: steer.text },
    turn?.nativeTurnId ?? undefined,
  );
  reach('steer.written');
  if (outcome.outcome !== 'refused') return;
  await store.decide(() => resolveSteer({ now: clock.now(), steerId: steer.id, what: 'refused' }));
}

/** A driver that proves by withdrawal is asked for every text whose turn has ended without it. True: not all are known. */
export async function withdrawLeftovers(
  context: TurnsContext,
  sessionId: SessionId,
  open: OpenSession,
): Promise<boolean> {
  if (capabilitiesOf(open).negativeProof !== 'withdraw') return false;
  const { store, clock } = context;
  let hasUnknown = false;
  for (const steer of await store.read(() => ask('openSteers', sessionId))) {
    const turn = await store.read(() => ask('turn', steer.turnId));
    if (turn?.state !== 'ended') continue;
    const answer = await open.conversation.withdraw(steer.id);
    if (answer === 'unknown') hasUnknown = true;
    if (answer !== 'withdrawn') continue;
    await store.decide(() => resolveSteer({ now: clock.now(), steerId: steer.id, what: 'withdrawn' }));
  }
  return hasUnknown;
}
