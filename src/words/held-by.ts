import type { Holding } from '../contract/execution.ts';

/** What `waiting` waits for, as the server says it in its evidence: `input`, or `input: Delete it?`. */
export function waitedFor({ why, evidence }: Holding): string | undefined {
  return why === 'waiting' ? /^waits for (.*)$/s.exec(evidence)?.[1] : undefined;
}

/** Why something holds its root, with what it waits for: `running`, `waiting_input`, `waiting_capacity`. */
export function heldBy(holding: Holding): string {
  const [, word] = /^([a-z]+)/.exec(waitedFor(holding) ?? '') ?? [];
  return word === undefined ? holding.why : `waiting_${word}`;
}
