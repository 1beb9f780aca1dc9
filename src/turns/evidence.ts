import type { SessionId, SteerId, TurnId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import type { Conversation, Evidence } from '../drivers/port.ts';
import { ask } from '../ledger/questions.ts';
import { resolveSteer } from '../ledger/steer.ts';
import { agentTook } from '../ledger/turn-start.ts';
import type { Steer } from '../ledger/turn.ts';
import type { TurnsContext } from './ports.ts';

/** Tells the ledger that the agent's record shows a text as taken up, in the turn that it names. */
export async function tellConsumed(
  context: TurnsContext,
  sessionId: SessionId,
  deliveryId: TurnId | SteerId,
  nativeTurnId: string,
): Promise<void> {
  const { store, clock, ids, node } = context;
  const fresh = new FreshIds(ids);
  const common = { sessionId, deliveryId, nativeTurnId, node, fresh, position: 0 };
  await store.decide(() => agentTook({ ...common, now: clock.now() }));
}

/** A text that was never written is with nobody; of a record that nobody can read nobody knows. */
function evidenceOf(
  steer: Steer,
  conversation: Pick<Conversation, 'evidence'> | undefined,
): Promise<Evidence> {
  if (steer.state === 'claimed') return Promise.resolve({ state: 'absent' });
  return conversation?.evidence(steer.id) ?? Promise.resolve({ state: 'unknown' });
}

/**
 * Decides steered texts whose fate is open by the agent's record and queue: never written ones are refused, consumed ones
 * are taken, all others stay claimed until proof. With a dead agent nothing stays: what nobody can say of it counts as
 * consumed, since giving it again could make the agent do it twice.
 */
export async function resolveSteers(
  context: TurnsContext,
  sessionId: SessionId,
  conversation: Pick<Conversation, 'evidence'> | undefined,
  isDead: boolean,
): Promise<void> {
  const { store, clock } = context;
  for (const steer of await store.read(() => ask('openSteers', sessionId))) {
    const steerId = steer.id;
    const evidence = await evidenceOf(steer, conversation);
    // Meanwhile it may have been heard what became of it.
    if ((await store.read(() => ask('steer', steerId)))?.endedAt !== null) continue;
    if (evidence.state === 'absent') {
      await store.decide(() => resolveSteer({ now: clock.now(), steerId, what: 'refused' }));
    } else if (evidence.state === 'consumed') {
      await tellConsumed(context, sessionId, steerId, evidence.nativeTurnId ?? `seen:${steerId}`);
    } else if (evidence.state === 'unknown' && isDead) {
      await tellConsumed(context, sessionId, steerId, `dead:${steerId}`);
    }
  }
}
