import type { Session } from '../../../../src/contract/session.ts';
import type { Shown } from '../../ui/words.ts';
import { waitingWords } from '../../ui/words.ts';

/** How a session is shown: at work, standing still, or stopped; undefined while it is free. */
export function sessionState({ turn, waiting, state }: Session): Shown | undefined {
  if (waiting) return 'waiting';
  if (turn) return 'running';
  return state === 'stopped' ? 'cancelled' : undefined;
}

/** What a session does now, in words. */
export function sessionWords({ turn, waiting, state, queued }: Session): string {
  const now = waiting ? `waits ${waitingWords(waiting)}` : turn ? 'at work' : freeWords(state);
  return queued === 0 ? now : `${now}, ${queued} ${queued === 1 ? 'message' : 'messages'} in its queue`;
}

function freeWords(state: Session['state']): string {
  if (state === 'stopped') return 'stopped';
  return state === 'live' ? 'free' : 'free, without a process';
}
