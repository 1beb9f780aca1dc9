import type { RunId } from '../base/ids.ts';
import type { Draft } from './decision.ts';
import type { Occurrence, OccurrenceState, OccurrenceTrigger } from './occurrence.ts';
import { isOpen, occurrenceTransitions } from './occurrence.ts';

/** What a decision makes of an occurrence. */
export interface OccurrenceFate {
  readonly state: OccurrenceState;
  readonly reason?: string | null;
  readonly runId?: RunId;
  readonly revision?: number;
  readonly trigger?: OccurrenceTrigger;
  readonly inTurn?: boolean;
  readonly until?: number | null;
}

/** Writes a new occurrence with its fate, and tells of it. */
export function addOccurrence(draft: Draft, row: Occurrence): void {
  draft.add({ do: 'insertOccurrence', row: isOpen(row.state) ? row : { ...row, decidedAt: draft.now } });
  tell(draft, row);
}

/** Changes an occurrence by the transition table; a transition that it does not have is a bug. */
export function changeOccurrence(draft: Draft, row: Occurrence, fate: OccurrenceFate): Occurrence {
  if (!occurrenceTransitions[row.state][fate.state])
    throw new Error(`occurrence ${row.id} is ${row.state}: it cannot become ${fate.state}`);
  const set = {
    ...fate,
    reason: fate.reason ?? null,
    decidedAt: isOpen(fate.state) ? null : draft.now,
  };
  draft.add({ do: 'patchOccurrence', id: row.id, set });
  const changed = { ...row, ...set };
  tell(draft, changed);
  return changed;
}

function tell(draft: Draft, row: Occurrence): void {
  const { id, scheduleId, instant, trigger, state, reason, runId } = row;
  draft.tell({
    type: 'occurrence.state',
    rootId: null,
    sessionId: null,
    data: { occurrenceId: id, scheduleId, instant, trigger, state, reason, runId },
  });
}
