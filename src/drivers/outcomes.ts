import type { SendOutcome } from './port.ts';

/** The agent provably never got the text, and why: a sentence for a person. */
export function refused(reason: string): Extract<SendOutcome, { outcome: 'refused' }> {
  return { outcome: 'refused', reason };
}
