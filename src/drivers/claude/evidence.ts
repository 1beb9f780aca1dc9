import type { Evidence } from '../port.ts';
import { isRecorded } from './record.ts';
import type { SentLog } from './sent-log.ts';
import { type ClaudeState, textOf } from './state.ts';

/** Everything that may know of a text. */
export interface Sources {
  readonly state: ClaudeState;
  readonly log: SentLog;
  readonly isDead: boolean;
  /** The agent's own record of the conversation. */
  readonly record: { readonly configDirectory: string; readonly id: string };
}

/**
 * What is proven of a text: first by what the agent said of it, then, once its process is dead, by its record, which the
 * next process goes on from. While it lives, what was written will be read, and what was about to be may have been.
 */
export function evidenceOf(deliveryId: string, { state, log, isDead, record }: Sources): Evidence {
  const text = textOf(state, deliveryId);
  if (text?.state === 'taken') return { state: 'consumed', nativeTurnId: text.turnId };
  if (text?.state === 'withdrawn') return { state: 'absent' };
  const sent = log.texts.get(deliveryId);
  const past = log.past.get(deliveryId);
  if (past?.fate === 'consumed') return { state: 'consumed' };
  // What is to be written is noted before, so a text without a note never left us.
  const uuid = sent?.uuid ?? past?.uuid;
  if (uuid === undefined || sent?.outcome === 'refused' || past?.fate === 'absent')
    return { state: 'absent' };
  if (sent && !isDead)
    return { state: text?.state === 'queued' || sent.outcome === 'written' ? 'queued' : 'unknown' };
  return recordedFate(uuid, record);
}

function recordedFate(uuid: string, { configDirectory, id }: Sources['record']): Evidence {
  try {
    return { state: isRecorded(configDirectory, id, uuid) ? 'consumed' : 'absent' };
  } catch {
    return { state: 'unknown' };
  }
}
