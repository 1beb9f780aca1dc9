import type { Execution } from '../../../src/ledger/execution.ts';
import { outcomeOf } from '../../../src/ledger/execution.ts';
import { plannedAt } from '../../../src/ledger/plan.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, commandIf, firstOf } from '../moment.ts';
import type { State } from '../state.ts';

type Run = State['runs'] extends ReadonlyMap<unknown, infer Row> ? Row : never;

const hourMs = 60 * 60_000;
/** Failures after which nothing is tried again. */
const final: readonly (string | null)[] = ['BUDGET', 'CAPACITY', 'SIGNED_OUT'];

function checkRuns(moment: Moment): string | undefined {
  const { before, after } = moment;
  return (
    checkAttempts(after) ??
    firstOf(changed(before.runs, after.runs), ({ was, row }) => was && checkMove(moment, was, row))
  );
}

/** The attempts of each message of a run are numbered without gap, and no message is there twice. */
function checkAttempts(after: State): string | undefined {
  const counts = new Map<string, Set<number>>();
  for (const row of after.executions.values()) {
    if (row.runId === null) continue;
    const place = `${row.runId} ${row.runIndex}`;
    const attempts = counts.get(place) ?? new Set();
    if (attempts.has(row.attempt)) return `attempt ${row.attempt} of message ${short(place)} exists twice`;
    counts.set(place, attempts.add(row.attempt));
  }
  return firstOf(counts, ([place, attempts]) =>
    Math.max(...attempts) === attempts.size ? undefined : `an attempt of message ${short(place)} is missing`,
  );
}

function checkMove(moment: Moment, was: Run, row: Run): string | undefined {
  const isBegunAgain =
    commandIf(moment, 'rerun')?.id === row.id || commandIf(moment, 'resumeRun')?.id === row.id;
  const sent = newMessages(moment, row);
  if (was.state === 'ended') {
    if (!isBegunAgain) return `${short(row.id)} changed after its end`;
    const isFresh =
      row.outcome === null && row.currentId === null && !row.cancelRequested && sent.length === 0;
    return isFresh && row.moves > was.moves ? undefined : `${short(row.id)} did not begin again as a whole`;
  }
  const hasMoved = sent.length > 0 || row.retryAt !== was.retryAt || row.cursor !== was.cursor;
  if (hasMoved && row.state === 'running' && row.moves <= was.moves)
    return `${short(row.id)} moved, and its moves do not say so`;
  const [message, ...more] = sent;
  if (more.length > 0) return `${short(row.id)} sent several messages at once`;
  if (!message)
    return row.cursor === was.cursor ? wrongBackOff(moment, was, row) : `${short(row.id)} skipped a message`;
  if (row.currentId !== message.id || row.cursor !== (message.runIndex ?? 0) + 1)
    return `${short(row.id)} sent message ${message.runIndex}, and stands elsewhere`;
  if (was.cancelRequested) return `${short(row.id)} was cancelled, and goes on`;
  if (row.cursor === was.cursor + 1) return sentEarly(moment, was, was.cursor);
  if (row.cursor === was.cursor && row.repairs === was.repairs + 1) return mendedWrongly(moment, was);
  return row.cursor === was.cursor
    ? repeatedWrongly(moment, was)
    : `${short(row.id)} went from ${was.cursor} to ${row.cursor}`;
}

function newMessages({ before, after }: Moment, run: Run): Execution[] {
  return [...after.executions.values()].filter(
    (row) => row.runId === run.id && !before.executions.has(row.id),
  );
}

/** A back-off begins when the message has failed and may be sent again, and lasts as long as the plan says. */
function wrongBackOff(moment: Moment, was: Run, row: Run): string | undefined {
  if (row.retryAt === was.retryAt || row.retryAt === null || commandIf(moment, 'resumeRun')) return undefined;
  const { backoffMs = 0 } = plannedAt(was, was.cursor - 1)?.retry ?? {};
  const wanted = moment.now + Math.min(hourMs, backoffMs * 2 ** (was.tries - was.repairs - 1));
  if (row.retryAt !== wanted) return `${short(row.id)} backs off until ${row.retryAt} instead of ${wanted}`;
  return wrongRepetition(moment, was);
}

