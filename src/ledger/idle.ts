import type { SessionId } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Session } from './session.ts';

/** Asked at the instant at which the process of a session may have been of no use for `afterMs`. */
export interface LookIdle {
  readonly now: number;
  readonly sessionId: SessionId;
  /** How long a process may be of no use, in milliseconds. */
  readonly afterMs: number;
  /** Whether something that the ledger does not know of needs the process. */
  readonly isInUse: boolean;
}

/**
 * Whether the agent's process of a session has been of no use for long enough to be ended: no turn, no text on its way to it, no
 * work of its own, nothing open that belongs to the session, and nothing that is to be sent. Else it is asked for again in
 * time. A session without a process is asked for again when it gets one.
 */
export function* isIdle(command: LookIdle): Rule<boolean> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  if (session?.state !== 'live') return draft.done(false);
  const isNeeded = command.isInUse || (yield* hasWork(session));
  const dueAt = (isNeeded ? command.now : session.lastActivityAt) + command.afterMs;
  if (!isNeeded && dueAt <= command.now) return draft.done(true);
  draft.wake('idle', session.id, dueAt);
  return draft.done(false);
}

function* hasWork({ id, laneTurn, wakeTurn }: Session): Asking<boolean> {
  if (laneTurn !== null || wakeTurn !== null) return true;
  if ((yield* ask('openSteers', id)).length > 0 || (yield* ask('liveTasks', id)).length > 0) return true;
  if ((yield* ask('inputs', id)).length > 0 || (yield* ask('pendingFor', id)).length > 0) return true;
  return (yield* ask('openOwnedBy', id)).length > 0;
}
