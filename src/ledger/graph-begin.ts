import type { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import type { Graph, GraphStep, NewGraph } from './graph.ts';
import { stepRef } from './graph.ts';
import type { Asking } from './questions.ts';

/** Temporary. */
export function* addGraph(draft: Draft, row: Execution, given: NewGraph): Asking<void> {
  const { steps, reused: _reused, ...about } = given;
  const graph: Graph = {
    ...about,
    id: row.id,
    left: steps.length,
    failed: 0,
    state: 'running',
    outcome: null,
    outcomeCode: null,
    error: null,
    isStopping: false,
    createdAt: draft.now,
    endedAt: null,
  };
  draft.add({ do: 'insertGraph', row: graph });
  steps.forEach((plan, index) => {
    const dependents = steps.flatMap((other, at) => (other.needs.includes(plan.name) ? [at] : []));
    const ref = stepRef(row.id, index);
    const step: GraphStep = {
      ref,
      graphId: row.id,
      index,
      plan,
      dependents,
      state: plan.needs.length === 0 ? 'due' : 'blocked',
      blockedBy: plan.needs.length,
      failedNeeds: 0,
      deadNeeds: 0,
      tries: 0,
      retryAt: null,
      currentId: null,
      programEnd: null,
      result: null,
      outputs: {},
      reason: null,
      reused: null,
      moves: 0,
    };
    draft.add({ do: 'insertGraphStep', row: step });
    if (step.state === 'due') draft.wake('step', ref);
  });
}
