import { createHash } from 'node:crypto';

/**
 * The UUID under which the agent gets the text of a delivery. Each attempt has its own: one that was withdrawn is never
 * taken for the next.
 */
export function uuidOfDelivery(deliveryId: string, attempt: number): string {
  return uuidOf(`delivery ${deliveryId} ${attempt}`);
}

/** The agent's id of the conversation of a session: the same in every process that serves it. */
export function conversationIdOf(sessionId: string): string {
  return uuidOf(`session ${sessionId}`);
}

// A UUID of version 8, whose content is ours to choose (RFC 9562).
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
