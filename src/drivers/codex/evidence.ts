import type { Evidence } from '../port.ts';
import { Unreadable } from './history.ts';
import { findInRollout } from './rollout.ts';
import type { CodexThread } from './thread.ts';

const readyMs = 20_000;

/**
 * What Codex's record and queue say of a text. It is `absent` only when nothing that could still take it up is left: what
 * was submitted to the thread has begun, the thread is idle, and neither its record nor its queue has the text.
 * `acceptedBy`: the turn that accepted it as a steer.
 */
export async function evidenceOf(
  thread: CodexThread,
  deliveryId: string,
  acceptedBy?: string,
): Promise<Evidence> {
  const isReady = thread.hasExited || (await thread.stream.flushed(readyMs));
  if (thread.hasExited) return evidenceOfTheDead(thread, deliveryId);
  if (!isReady) return { state: 'unknown' };
  try {
    const first = await look(thread, deliveryId, acceptedBy);
    if (first.state !== 'absent') return first;
    if (!(await thread.barrier.pass())) throw new Unreadable('the barrier was not passed');
    return await look(thread, deliveryId, acceptedBy);
  } catch {
    return thread.hasExited ? evidenceOfTheDead(thread, deliveryId) : { state: 'unknown' };
  }
}

async function look(
  thread: CodexThread,
  deliveryId: string,
  acceptedBy: string | undefined,
): Promise<Evidence> {
  const known = thread.state.deliveries.get(deliveryId);
  if (known !== undefined) return { state: 'consumed', nativeTurnId: known };
  // In this order: a turn that is over when it is asked for has told the record everything it took up.
  const newest = await thread.history.newestTurn(thread.id);
  const nativeTurnId = await thread.history.turnOfText(thread.id, deliveryId);
  if (nativeTurnId !== undefined) return { state: 'consumed', nativeTurnId };
  const queued = await thread.history.queued(thread.id);
  if (queued.some((entry) => entry.clientUserMessageId === deliveryId)) return { state: 'queued' };
  if (newest?.status !== 'inProgress' && !thread.state.starting) return { state: 'absent' };
  return newest?.id === acceptedBy && acceptedBy !== undefined ? { state: 'queued' } : { state: 'unknown' };
}

/** Nothing is left that could take anything up, so the file that Codex wrote has the last word. */
function evidenceOfTheDead(thread: CodexThread, deliveryId: string): Evidence {
  const known = thread.state.deliveries.get(deliveryId);
  if (known !== undefined) return { state: 'consumed', nativeTurnId: known };
  const found = thread.path === undefined ? 'unknown' : findInRollout(thread.path, deliveryId);
  if (found === 'unknown') return { state: 'unknown' };
  return found ? { state: 'consumed', nativeTurnId: found.turnId } : { state: 'absent' };
}
