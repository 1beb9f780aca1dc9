import type { SessionId } from '../base/ids.ts';
import { isIdle } from '../ledger/idle.ts';
import { capabilitiesOf } from './open-session.ts';
import type { OpenSession } from './open-session.ts';
import type { TurnsContext } from './ports.ts';

/** How long an agent's process may be of no use, in milliseconds, where its profile does not say. */
const usualIdleMs = 15 * 60_000;

/**
 * After how long without use the process of a conversation is ended, in milliseconds; undefined: never, since its profile says
 * so, or because the conversation would be gone with it.
 */
export function idleMsOf(open: OpenSession): number | undefined {
  const { idleMs = usualIdleMs } = open.profile;
  return idleMs === 0 || capabilitiesOf(open).resume !== 'always' ? undefined : idleMs;
}

/** Whether the process of this conversation may be ended now, because nothing has needed it for long enough. */
export async function mayEndIdle(
  context: TurnsContext,
  sessionId: SessionId,
  open: OpenSession,
  isInUse: boolean,
): Promise<boolean> {
  const afterMs = idleMsOf(open);
  if (afterMs === undefined) return false;
  const isKept =
    isInUse || context.isWatched(sessionId) || (await open.conversation.hasLeftWork?.()) === true;
  const now = context.clock.now();
  const decided = await context.store.decide(() => isIdle({ now, sessionId, afterMs, isInUse: isKept }));
  return decided.ok && decided.value;
}
