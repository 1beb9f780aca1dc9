import type { FreshIds } from '../base/ids.ts';
import type { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { addGraph } from './graph-begin.ts';
import type { Graph } from './graph.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { newExecution, refusalBelow } from './registration.ts';

/** The key of what scores a workflow. */
export function keyOfEvaluation(workflow: string, group: string | null): string {
  return `evaluation:${group === null ? workflow : `${workflow}:${group}`}`;
}

/**
 * Registers what scores a workflow, within the decision that settles it, and so closes it: as its sibling, for whoever
 * hears of the workflow. So there is no moment at which nothing of the two is counted, and nothing half done is scored.
 * Nothing scores what was cancelled, nor the first entry of a run, whose second entry does.
 */
export function* siblingEvaluation(
  draft: Draft,
  workflow: Execution,
  graph: Graph,
  fresh: FreshIds,
): Asking<Execution | undefined> {
  const call = graph.settings.evaluation;
  if (call === null || workflow.runId !== null || workflow.cancelRequested !== null) return undefined;
  const parent = workflow.parentId === null ? null : yield* ask('execution', workflow.parentId);
  if (parent === undefined || (parent && refusalBelow(parent))) return undefined;
  const key = keyOfEvaluation(call.workflow, call.group);
  const before = parent ? yield* ask('latestKeyed', workflow.rootId, key) : undefined;
  const { timeoutMs, budget } = call;
  const row = newExecution(draft.now, parent, workflow.parentSource, {
    id: fresh.at('execution', 'evaluation'),
    kind: 'evaluation',
    name: `${call.workflow} of ${workflow.name}`,
    key,
    attempt: (before?.attempt ?? 0) + 1,
    project: workflow.project,
    reportsTo: workflow.reportsTo,
    mode: workflow.mode,
    cancelledBy: workflow.cancelledBy,
    correlationId: workflow.correlationId,
    timeoutMs,
    deadlineAt: timeoutMs === null ? null : draft.now + timeoutMs,
    budget,
  });
  draft.register(row, yield* ask('holders', workflow.id));
  if (row.deadlineAt !== null) draft.wake('deadline', row.id, row.deadlineAt);
  addGraph(draft, row, { ...call.graph, of: workflow.id });
  return row;
}
