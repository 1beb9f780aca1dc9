import type { Execution } from '../ledger/execution.ts';
import { isClosed, isSettled } from '../ledger/execution.ts';
import type { Graph, GraphStep } from '../ledger/graph.ts';
import type { Admission } from '../ledger/line.ts';
import type { Notice } from '../ledger/notice.ts';
import type { Dispatch, Notification } from '../ledger/notification.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import { isOpen } from '../ledger/occurrence.ts';
import type { Schedule } from '../ledger/schedule.ts';
import type { Run, Session } from '../ledger/session.ts';
import type { Steer, Turn } from '../ledger/turn.ts';
import type { Workspace } from '../ledger/workspace.ts';
import type { RowOf, TableName } from './apply.ts';
import { demand } from './demand.ts';
import { checkGraph, checkGraphStep } from './graph-constraints.ts';
import { checkDispatch, checkNotification } from './notification-constraints.ts';

/**
 * What the SQL schema says of a single row, and of what became of it, said again for stores that do not write each change at
 * once: whatever breaks it fails with the change. Each throws a plain Error: it is a bug.
 */
export function checkRow<Name extends TableName>(
  table: Name,
  row: RowOf[Name],
  before: RowOf[Name] | undefined,
): void {
  switch (table) {
    case 'execution':
      return checkExecution(row as Execution);
    case 'notice':
      return checkNotice(row as Notice);
    case 'session':
      return checkSession(row as Session);
    case 'turn':
      return checkTurn(row as Turn);
    case 'steer':
      return checkSteer(row as Steer);
    case 'run':
      return checkRun(row as Run);
    case 'schedule':
      return checkSchedule(row as Schedule);
    case 'occurrence':
      return checkOccurrence(row as Occurrence, before as Occurrence | undefined);
    case 'notification':
      return checkNotification(row as Notification);
    case 'dispatch':
      return checkDispatch(row as Dispatch);
    case 'admission':
      return checkAdmission(row as Admission);
    case 'workspace':
      return checkWorkspace(row as Workspace);
    case 'graph':
      return checkGraph(row as Graph, before as Graph | undefined);
    case 'graphStep':
      return checkGraphStep(row as GraphStep, before as GraphStep | undefined);
    case 'input':
      // Nothing of a queued text can be wrong by itself.
      return;
  }
}

function checkExecution(row: Execution): void {
  const isRoot = row.parentId === null;
  demand(
    isRoot ? row.depth === 0 && row.rootId === row.id : row.depth > 0,
    'depth and root fit the parent',
    row.id,
  );
  demand(isRoot || row.rootId !== row.id, 'only a root is its own root', row.id);
  demand(row.attempt >= 1, 'attempt >= 1', row.id);
  demand(row.mode === 'none' || row.reportsTo !== null, 'who reports names a session', row.id);
  demand((row.runId === null) === (row.runIndex === null), 'run and index go together', row.id);
  demand(row.open >= 0, 'open >= 0', row.id);
  demand(row.failures >= 0, 'failures >= 0', row.id);
  demand(row.drain === null || row.drain >= 0, 'drain >= 0', row.id);
  demand(row.closed === isClosed(row.state, row.open), 'closed = settled and open is zero', row.id);
  demand(row.closed === (row.closedAt !== null), 'closed has its instant', row.id);
  demand(isSettled(row.state) === (row.endedAt !== null), 'settled has its instant', row.id);
  demand(row.waiting === null || !isSettled(row.state), 'what is settled waits for nothing', row.id);
  demand(
    (row.outcome !== null) === (row.closed && isRoot),
    'a closed root, and only that, has an outcome',
    row.id,
  );
}

