import type { Execution } from '../../ledger/execution.ts';
import type { GraphStep } from '../../ledger/graph.ts';
import type { Admission } from '../../ledger/line.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { Run } from '../../ledger/session.ts';
import type { Turn } from '../../ledger/turn.ts';
import type { Workspace } from '../../ledger/workspace.ts';
import type { RowOf, TableName } from '../apply.ts';
import { demand } from '../demand.ts';
import type { MemoryState } from './state.ts';

/**
 * What the SQL schema says of sets of rows, said again for the store in memory, so that a rule that breaks it fails in a
 * simulation as it would on disk: what no other row may have at the same time. Each throws a plain Error: it is a bug.
 */
export function checkAmong<Name extends TableName>(state: MemoryState, table: Name, row: RowOf[Name]): void {
  if (table === 'turn') oneStarting(state, row as Turn);
  if (table === 'admission') onePlace(state, row as Admission);
  if (table === 'workspace') oneHolder(state, row as Workspace);
  if (table === 'graphStep') oneAttempt(state, row as GraphStep);
}

function oneStarting(state: MemoryState, row: Turn): void {
  if (row.state !== 'starting') return;
  for (const other of state.rows('turn').values()) {
    const clashes = other.id !== row.id && other.sessionId === row.sessionId && other.state === 'starting';
    demand(!clashes, `one starting turn a session, but there is ${other.id}`, row.id);
  }
}

function onePlace(state: MemoryState, row: Admission): void {
  for (const other of state.rows('admission').values()) {
    const clashes = other.sessionId !== row.sessionId && other.place === row.place;
    demand(!clashes, `one session a place, but there is ${other.sessionId}`, row.sessionId);
  }
}

function oneHolder(state: MemoryState, { runId, lock, place, isHeld }: Workspace): void {
  for (const other of state.rows('workspace').values()) {
    if (lock === null || other.runId === runId || other.lock !== lock) continue;
    demand(!isHeld || !other.isHeld, `one holder a lock, but there is ${other.runId}`, runId);
    demand(place === null || place !== other.place, `one run a place, but there is ${other.runId}`, runId);
  }
}

function oneAttempt(state: MemoryState, row: GraphStep): void {
  if (row.currentId === null) return;
  for (const other of state.rows('graphStep').values()) {
    const clashes = other.ref !== row.ref && other.currentId === row.currentId;
    demand(!clashes, `one step an attempt, but there is ${other.ref}`, row.ref);
  }
}

function uniqueStep(state: MemoryState, row: GraphStep): void {
  for (const other of state.rows('graphStep').values()) {
    const isTwice = other.graphId === row.graphId && other.plan.name === row.plan.name;
    demand(!isTwice, `names are unique in a graph, but there is ${other.ref}`, row.ref);
  }
}

/** What must be unique when a row is inserted, beside its id. */
export function checkUnique<Name extends TableName>(state: MemoryState, table: Name, row: RowOf[Name]): void {
  if (table === 'execution') uniqueExecution(state, row as Execution);
  if (table === 'graphStep') uniqueStep(state, row as GraphStep);
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
