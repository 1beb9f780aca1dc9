import type { Evidence } from '../port.ts';
import { findInRollout } from './rollout.ts';
import type { CodexThread } from './thread.ts';

const readyMs = 20_000;

/**
 * What Codex's record and queue say of a text. It is `absent` only when nothing that could still take it up is left: the
 * thread is idle, and the record, read on a connection that was made after the text was sent, does not have it.
 * `acceptedBy`: the turn that accepted it as a steer.
 */
export async function evidenceOf(
  thread: CodexThread,
  deliveryId: string,
  acceptedBy?: string,
): Promise<Evidence> {
  if (thread.hasExited) return evidenceOfTheDead(thread, deliveryId);
  if (!(await thread.stream.flushed(readyMs))) return { state: 'unknown' };
  const known = thread.state.deliveries.get(deliveryId);
  if (known !== undefined) return { state: 'consumed', nativeTurnId: known };
  try {
    // In this order: a turn that is over when it is asked for has told the record everything it took up.
    const newest = await thread.history.newestTurn(thread.id);
    const nativeTurnId = await thread.history.turnOfText(thread.id, deliveryId);
    if (nativeTurnId !== undefined) return { state: 'consumed', nativeTurnId };
    const queued = await thread.history.queued(thread.id);
    if (queued.some((entry) => entry.clientUserMessageId === deliveryId)) return { state: 'queued' };
    if (newest?.status !== 'inProgress' && !thread.state.starting) return { state: 'absent' };
    return newest?.id === acceptedBy && acceptedBy !== undefined ? { state: 'queued' } : { state: 'unknown' };
  } catch {
    return thread.hasExited ? evidenceOfTheDead(thread, deliveryId) : { state: 'unknown' };
  }
}

/** Nothing is left that could take anything up, so the file that Codex wrote has the last word. */
function evidenceOfTheDead(thread: CodexThread, deliveryId: string): Evidence {
  const known = thread.state.deliveries.get(deliveryId);
  if (known !== undefined) return { state: 'consumed', nativeTurnId: known };
  const found = thread.path === undefined ? 'unknown' : findInRollout(thread.path, deliveryId);
  if (found === 'unknown') return { state: 'unknown' };
  return found ? { state: 'consumed', nativeTurnId: found.turnId } : { state: 'absent' };
}
