import type { Run as WireRun } from '../contract/run.ts';
import { toInstant } from '../contract/text.ts';
import type { Execution } from '../ledger/execution.ts';
import { isClosed, isSettled, outcomeOf } from '../ledger/execution.ts';
import { waitingFor } from '../ledger/limit.ts';
import { lengthOf, placeOf, plannedAt } from '../ledger/plan.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { fullName } from '../ledger/schedule.ts';
import type { Run, Session } from '../ledger/session.ts';
import type { Workspace } from '../ledger/workspace.ts';
import type { RunWithMessages } from '../store/views.ts';
import { at, present, toWaiting } from './wire.ts';
import { cutTo } from './wire-workflow.ts';

/** What a run is shown with: its session, and its schedule if it has one. */
export interface AroundRun {
  readonly session: Session | undefined;
  readonly schedule: Schedule | undefined;
  readonly workspace: Workspace | undefined;
}

/** A run with its messages, as the wire shows it. */
export function toRun(row: RunWithMessages, { session, schedule, workspace }: AroundRun): WireRun {
  const { run, current, spent } = row;
  const waiting = waitingOf(run, current, session);
  return {
    id: run.id,
    project: run.project,
    name: run.name,
    state: run.state === 'running' && waiting ? 'waiting' : run.state,
    createdAt: toInstant(run.createdAt),
    next: run.cursor,
    messagesCount: lengthOf(run),
    messagesClosed: closedOf(row),
    messages: messagesOf(row),
    ...present({
      sessionId: run.sessionId,
      agent: session?.agent,
      schedule: schedule && fullName(schedule),
      instant: at(run.instant),
      waiting,
      currentId: run.currentId,
      workspace: workspace && toWorkspace(workspace),
      budget: run.budget,
      spent,
      outcome: run.outcome,
      outcomeCode: run.outcomeCode,
      endedAt: at(run.endedAt),
    }),
  };
}

/** A run goes from place to place, so all before the one at which it stands are closed. */
function closedOf({ run, current }: RunWithMessages): number {
  const isAtWork = current !== undefined && !current.closed && (current.runIndex ?? 0) < run.cursor;
  return run.cursor - (isAtWork ? 1 : 0);
}

/** How much of a message is shown, in UTF-16 units: with rows the same text comes a thousand times. */
const longestText = 10_000;

function messagesOf({ run, from, count, messages: sent }: RunWithMessages): WireRun['messages'] {
  const attempts = new Map<number, Execution[]>();
  for (const row of sent) attempts.set(row.runIndex ?? 0, [...(attempts.get(row.runIndex ?? 0) ?? []), row]);
  return Array.from({ length: count }, (_, i) => {
    const index = from + i;
    const { row } = placeOf(run, index);
    return {
      index,
      text: cutTo(plannedAt(run, index)?.text ?? '', longestText),
      attempts: (attempts.get(index) ?? []).map(attemptOf),
      ...(row === null ? {} : { row }),
    };
  });
}

function toWorkspace({ how, path, lock, checkout, left }: Workspace): WireRun['workspace'] {
  const rest = { lock, branch: checkout?.branch, left: left?.what, leftWhy: left?.why };
  return { how, path, ...present(rest) };
}

/** A message's outcome is shown once it is closed, root or not. */
function attemptOf(row: Execution): WireRun['messages'][number]['attempts'][number] {
  const isOver = isSettled(row.state) && isClosed(row.state, row.open);
  return {
    executionId: row.id,
    attempt: row.attempt,
    state: row.state,
    closed: row.closed,
    ...(isOver ? { outcome: row.outcome ?? outcomeOf(row).outcome } : {}),
  };
}

/**
 * What a run waits for: the back-off of its message, what that message waits for, or the limit of its session, behind which
 * results of the message wait.
 */
function waitingOf(
  run: Run,
  current: Execution | undefined,
  session: Session | undefined,
): WireRun['waiting'] | null {
  if (run.state === 'ended' || !current) return null;
  if (run.retryAt !== null) return waitingToRetry(run, current, run.retryAt);
  if (current.closed) return null;
  return toWaiting(current.waiting ?? (session?.limit ? waitingFor(session.limit) : null));
}

function waitingToRetry(run: Run, current: Execution, retryAt: number): WireRun['waiting'] {
  const index = current.runIndex ?? 0;
  const { code } = outcomeOf(current);
  const { max = 0 } = plannedAt(run, index)?.retry ?? {};
  return {
    for: 'retry',
    since: toInstant(current.closedAt ?? current.createdAt),
    until: toInstant(retryAt),
    text: `message ${index + 1} failed (${code}) and is sent again: try ${run.tries + 1} of ${max + 1}`,
  };
}
