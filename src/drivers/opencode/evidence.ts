import { pause } from '../../base/pause.ts';
import type { Evidence } from '../port.ts';
import { fateIn } from './dead-record.ts';
import type { OpencodeSession } from './session.ts';
import { messageIdOf, type SessionState } from './state.ts';
import { z } from 'zod';

const settleMs = 400;
// It took 3.4 seconds at most: the first text of a process, on a machine with ten times the work that it can do.
const underWayMs = 15_000;
const oneMessage = z.looseObject({ info: z.looseObject({ id: z.string() }) });

/**
 * What opencode's record says of a text. A text that nobody answered while the agent is idle would go along with the next
 * request: it is removed from the record, and then it is absent for good. opencode refuses that while it is at work.
 */
export async function evidenceOf(session: OpencodeSession, deliveryId: string): Promise<Evidence> {
  const known = consumed(session.state, deliveryId);
  if (known) return known;
  if (session.hasExited) return evidenceOfTheDead(session, deliveryId);
  const first = await look(session, deliveryId);
  if (first === 'left') return removeIfStill(session, deliveryId);
  if (first !== 'absent') return first;
  return appears(session, deliveryId);
}

/** A text that may be on its way comes into the record some moments after opencode accepted it. */
async function appears(session: OpencodeSession, deliveryId: string): Promise<Evidence> {
  const deadline = session.clock.monotonic() + underWayMs;
  for (;;) {
    const delivery = session.state.deliveries[deliveryId];
    const isOnItsWay = delivery !== undefined && delivery.isSent && !delivery.isHeard;
    if (!isOnItsWay || session.clock.monotonic() >= deadline) return { state: 'absent' };
    await pause(session.clock, settleMs);
    const found = await look(session, deliveryId);
    if (found === 'left') return removeIfStill(session, deliveryId);
    if (found !== 'absent') return found;
  }
}

/** The agent begins with a text a moment after it is in the record. */
async function removeIfStill(session: OpencodeSession, deliveryId: string): Promise<Evidence> {
  await pause(session.clock, settleMs);
  const found = await look(session, deliveryId);
  if (found === 'left') return remove(session, deliveryId);
  return found === 'absent' ? { state: 'absent' } : found;
}

async function look(session: OpencodeSession, deliveryId: string): Promise<Evidence | 'absent' | 'left'> {
  if (!(await session.flushed()))
    return session.hasExited ? evidenceOfTheDead(session, deliveryId) : { state: 'unknown' };
  const known = consumed(session.state, deliveryId);
  if (known) return known;
  const path = `/session/${session.id}/message/${messageIdOf(deliveryId)}`;
  const answer = await session.api.call('GET', path);
  if (answer.outcome === 'refused') return answer.status === 404 ? 'absent' : { state: 'unknown' };
  if (answer.outcome === 'lost' || !oneMessage.safeParse(answer.result).success) return { state: 'unknown' };
  return session.state.turn || session.state.isBusy ? { state: 'queued' } : 'left';
}

/** Takes a text out of the record of an idle agent. */
export async function remove(session: OpencodeSession, deliveryId: string): Promise<Evidence> {
  const path = `/session/${session.id}/message/${messageIdOf(deliveryId)}`;
  const answer = await session.api.call('DELETE', path);
  if (!(await session.flushed())) return { state: 'unknown' };
  const known = consumed(session.state, deliveryId);
  if (known) return known;
  if (answer.outcome === 'ok' || (answer.outcome === 'refused' && answer.status === 404)) {
    session.take({ type: 'removed', sessionId: session.id, messageId: messageIdOf(deliveryId) });
    return { state: 'absent' };
  }
  return answer.outcome === 'refused' && answer.status === 409 ? { state: 'queued' } : { state: 'unknown' };
}

function consumed(state: SessionState, deliveryId: string): Evidence | undefined {
  const turnId = state.deliveries[deliveryId]?.turnId;
  return turnId === undefined ? undefined : { state: 'consumed', nativeTurnId: turnId };
}

/**
 * Nothing is left that could take anything up, so opencode's disk has the last word. A text that nobody answered is absent for
 * good, because whoever opens the conversation again deletes it first.
 */
async function evidenceOfTheDead(session: OpencodeSession, deliveryId: string): Promise<Evidence> {
  if (session.state.deliveries[deliveryId] === undefined) return { state: 'absent' };
  const record = await session.deadRecord();
  if (!record) return { state: 'unknown' };
  if (fateIn(record, messageIdOf(deliveryId)) !== 'answered') return { state: 'absent' };
  const turnId = session.state.turn?.id;
  return { state: 'consumed', ...(turnId === undefined ? {} : { nativeTurnId: turnId }) };
}

/** Deletes texts of ours that an earlier process left unanswered. False when that is not certain. */
export async function removeLeft(session: OpencodeSession): Promise<boolean> {
  const { deliveries, waiting } = session.state;
  for (const [id, { messageId, turnId }] of Object.entries(deliveries)) {
    if (turnId !== undefined || !waiting.some((text) => text.messageId === messageId)) continue;
    if ((await remove(session, id)).state !== 'absent') return false;
  }
  return true;
}