function checkNotice(row: Notice): void {
  const { state } = row;
  demand(row.attempt >= 0 && row.epoch >= 0, 'attempt and epoch >= 0', row.id);
  demand(state !== 'owed' || (row.steerId === null && row.continuationId === null), 'owed is free', row.id);
  demand(state !== 'claimed' || row.steerId !== null, 'a claim has its steer', row.id);
  const isHanded = state === 'handed' || state === 'handled';
  demand(
    !isHanded || (row.continuationId !== null && row.handedAt !== null),
    'handed has its continuation',
    row.id,
  );
  demand((state === 'handled') === (row.handledAt !== null), 'handled has its instant', row.id);
  const isAlone = row.steerId === null && row.countedOn !== row.executionId;
  demand(row.mode === 'each' || isAlone, 'a batch waits below something, and is never steered', row.id);
  demand(state !== 'waived' || (row.reason !== null && row.actor !== null), 'a waiver is signed', row.id);
}

function checkSession(row: Session): void {
  demand(row.epoch >= 0, 'epoch >= 0', row.id);
  demand(row.laneTurn === null || row.laneTurn !== row.wakeTurn, 'one turn is not lane and wake', row.id);
}

function checkTurn(row: Turn): void {
  demand((row.state === 'ended') === (row.endedAt !== null), 'ended has its instant', row.id);
  demand((row.state === 'ended') === (row.status !== null), 'ended has its status', row.id);
}

function checkSteer(row: Steer): void {
  const isOpen = row.state === 'claimed' || row.state === 'written';
  demand(isOpen === (row.endedAt === null), 'an ended steer has its instant', row.id);
}

function checkRun(row: Run): void {
  demand(row.sessionId !== null || row.ownerId === null, 'a hosted run has its session', row.id);
  demand(row.cursor >= 0, 'cursor >= 0', row.id);
  demand((row.state === 'ended') === (row.endedAt !== null), 'ended has its instant', row.id);
  demand((row.state === 'ended') === (row.outcome !== null), 'ended has its outcome', row.id);
  const isScheduled = row.scheduleId !== null;
  demand(
    isScheduled === (row.occurrenceId !== null) && isScheduled === (row.instant !== null),
    'schedule, occurrence and instant go together',
    row.id,
  );
  demand(row.todo === null || row.ownerId !== null, 'who gives out work is a program', row.id);
  const { tries, repairs, moves } = row;
  demand(tries >= 0 && moves >= 0, 'tries and moves >= 0', row.id);
  demand(repairs >= 0 && repairs <= tries, 'a repair is a try', row.id);
  demand(row.rowCount === null || row.rowCount >= 0, 'rows >= 0', row.id);
  const mayWait = row.state === 'running' && row.currentId !== null;
  demand(row.retryAt === null || mayWait, 'only a run that is at a message backs off', row.id);
}

function checkSchedule(row: Schedule): void {
  demand(row.revision >= 1, 'revision >= 1', row.id);
  demand(
    row.pauseReason === null || row.pausedAt !== null,
    'what is not paused has no reason for it',
    row.id,
  );
}

function checkOccurrence(row: Occurrence, before: Occurrence | undefined): void {
  demand((row.state === 'ran') === (row.runId !== null), 'what ran, and only that, has a run', row.id);
  demand(isOpen(row.state) === (row.decidedAt === null), 'what is decided has its instant', row.id);
  const needsNone = row.state === 'due' || row.state === 'claimed' || row.state === 'ran';
  demand(needsNone || row.reason !== null, 'says why', row.id);
  demand(row.revision >= 1, 'revision >= 1', row.id);
  if (!before) return;
  demand(before.instant === row.instant, 'no occurrence changes its instant', row.id);
  const isSame = before.state === row.state && before.runId === row.runId;
  demand(before.state !== 'ran' || isSame, 'what has run does not change', row.id);
}

/** A place in the line. */
function checkAdmission(row: Admission): void {
  demand(row.place >= 1, 'a place is at least 1', row.sessionId);
}

/** Where a run works, and its place in the line for it. */
function checkWorkspace(row: Workspace): void {
  const { runId, lock, place, isHeld, how, checkout } = row;
  demand(lock === null || how === 'exclusive', 'only an exclusive one has a lock', runId);
  demand((how === 'worktree') === (checkout !== null), 'a worktree has its checkout', runId);
  demand(place === null || (lock !== null && place >= 1), 'a place is in the line for a lock', runId);
  demand(!isHeld || place !== null, 'who holds a lock has its place', runId);
}