/** What a gate refused goes back at once, as often as the plan says. */
function mendedWrongly({ before }: Moment, was: Run): string | undefined {
  const last = was.currentId === null ? undefined : before.executions.get(was.currentId);
  const what = `message ${was.cursor - 1} of ${short(was.id)}`;
  if (!last?.closed) return `${what} is mended while it is open`;
  if (was.retryAt !== null) return `${what} is mended in its back-off`;
  return isMendable(was, last) ? undefined : `${what} is mended, and may not be`;
}

function isMendable(was: Run, last: Execution): boolean {
  const { outcome, code } = outcomeOf(last);
  const isByGate = outcome === 'failed' && (code === 'CHECK_FAILED' || code === 'OUTPUT_INVALID');
  return isByGate && was.repairs < (plannedAt(was, was.cursor - 1)?.gate?.repairs ?? 0);
}

function repeatedWrongly(moment: Moment, was: Run): string | undefined {
  if (was.retryAt === null || was.retryAt > moment.now)
    return `message ${was.cursor - 1} of ${short(was.id)} was sent again before its back-off was over`;
  return wrongRepetition(moment, was);
}

function wrongRepetition({ before }: Moment, was: Run): string | undefined {
  const last = was.currentId === null ? undefined : before.executions.get(was.currentId);
  const what = `message ${was.cursor - 1} of ${short(was.id)}`;
  if (!last?.closed) return `${what} is tried again while it is open`;
  if (!isRepeatable(was, last)) return `${what} is tried again, and may not be`;
  return undefined;
}

/** Whether the plan wants another attempt of the message at which the run stands. */
function isRepeatable(was: Run, last: Execution): boolean {
  if (was.tries - was.repairs > (plannedAt(was, was.cursor - 1)?.retry?.max ?? 0)) return false;
  // The outcome of what is no root is not kept.
  return last.parentId !== null || (last.outcome === 'failed' && !final.includes(last.outcomeCode));
}

/** Why message number `index` may not be sent yet, or not at all. */
function sentEarly({ before }: Moment, run: Run, index: number): string | undefined {
  if (index === 0 || run.currentId === null) return undefined;
  const last = before.executions.get(run.currentId);
  if (!last?.closed) return `message ${index} of ${short(run.id)} was sent while the one before it was open`;
  if (last.parentId !== null) return undefined;
  if (last.outcome === 'cancelled') return `${short(run.id)} goes on after a cancelled message`;
  if (isMendable(run, last)) return `${short(run.id)} goes on, and message ${index - 1} was to be mended`;
  if (last.outcome === 'failed' && isRepeatable(run, last))
    return `${short(run.id)} goes on, and was to try message ${index - 1} again`;
  // What follows a workflow scores it, whatever that came to.
  const isScored = run.sessionId === null;
  const isStopped = last.outcome === 'failed' && !isScored && plannedAt(run, index - 1)?.onFailure === 'stop';
  return isStopped ? `${short(run.id)} goes on after a failed message` : undefined;
}

/** Who decides on what is not so any more decides nothing. */
function checkMoves(moment: Moment): string | undefined {
  const command = commandIf(moment, 'advance');
  const run = command && moment.before.runs.get(command.id);
  if (!run || run.moves === command.moves || moment.came.as !== 'decided') return undefined;
  return moment.came.value === 'stale'
    ? undefined
    : `${short(run.id)}: ${String(moment.came.value)} on what is not so any more`;
}

/** A run that backs off has its wake-up: nothing else would ever look at it. */
function checkWake({ after }: Moment): string | undefined {
  return firstOf(after.runs.values(), (run) => {
    const wake = run.retryAt === null ? undefined : after.wakes.get(`run:${run.id}`);
    if (run.retryAt === null || (wake && wake.at <= run.retryAt)) return undefined;
    return `${short(run.id)} backs off, and nothing will wake it`;
  });
}

/** What runs send, and when (the never-early promise of runs). */
export const runProperties: readonly Property[] = [
  { name: 'a run sends each message once, when the one before it is closed and allows it', check: checkRuns },
  { name: 'a run moves by compare-and-set', check: checkMoves },
  { name: 'a run that backs off is woken', check: checkWake },
];
