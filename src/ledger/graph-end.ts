import type { Draft, Ending } from './decision.ts';
import type { Execution, Outcome } from './execution.ts';
import type { Graph } from './graph.ts';

/** What a graph came to. */
export interface GraphVerdict {
  readonly outcome: Outcome;
  readonly code: string | null;
}

/**
 * Ends a graph within a larger decision. Its execution settles when what people read of it is made, which its handler
 * does, and when nothing below it is open.
 */
export function endGraph(draft: Draft, graph: Graph, owner: Execution, how?: GraphVerdict): void {
  const own: GraphVerdict =
    graph.failed > 0 ? { outcome: 'failed', code: 'STEP_FAILED' } : { outcome: 'succeeded', code: null };
  const { outcome, code: outcomeCode } = how ?? own;
  const set = { state: 'ended', outcome, outcomeCode, endedAt: draft.now } as const;
  draft.add({ do: 'patchGraph', id: graph.id, set });
  const data = {
    executionId: graph.id,
    workflow: graph.workflow,
    state: 'ended',
    outcome,
    code: outcomeCode,
  };
  draft.tell({ type: 'graph.state', rootId: owner.rootId, sessionId: null, data });
  draft.wake('graph', graph.id);
}

/** How something ends that was cancelled: beyond its deadline or its budget it has failed. */
export function cancelledEnding(row: Pick<Execution, 'verdict' | 'cancelRequested' | 'timeoutMs'>): Ending {
  const message = messages.get(row.verdict);
  if (row.verdict === null || message === undefined) return { state: 'cancelled' };
  return { state: 'failed', error: { code: row.verdict, message } };
}

const messages = new Map<string | null, string>([
  ['TIMED_OUT', 'It was not over in its time, and was ended with all that it had started.'],
  ['BUDGET', 'It used more than it was given, and was ended with all that it had started.'],
]);
