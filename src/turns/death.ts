import { FreshIds } from '../base/ids.ts';
import type { SessionId, TurnId } from '../base/ids.ts';
import type { Conversation } from '../drivers/port.ts';
import { agentExited } from '../ledger/agent-process.ts';
import { ask } from '../ledger/questions.ts';
import { resolveSteers, tellConsumed } from './evidence.ts';
import type { TurnsContext } from './ports.ts';

/** What is known of a death. */
export interface Death {
  readonly reason: string;
  /** How far the output of the process was read. */
  readonly position?: number;
  /** The agent's record was not read, and may be later: texts that were with the agent stay undecided. */
  readonly isRecordUnread?: boolean;
  /** Another process of the session lives already: it is not forgotten, whatever becomes of us. */
  readonly hasSuccessor?: boolean;
  /** The turn whose text is known never to have been sent. */
  readonly unsent?: TurnId | undefined;
}

/**
 * Tells the ledger that the process of a session is dead. Texts that had not been seen to be taken up are looked for in the
 * dead agent's record first: what was consumed is lost with its turn; what provably was not is sent again; if nobody can
 * say, it is lost too, since sending it again could make the agent do it twice.
 */
export async function buryAgent(
  context: TurnsContext,
  sessionId: SessionId,
  conversation: Conversation | undefined,
  death: Death,
): Promise<void> {
  const { store, clock, ids } = context;
  if (!death.isRecordUnread) await resolveSteers(context, sessionId, conversation, true);
  if (conversation) {
    const session = await store.read(() => ask('session', sessionId));
    const id = session?.laneTurn;
    const turn = id ? await store.read(() => ask('turn', id)) : undefined;
    if (turn?.state === 'starting' && turn.id !== death.unsent) {
      const evidence = await conversation.evidence(turn.id);
      const seen = evidence.state === 'consumed' ? evidence.nativeTurnId : undefined;
      if (evidence.state === 'consumed' || evidence.state === 'unknown')
        await tellConsumed(context, sessionId, turn.id, seen ?? `dead:${turn.id}`);
    }
  }
  const fresh = new FreshIds(ids);
  const { unsent: _, ...known } = death;
  await store.decide(() => agentExited({ now: clock.now(), sessionId, fresh, ...known }));
}
