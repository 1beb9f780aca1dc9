import type { RunId } from '../../base/ids.ts';
import type { Execution } from '../../ledger/execution.ts';
import type { GraphView, RunWithMessages, StepPage } from '../views.ts';
import { attemptsShown } from '../views.ts';
import type { MemoryState } from './state.ts';

/** A workflow with a page of its steps, by looking at every row. */
export function graphOf(state: MemoryState, id: string, { from, limit }: StepPage): GraphView | undefined {
  const graph = state.rows('graph').get(id);
  if (!graph) return undefined;
  const all = [...state.rows('graphStep').values()]
    .filter((row) => row.graphId === id)
    .sort((a, b) => a.index - b.index);
  const behind = all.filter((row) => row.index >= from);
  const steps = behind.slice(0, limit);
  const next = behind[limit]?.index;
  const children = [...state.rows('execution').values()].filter((row) => row.parentId === id);
  const attemptsOf = (name: string): Execution[] =>
    children
      .filter((row) => row.key === `step:${name}`)
      .sort((a, b) => a.attempt - b.attempt)
      .slice(-attemptsShown);
  return {
    graph,
    total: all.length,
    steps,
    attempts: new Map(
      steps.filter((step) => step.tries > 0).map((step) => [step.index, attemptsOf(step.plan.name)]),
    ),
    ...(next === undefined ? {} : { next }),
  };
}

/** A run with what it has sent, by looking at every row. */
export function runOf(state: MemoryState, id: RunId): RunWithMessages | undefined {
  const run = state.rows('run').get(id);
  const sent = [...state.rows('execution').values()].filter(
    (row) => row.runId === id && ['message', 'workflow', 'evaluation'].includes(row.kind),
  );
  const messages = sent.sort((a, b) => Number(a.runIndex) - Number(b.runIndex) || a.attempt - b.attempt);
  return run && { run, messages };
}
