import { FreshIds } from '../base/ids.ts';
import type { SessionId } from '../base/ids.ts';
import type { Conversation } from '../drivers/port.ts';
import { agentExited } from '../ledger/agent-process.ts';
import { ask } from '../ledger/questions.ts';
import { agentStarted } from '../ledger/turn-start.ts';
import type { TurnsContext } from './ports.ts';

/**
 * Tells the ledger that the process of a session is dead. A text that had not been seen to begin is looked for in the
 * dead agent's record first: if it was consumed, its turn is lost; if it provably was not, it stays to be sent again; if
 * nobody can say, it is lost too, since sending it again could make the agent do it twice.
 */
export async function buryAgent(
  context: TurnsContext,
  sessionId: SessionId,
  conversation: Conversation | undefined,
  reason: string,
  position?: number,
): Promise<void> {
  const { store, clock, ids, node } = context;
  const session = await store.read(() => ask('session', sessionId));
  const id = session?.laneTurn;
  const turn = id ? await store.read(() => ask('turn', id)) : undefined;
  if (conversation && turn?.state === 'starting') {
    const evidence = await conversation.evidence(turn.id);
    if (evidence.state === 'consumed' || evidence.state === 'unknown') {
      const fresh = new FreshIds(ids);
      const nativeTurnId =
        (evidence.state === 'consumed' ? evidence.nativeTurnId : undefined) ?? `dead:${turn.id}`;
      const seen = {
        now: clock.now(),
        sessionId,
        node,
        nativeTurnId,
        position: turn.position,
        deliveryId: turn.id,
        fresh,
      };
      await store.decide(() => agentStarted(seen));
    }
  }
  const fresh = new FreshIds(ids);
  const read = position === undefined ? {} : { position };
  await store.decide(() => agentExited({ now: clock.now(), sessionId, reason, fresh, ...read }));
}
