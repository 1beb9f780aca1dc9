import type { Execution } from '../../ledger/execution.ts';
import { isClosed, isSettled } from '../../ledger/execution.ts';
import type { Admission } from '../../ledger/line.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import { isOpen } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { Run, Session } from '../../ledger/session.ts';
import type { Steer, Turn } from '../../ledger/turn.ts';
import type { Workspace } from '../../ledger/workspace.ts';
import type { RowOf, TableName } from '../apply.ts';
import { demand } from './demand.ts';
import { checkAdmission, checkWorkspace } from './admission-constraints.ts';
import { checkGraph, checkGraphStep, uniqueStep } from './graph-constraints.ts';
import { checkDispatch, checkNotification } from './notification-constraints.ts';
import type { MemoryState } from './state.ts';

/**
 * What the SQL schema says of single rows and of sets of rows, said again for the store in memory, so that a rule that
 * breaks it fails in a simulation as it would on disk. Each throws a plain Error: it is a bug.
 */
export function checkRow<Name extends TableName>(state: MemoryState, table: Name, row: RowOf[Name]): void {
  switch (table) {
    case 'execution':
      return checkExecution(row as Execution);
    case 'notice':
      return checkNotice(row as Notice);
    case 'session':
      return checkSession(row as Session);
    case 'turn':
      return checkTurn(state, row as Turn);
    case 'steer':
      return checkSteer(row as Steer);
    case 'run':
      return checkRun(row as Run);
    case 'schedule':
      return checkSchedule(row as Schedule);
    case 'occurrence':
      return checkOccurrence(state, row as Occurrence);
    case 'notification':
      return checkNotification(row as RowOf['notification']);
    case 'dispatch':
      return checkDispatch(row as RowOf['dispatch']);
    case 'admission':
      return checkAdmission(state, row as Admission);
    case 'workspace':
      return checkWorkspace(state, row as Workspace);
    case 'graph':
      return checkGraph(state, row as RowOf['graph']);
    case 'graphStep':
      return checkGraphStep(state, row as RowOf['graphStep']);
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

function checkTurn(state: MemoryState, row: Turn): void {
  demand((row.state === 'ended') === (row.endedAt !== null), 'ended has its instant', row.id);
  demand((row.state === 'ended') === (row.status !== null), 'ended has its status', row.id);
  if (row.state !== 'starting') return;
  for (const other of state.rows('turn').values()) {
    const clashes = other.id !== row.id && other.sessionId === row.sessionId && other.state === 'starting';
    demand(!clashes, `one starting turn a session, but there is ${other.id}`, row.id);
  }
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

function checkOccurrence(state: MemoryState, row: Occurrence): void {
  demand((row.state === 'ran') === (row.runId !== null), 'what ran, and only that, has a run', row.id);
  demand(isOpen(row.state) === (row.decidedAt === null), 'what is decided has its instant', row.id);
  const needsNone = row.state === 'due' || row.state === 'claimed' || row.state === 'ran';
  demand(needsNone || row.reason !== null, 'says why', row.id);
  demand(row.revision >= 1, 'revision >= 1', row.id);
  const before = state.rows('occurrence').get(row.id);
  if (!before) return;
  demand(before.instant === row.instant, 'no occurrence changes its instant', row.id);
  const isSame = before.state === row.state && before.runId === row.runId;
  demand(before.state !== 'ran' || isSame, 'what has run does not change', row.id);
}

/** What must be unique when a row is inserted, beside its id. */
export function checkUnique<Name extends TableName>(state: MemoryState, table: Name, row: RowOf[Name]): void {
  if (table === 'execution') uniqueExecution(state, row as Execution);
  if (table === 'graphStep') uniqueStep(state, row as RowOf['graphStep']);
  if (table === 'notice') {
    const { id, executionId } = row as Notice;
    for (const other of state.rows('notice').values()) {
      demand(other.executionId !== executionId, `one notice an execution, but there is ${other.id}`, id);
    }
  }
  if (table === 'run') {
    const { id, ownerId } = row as Run;
    for (const other of state.rows('run').values()) {
      demand(ownerId === null || other.ownerId !== ownerId, `one run an owner, but there is ${other.id}`, id);
      const { occurrenceId } = row as Run;
      const isTwice = occurrenceId !== null && other.occurrenceId === occurrenceId;
      demand(!isTwice, `one run an occurrence, but there is ${other.id}`, id);
    }
  }
  if (table === 'schedule') {
    const { id, project, name, removedAt } = row as Schedule;
    for (const other of state.rows('schedule').values()) {
      const isTwice = other.project === project && other.name === name && other.removedAt === null;
      demand(removedAt !== null || !isTwice, `names are unique, but there is ${other.id}`, id);
    }
  }
  if (table === 'occurrence') {
    const { id, scheduleId, instant } = row as Occurrence;
    for (const other of state.rows('occurrence').values()) {
      const isTwice = other.scheduleId === scheduleId && other.instant === instant;
      demand(!isTwice, `instants are unique in a schedule, but there is ${other.id}`, id);
    }
  }
}

function uniqueExecution(state: MemoryState, row: Execution): void {
  const isSent = row.runId !== null;
  if (!isSent && row.key === null) return;
  for (const other of state.rows('execution').values()) {
    const isSameThing =
      row.key !== null &&
      row.parentId !== null &&
      other.parentId === row.parentId &&
      other.key === row.key &&
      other.attempt === row.attempt;
    demand(!isSameThing, `parent, key and attempt are unique, but there is ${other.id}`, row.id);
    const isSameMessage =
      isSent && other.runId === row.runId && other.runIndex === row.runIndex && other.attempt === row.attempt;
    demand(!isSameMessage, `run, index and attempt are unique, but there is ${other.id}`, row.id);
  }
}
