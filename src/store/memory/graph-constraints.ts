import type { Graph, GraphStep, StepState } from '../../ledger/graph.ts';
import { isEnded, stepRef } from '../../ledger/graph.ts';
import { demand } from './demand.ts';
import type { MemoryState } from './state.ts';

const ready: readonly StepState[] = ['due', 'running', 'backsOff'];

/** A graph that has ended has its outcome, and keeps it. */
export function checkGraph(state: MemoryState, row: Graph): void {
  demand(row.left >= 0 && row.failed >= 0, 'left and failed >= 0', row.id);
  demand((row.state === 'ended') === (row.endedAt !== null), 'ended has its instant', row.id);
  demand((row.state === 'ended') === (row.outcome !== null), 'ended has its outcome', row.id);
  const before = state.rows('graph').get(row.id);
  const isSame = before?.state === row.state && before.outcome === row.outcome;
  demand(before?.state !== 'ended' || isSame, 'what has ended does not change', row.id);
}

/** A step that has ended says why, and stays so. */
export function checkGraphStep(state: MemoryState, row: GraphStep): void {
  demand(row.ref === stepRef(row.graphId, row.index), 'the name of a step is its graph and place', row.ref);
  const counts = [row.index, row.blockedBy, row.failedNeeds, row.deadNeeds, row.tries, row.moves];
  demand(Math.min(...counts) >= 0, 'counts >= 0', row.ref);
  demand(!ready.includes(row.state) || row.blockedBy === 0, 'what may begin is blocked by nothing', row.ref);
  demand((row.state === 'backsOff') === (row.retryAt !== null), 'a back-off has its instant', row.ref);
  demand(row.state !== 'running' || row.currentId !== null, 'what runs has its attempt', row.ref);
  demand(row.reused === null || row.state === 'succeeded', 'only a success is used again', row.ref);
  const isExplained = row.state !== 'failed' && row.state !== 'skipped';
  demand(isExplained || row.reason !== null, 'says why', row.ref);
  const before = state.rows('graphStep').get(row.ref);
  demand(!before || !isEnded(before.state) || before.state === row.state, 'an end is an end', row.ref);
  if (row.currentId === null) return;
  for (const other of state.rows('graphStep').values()) {
    const clashes = other.ref !== row.ref && other.currentId === row.currentId;
    demand(!clashes, `one step an attempt, but there is ${other.ref}`, row.ref);
  }
}

/** No two steps of a graph have one name. */
export function uniqueStep(state: MemoryState, row: GraphStep): void {
  for (const other of state.rows('graphStep').values()) {
    const isTwice = other.graphId === row.graphId && other.plan.name === row.plan.name;
    demand(!isTwice, `names are unique in a graph, but there is ${other.ref}`, row.ref);
  }
}
