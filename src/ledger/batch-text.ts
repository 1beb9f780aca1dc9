import type { Batch } from './batch.ts';
import type { Execution } from './execution.ts';
import type { Notice } from './notice.ts';
import { noticeText, resultBound } from './notice-text.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';

/** How much of results that come together is told, in characters: each has its share. */
const wholeBound = 200_000;
/** What is shown of each result at least. */
const smallestShare = 200;
/** Most results that are told one by one; of the others only how many there are. */
const mostTold = 500;

/** The texts of a batch, one after the other. The epoch in each is that of this hand-over. */
export function* batchText(batch: Batch): Asking<string> {
  const { notices, round } = batch;
  const results: Result[] = [];
  for (const notice of notices) {
    const of = yield* ask('execution', notice.executionId);
    if (of) results.push({ notice, of });
  }
  if (round === undefined) return results.map((result) => textOf(result)).join('\n\n');
  const told = results.length > mostTold ? failedFirst(results).slice(0, mostTold) : results;
  const share = Math.min(resultBound, Math.max(smallestShare, Math.floor(wholeBound / told.length)));
  const untold = results.length - told.length;
  return [
    headOf(batch, results),
    ...told.map((result) => textOf(result, share)),
    ...(untold > 0 ? [`(and ${untold} more, which list_executions shows)`] : []),
  ].join('\n\n');
}

interface Result {
  readonly notice: Notice;
  readonly of: Execution;
}

function textOf({ notice, of }: Result, bound?: number): string {
  return noticeText(notice, notice.epoch + 1, of, bound);
}

function failedFirst(results: readonly Result[]): Result[] {
  const isGood = ({ of }: Result): boolean => of.state === 'succeeded';
  return [...results.filter((result) => !isGood(result)), ...results.filter(isGood)];
}

/** What the agent reads first: what all this is, and what it can do about it. */
function headOf({ round, maxRounds }: Batch, results: readonly Result[]): string {
  const counts = new Map<string, number>();
  for (const { of } of results) counts.set(of.state, (counts.get(of.state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
  const which = maxRounds ? `round ${round} of ${maxRounds}` : `round ${round}`;
  const isLast = round === maxRounds;
  const next = isLast
    ? 'It was the last round: starting more of them fails this work.'
    : 'Start more of them if that is needed, or end your turn without starting any: then this work is done.';
  return `[stemma batch, ${which}] Everything that you started has ended: ${states}. ${next}`;
}
