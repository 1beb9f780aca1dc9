import type { Graph, GraphStep } from '../../ledger/graph.ts';
import { stepRef } from '../../ledger/graph.ts';
import { id, start } from './rows.ts';

/** A running graph of execution `n` with one step left. */
export function graph(n: number, set: Partial<Graph> = {}): Graph {
  return {
    id: id.execution(n),
    project: 'default',
    workflow: `workflow ${n}`,
    group: null,
    inputs: {},
    settings: {
      agent: null,
      cwd: '/work',
      variables: { region: 'eu-1' },
      env: {},
      failFast: false,
      evaluation: null,
      outputs: {},
      timezone: 'UTC',
      instant: start,
      isFromFile: true,
    },
    of: null,
    resumes: null,
    left: 1,
    failed: 0,
    state: 'running',
    outcome: null,
    outcomeCode: null,
    error: null,
    isStopping: false,
    createdAt: start,
    endedAt: null,
    ...set,
  };
}

/** A due step of the graph of execution `n`. */
export function graphStep(n: number, index: number, set: Partial<GraphStep> = {}): GraphStep {
  const graphId = id.execution(n);
  return {
    ref: stepRef(graphId, index),
    graphId,
    index,
    plan: {
      name: `step ${index}`,
      needs: [],
      when: null,
      retry: null,
      timeoutMs: null,
      onFailure: 'stop',
      outputs: {},
      repairs: 0,
      budget: null,
      does: { type: 'script', run: 'true', env: {}, cwd: null },
    },
    dependents: [],
    state: 'due',
    blockedBy: 0,
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
    ...set,
  };
}
