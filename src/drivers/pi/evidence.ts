import type { Evidence } from '../port.ts';
import type { SentLog } from './sent-log.ts';
import type { Texts } from './texts.ts';

/** What is certain of a text: by the output of the process, else by what was noted of those before it. */
export function evidenceOf(deliveryId: string, texts: Texts, log: SentLog): Evidence {
  const text = texts.get(deliveryId);
  if (!text) return { state: log.fates.get(deliveryId) ?? 'absent' };
  if (text.fate === 'consumed') {
    return { state: 'consumed', ...(text.turnId === undefined ? {} : { nativeTurnId: text.turnId }) };
  }
  if (text.fate === 'refused' || text.fate === 'gone') return { state: 'absent' };
  const isWritten = log.texts.get(deliveryId)?.outcome === 'written';
  return { state: text.fate === 'accepted' || isWritten ? 'queued' : 'unknown' };
}
