import type { Execution } from './execution.ts';
import { isSettled } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Turn } from './turn.ts';

/** When an end that was begun is begun again, should it not have come to its end: its caller may have died. In milliseconds. */
export const endAgainMs = 20_000;

/** Whether it still runs or waits for its turn, and nobody has cancelled it. */
function isWanted(row: Execution): boolean {
  return !isSettled(row.state) && row.cancelRequested === null;
}

/** Whether anybody still waits for what comes of this turn: then it is never interrupted (invariant 12). */
export function* hasWantedOwner(turn: Turn): Asking<boolean> {
  return (yield* ask('owners', turn.id)).some(isWanted);
}

/**
 * Of a turn all of whose owners are cancelled: whether a text that somebody waits for is with the agent and may be taken up
 * in it. Then its interruption waits for a while. Not for ever, since the agent may hang.
 */
export function* mayBeJoined(now: number, turn: Turn): Asking<boolean> {
  const owners = (yield* ask('owners', turn.id)).filter((owner) => !isSettled(owner.state));
  // One that is not cancelled yet is being cancelled in this very decision.
  const cancelled = owners.map((owner) => owner.cancelRequested?.at ?? now);
  if (now - Math.max(turn.startedAt ?? turn.createdAt, ...cancelled) >= endAgainMs) return false;
  return (yield* isTextOfLaneUnderWay(turn)) || (yield* isSteerUnderWay(turn));
}

/** The agent began this turn by itself while the text of another turn was on its way. */
function* isTextOfLaneUnderWay(turn: Turn): Asking<boolean> {
  const session = yield* ask('session', turn.sessionId);
  if (session?.wakeTurn !== turn.id || session.laneTurn === null) return false;
  return (yield* ask('owners', session.laneTurn)).some(isWanted);
}

function* isSteerUnderWay(turn: Turn): Asking<boolean> {
  for (const steer of yield* ask('openSteers', turn.sessionId)) {
    if (steer.turnId !== turn.id || steer.state !== 'written') continue;
    const message = steer.messageId === null ? undefined : yield* ask('execution', steer.messageId);
    if (message && isWanted(message)) return true;
    for (const notice of yield* ask('noticesOfSteer', steer.id)) {
      const parent = notice.state === 'claimed' ? yield* ask('execution', notice.countedOn) : undefined;
      if (parent?.cancelRequested === null) return true;
    }
  }
  return false;
}
