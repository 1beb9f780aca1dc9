import type { Execution } from '../../../src/ledger/execution.ts';
import { isSettled } from '../../../src/ledger/execution.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, commandIf, firstOf } from '../moment.ts';
import type { State } from '../state.ts';
import { existing, listed } from '../state.ts';

const uncounted = new Set(['continuation', 'late', 'message', 'service']);

/** Whether everything between an execution and a message above it asked for all below it. */
function isJoinedTo(state: State, row: Execution, message: Execution): boolean {
  if (row.join !== 'all' || row.parentId === null) return false;
  const parent = existing(state.executions, row.parentId);
  return parent.id === message.id ? message.join === 'all' : isJoinedTo(state, parent, message);
}

/** Failed last attempts of each thing below a message that asked for all of them. */
function failuresBelow(state: State, message: Execution): number {
  const below = [...state.executions.values()].filter((row) => row.rootId === message.rootId);
  const latest = new Map<string, Execution>();
  for (const row of [...below].sort((a, b) => (a.id < b.id ? -1 : 1)))
    if (row.key !== null) latest.set(row.key, row);
  const counts = below.filter((row) => !uncounted.has(row.kind) && isJoinedTo(state, row, message));
  const last = counts.filter((row) => row.key === null || latest.get(row.key)?.id === row.id);
  return last.filter((row) => row.state === 'failed' || row.state === 'lost').length;
}

/** What a root must come to, from what was asked of it and how it ended. */
function outcomeOf({ after, facts }: Moment, root: Execution): string {
  const verdict = facts.verdicts.get(root.id);
  if (verdict === 'CANCELLED') return 'cancelled CANCELLED';
  if (verdict !== undefined) return `failed ${verdict}`;
  if (root.state === 'cancelled') return 'cancelled CANCELLED';
  if (root.state === 'lost') return 'failed LOST';
  if (root.state === 'failed') return `failed ${root.error?.code ?? 'AGENT_FAILED'}`;
  if (root.join === 'all' && failuresBelow(after, root) > 0) return 'failed DESCENDANT_FAILED';
  return 'succeeded null';
}

function checkOutcome(moment: Moment): string | undefined {
  const { before, after } = moment;
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (row.closed && !was?.closed && row.kind === 'message' && row.failures !== failuresBelow(after, row))
      return `${row.failures} failures are counted below ${short(row.id)}`;
    if (row.parentId !== null)
      return row.outcome === null ? undefined : `${short(row.id)} is no root and has an outcome`;
    if (!row.closed || was?.closed) return undefined;
    const wanted = outcomeOf(moment, row);
    const is = `${row.outcome} ${row.outcomeCode}`;
    return is === wanted ? undefined : `${row.kind} ${short(row.id)} came to ${is} instead of ${wanted}`;
  });
}

/** A background agent settles when its program has ended and nothing below it is open. */
function checkComposite({ before, after }: Moment): string | undefined {
  return firstOf(after.runs.values(), (run) => {
    if (run.ownerId === null) return undefined;
    const owner = existing(after.executions, run.ownerId);
    const was = before.executions.get(owner.id);
    if (!isSettled(owner.state) || !was || isSettled(was.state)) return undefined;
    if (run.state !== 'ended') return `${short(owner.id)} settled while its program ran`;
    const open = listed(after.children, owner.id).find((child) => !child.closed && child.detachedAt === null);
    return open && `${short(owner.id)} settled while ${open.kind} ${short(open.id)} was open`;
  });
}

function checkRuns(moment: Moment): string | undefined {
  const { before, after } = moment;
  const sent = new Set<string>();
  for (const row of after.executions.values()) {
    if (row.runId === null || row.kind !== 'message') continue;
    const place = `${row.runId} ${row.runIndex} ${row.attempt}`;
    if (sent.has(place)) return `message ${short(place)} exists twice`;
    sent.add(place);
  }
  return firstOf(changed(before.runs, after.runs), ({ was, row }) => {
    const count = [...sent].filter((place) => place.startsWith(`${row.id} `)).length;
    if (count !== row.cursor)
      return `${short(row.id)} has sent ${count} messages, its cursor says ${row.cursor}`;
    if (was?.state === 'ended') return `${short(row.id)} changed after its end`;
    if (!was || row.cursor === was.cursor) return undefined;
    if (row.cursor !== was.cursor + 1) return `${short(row.id)} went from ${was.cursor} to ${row.cursor}`;
    return sentEarly(moment, was, row.cursor - 1);
  });
}

/** Who decides on an old cursor decides nothing. */
function checkCursor(moment: Moment): string | undefined {
  const command = commandIf(moment, 'advance');
  const run = command && moment.before.runs.get(command.id);
  if (!run || run.cursor === command.cursor || moment.came.as !== 'decided') return undefined;
  return moment.came.value === 'stale'
    ? undefined
    : `${short(run.id)}: ${String(moment.came.value)} on an old cursor`;
}

type Run = State['runs'] extends ReadonlyMap<unknown, infer Row> ? Row : never;

/** Why message number `index` may not be sent yet, or not at all. */
function sentEarly({ before }: Moment, run: Run, index: number): string | undefined {
  if (run.cancelRequested) return `${short(run.id)} was cancelled, and goes on`;
  if (index === 0) return undefined;
  const last = run.currentId === null ? undefined : before.executions.get(run.currentId);
  if (!last?.closed) return `message ${index} of ${short(run.id)} was sent while the one before it was open`;
  if (last.parentId !== null) return undefined;
  if (last.outcome === 'cancelled') return `${short(run.id)} goes on after a cancelled message`;
  const isStopped = last.outcome === 'failed' && run.plan[index - 1]?.onFailure === 'stop';
  return isStopped ? `${short(run.id)} goes on after a failed message` : undefined;
}

/** A check starts when it alone keeps its message open. */
function checkCheck(moment: Moment): string | undefined {
  const command = commandIf(moment, 'startCheck');
  const ready =
    moment.came.as === 'decided' ? (moment.came.value as { check: Execution } | undefined) : undefined;
  if (!command) return undefined;
  const message = moment.before.executions.get(command.messageId);
  const below = listed(moment.before.children, command.messageId).filter(
    (row) => !row.closed && row.detachedAt === null,
  );
  const check = below.find((row) => row.name === 'check' && row.parentSource === 'explicit');
  const isDue = message && isSettled(message.state) && message.open === 1 && check && !check.cancelRequested;
  if (!ready) return isDue ? `the check of ${short(message.id)} is due and does not start` : undefined;
  return isDue && ready.check.id === check.id ? undefined : `${short(ready.check.id)} starts as a check`;
}

/** What trees and sequences come to (invariants 3, 10 and 12, and the never-early promise of runs). */
export const outcomeProperties: readonly Property[] = [
  { name: 'a root comes to what was asked of it and how it ended', check: checkOutcome },
  {
    name: 'a composite settles when its program has ended and nothing below it is open',
    check: checkComposite,
  },
  { name: 'a run sends each message once, when the one before it is closed and allows it', check: checkRuns },
  { name: 'a run moves by compare-and-set', check: checkCursor },
  { name: 'a check starts exactly when all else below its message is closed', check: checkCheck },
];
