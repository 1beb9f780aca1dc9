import type { Graph, GraphStep, StepState } from '../ledger/graph.ts';
import { isEnded, stepRef } from '../ledger/graph.ts';
import { demand } from './demand.ts';

const ready: readonly StepState[] = ['due', 'running', 'backsOff'];

/** A graph that has ended has its outcome, and keeps it. */
export function checkGraph(row: Graph, before: Graph | undefined): void {
  demand(row.left >= 0 && row.failed >= 0, 'left and failed >= 0', row.id);
  demand((row.state === 'ended') === (row.endedAt !== null), 'ended has its instant', row.id);
  demand((row.state === 'ended') === (row.outcome !== null), 'ended has its outcome', row.id);
  const isSame = before?.state === row.state && before.outcome === row.outcome;
  demand(before?.state !== 'ended' || isSame, 'what has ended does not change', row.id);
}

/** A step that has ended says why, and stays so. */
export function checkGraphStep(row: GraphStep, before: GraphStep | undefined): void {
  demand(row.ref === stepRef(row.graphId, row.index), 'the name of a step is its graph and place', row.ref);
  const counts = [row.index, row.blockedBy, row.failedNeeds, row.deadNeeds, row.tries, row.moves];
  demand(Math.min(...counts) >= 0, 'counts >= 0', row.ref);
  demand(!ready.includes(row.state) || row.blockedBy === 0, 'what may begin is blocked by nothing', row.ref);
  demand((row.state === 'backsOff') === (row.retryAt !== null), 'a back-off has its instant', row.ref);
  demand(row.state !== 'running' || row.currentId !== null, 'what runs has its attempt', row.ref);
  demand(row.reused === null || row.state === 'succeeded', 'only a success is used again', row.ref);
  const isExplained = row.state !== 'failed' && row.state !== 'skipped';
  demand(isExplained || row.reason !== null, 'says why', row.ref);
  demand(!before || !isEnded(before.state) || before.state === row.state, 'an end is an end', row.ref);
}
