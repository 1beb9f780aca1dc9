import type { RunId } from '../base/ids.ts';
import type { Draft } from '../ledger/decision.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import { reasonCode } from '../ledger/occurrence.ts';
import { changeOccurrence } from '../ledger/occurrence-fate.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { mostOpen } from './look-after.ts';
import { instantText } from './words.ts';

/** Whether an occurrence may begin beside what else its schedule does, by its policy. */
export type OverlapVerdict =
  | { readonly may: 'go' }
  | { readonly may: 'wait'; readonly reason: string; readonly cancel: readonly RunId[] }
  | { readonly may: 'not'; readonly state: 'skipped' | 'superseded'; readonly reason: string };

const go: OverlapVerdict = { may: 'go' };

/**
 * Looks at the live runs of the schedule and at what is being begun. Of those that wait for a run there is one at most, the
 * newest: older ones are superseded here.
 */
export function* mayBegin(draft: Draft, schedule: Schedule, row: Occurrence): Asking<OverlapVerdict> {
  // The one that is being begun need not be the first: a backfill of what is older goes before it.
  const line = yield* ask('openOccurrences', schedule.id, true, mostOpen);
  const open = yield* ask('openOccurrences', schedule.id, false, mostOpen);
  const claimed = [...line, ...open].filter((other) => other.state === 'claimed' && other.id !== row.id);
  const live = yield* ask('liveRunsOf', schedule.id);
  if (row.inTurn) return inTurn(row, line[0], live[0]?.id ?? claimed[0]?.id);
  const { overlap } = schedule.definition;
  const atWork = live[0]?.id ?? claimed[0]?.id;
  if (atWork === undefined || overlap === 'allow') return go;
  if (overlap === 'skip')
    return { may: 'not', state: 'skipped', reason: `overlap: ${atWork} is still at work` };
  const rivals = open.filter((other) => waits(other) && other.id !== row.id);
  const newer = rivals.find((other) => other.instant > row.instant);
  if (newer)
    return {
      may: 'not',
      state: 'superseded',
      reason: `overlap: ${instantText(newer.instant)} waits instead`,
    };
  for (const older of rivals)
    changeOccurrence(draft, older, {
      state: 'superseded',
      reason: `overlap: ${instantText(row.instant)} waits instead`,
      revision: schedule.revision,
    });
  // What depends on those that have ended just now hears of it.
  if (rivals.length > 0) draft.wake('schedule', schedule.id);
  if (overlap === 'queueOne')
    return { may: 'wait', reason: `overlap: waits for the end of ${atWork}`, cancel: [] };
  const cancel = live.filter((run) => !run.cancelRequested).map((run) => run.id);
  return { may: 'wait', reason: `overlap: ${atWork} is ended for it`, cancel };
}

/** Those in line go one by one, oldest first, whatever the policy says. */
function inTurn(row: Occurrence, head: Occurrence | undefined, atWork: string | undefined): OverlapVerdict {
  if (head && head.id !== row.id)
    return { may: 'wait', reason: `turn: ${instantText(head.instant)} goes first`, cancel: [] };
  if (atWork !== undefined)
    return { may: 'wait', reason: `turn: waits for the end of ${atWork}`, cancel: [] };
  return go;
}

function waits(row: Occurrence): boolean {
  return row.state === 'waiting' && reasonCode(row.reason) === 'overlap';
}
