import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import { instantBehind, owe } from './notifying.ts';
import { ask } from './questions.ts';

/** What is free where the ledger lies, as it was seen. Bytes. */
export interface DiskSeen {
  readonly now: number;
  readonly freeBytes: number;
  /** Below this people are told. */
  readonly lowBytes: number;
}

/** Free space must grow by a tenth beyond the threshold before all is well again: what sways there is told once. */
const margin = 1.1;

/** Owes people the news when the disk has become low, and when it has enough again. Answers whether it is low. */
export function* noteDisk(command: DiskSeen): Rule<boolean> {
  const { now, freeBytes, lowBytes } = command;
  const draft = new Draft(now);
  const low = yield* ask('latestNotification', 'diskLow');
  const ok = yield* ask('latestNotification', 'diskOk');
  const wasLow = low !== undefined && (ok === undefined || ok.at < low.at);
  const isLow = freeBytes < (wasLow ? lowBytes * margin : lowBytes);
  if (isLow === wasLow) return draft.done(isLow);
  const behind = [low, ok];
  const subject = String(instantBehind(now, behind));
  const text = `${megabytes(freeBytes)} MB are free where the data directory is; the threshold is ${megabytes(lowBytes)} MB.`;
  yield* owe(draft, { transition: isLow ? 'diskLow' : 'diskOk', subject, behind, text, to: null });
  draft.tell({
    type: 'alarm',
    rootId: null,
    sessionId: null,
    data: { what: isLow ? 'diskLow' : 'diskOk', freeBytes },
  });
  return draft.done(isLow);
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1_000_000);
}
