import type { RunId } from '../../base/ids.ts';
import type { Execution } from '../../ledger/execution.ts';
import { addUsage } from '../../ledger/spending.ts';
import type { GraphView, RunPlaces, RunWithMessages, StepPage } from '../views.ts';
import { attemptsShown, placesOf } from '../views.ts';
import type { MemoryState } from './state.ts';

/** A workflow with a page of its steps, by looking at every row. */
export function graphOf(
  state: MemoryState,
  id: string,
  { from, limit, isAlone = false }: StepPage,
): GraphView | undefined {
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
    ...(next === undefined || isAlone ? {} : { next }),
  };
}

/** A run with what it has sent at some of its places, by looking at every row. */
export function runOf(state: MemoryState, id: RunId, places: RunPlaces): RunWithMessages | undefined {
  const run = state.rows('run').get(id);
  if (!run) return undefined;
  const all = [...state.rows('execution').values()].filter(
    (row) => row.runId === id && ['message', 'workflow', 'evaluation'].includes(row.kind),
  );
  const { from, count } = placesOf(run, places);
  const isThere = ({ runIndex }: Execution): boolean =>
    Number(runIndex) >= from && Number(runIndex) < from + count;
  const messages = all
    .filter(isThere)
    .sort((a, b) => Number(a.runIndex) - Number(b.runIndex) || a.attempt - b.attempt);
  const [first, ...rest] = all.flatMap(({ spent }) => spent ?? []);
  const current = all.find((row) => row.id === run.currentId);
  return { run, from, count, messages, current, spent: first ? rest.reduce(addUsage, first) : null };
}
