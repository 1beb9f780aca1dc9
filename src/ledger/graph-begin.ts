import type { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { afterNeed } from './graph-needs.ts';
import type { Graph, GraphStep, NewGraph, ReusedStep } from './graph.ts';
import { isEnded, stepRef } from './graph.ts';

/**
 * Registers the program of a workflow within a larger decision, behind its execution. Steps that need nothing are due, and
 * are called unless the execution waits: then whoever lets it go on calls them. With nothing left to do it has ended.
 */
export function addGraph(draft: Draft, owner: Execution, given: NewGraph): void {
  const steps = firstSteps(owner, given);
  const left = steps.filter((step) => !isEnded(step.state)).length;
  const isDone = left === 0;
  const { steps: _steps, reused: _reused, ...about } = given;
  const row: Graph = {
    ...about,
    id: owner.id,
    left,
    failed: 0,
    state: isDone ? 'ended' : 'running',
    outcome: isDone ? 'succeeded' : null,
    outcomeCode: null,
    error: null,
    isStopping: false,
    createdAt: draft.now,
    endedAt: isDone ? draft.now : null,
  };
  draft.add({ do: 'insertGraph', row });
  for (const step of steps) draft.add({ do: 'insertGraphStep', row: step });
  const data = { executionId: row.id, workflow: row.workflow, state: row.state, outcome: row.outcome };
  draft.tell({ type: 'graph.state', rootId: owner.rootId, sessionId: null, data });
  if (isDone) draft.wake('graph', row.id);
  else if (owner.waiting === null)
    for (const step of steps) if (step.state === 'due') draft.wake('step', step.ref);
}

/** The steps as they are in the beginning: what is not done again has ended, with all that follows of it. */
function firstSteps(owner: Execution, { steps, reused }: NewGraph): GraphStep[] {
  const dependents = dependentsOf(steps);
  const rows = steps.map((plan, index) => newStep(owner, plan, index, dependents[index] ?? []));
  const ended: GraphStep[] = [];
  for (const again of reused) {
    const row = rows[again.index];
    if (!row) throw new Error(`there is no step ${again.index} in ${owner.name}`);
    ended.push((rows[again.index] = asDone(row, again)));
  }
  for (let need = ended.pop(); need; need = ended.pop()) {
    for (const index of need.dependents) {
      const row = rows[index];
      if (row?.state !== 'blocked') continue;
      const { step, ends } = afterNeed(row, need);
      const next: GraphStep = ends
        ? { ...step, ...ends }
        : step.blockedBy === 0
          ? { ...step, state: 'due' }
          : step;
      rows[index] = next;
      if (ends) ended.push(next);
    }
  }
  return rows;
}

function newStep(
  owner: Execution,
  plan: GraphStep['plan'],
  index: number,
  dependents: readonly number[],
): GraphStep {
  const blockedBy = new Set(plan.needs).size;
  return {
    ref: stepRef(owner.id, index),
    graphId: owner.id,
    index,
    plan,
    dependents,
    state: blockedBy === 0 ? 'due' : 'blocked',
    blockedBy,
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
}

function asDone(row: GraphStep, { executionId, result, outputs }: ReusedStep): GraphStep {
  return { ...row, state: 'succeeded', blockedBy: 0, reused: executionId, result, outputs };
}

/** For each step the places of those that need it. Throws for a need that is no step: the file was checked before. */
function dependentsOf(steps: NewGraph['steps']): number[][] {
  const places = new Map(steps.map(({ name }, index) => [name, index]));
  const dependents = steps.map((): number[] => []);
  steps.forEach(({ name, needs }, index) => {
    for (const need of new Set(needs)) {
      const of = dependents[places.get(need) ?? -1];
      if (!of) throw new Error(`step "${name}" needs "${need}", which is no step`);
      of.push(index);
    }
  });
  return dependents;
}
