import { ask, type Asking } from '../ledger/questions.ts';
import type { GraphStep } from '../ledger/graph.ts';
import { isEnded } from '../ledger/graph.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { GraphView } from '../store/views.ts';
import type { AroundGraph } from './wire-workflow.ts';

/** Of what a step waits for so many names are shown, and for so many steps of one answer. */
const mostNames = 10;
const mostSteps = 1_000;

/** What a workflow is shown with: its execution, and the names of what its blocked steps wait for. */
export function aroundGraph(store: Pick<LedgerStore, 'read'>, view: GraphView): Promise<AroundGraph> {
  return store.read(() => around(view));
}

function* around({ graph, steps }: GraphView): Asking<AroundGraph> {
  const known = new Map<string, GraphStep | undefined>(steps.map((step) => [step.plan.name, step]));
  const waitsFor = new Map<number, readonly string[]>();
  for (const step of steps.slice(0, mostSteps)) {
    if (step.state !== 'blocked') continue;
    const names: string[] = [];
    for (const name of step.plan.needs) {
      if (names.length >= mostNames) break;
      if (!known.has(name)) known.set(name, yield* ask('graphStepNamed', graph.id, name));
      const needed = known.get(name);
      if (needed && !isEnded(needed.state)) names.push(name);
    }
    if (names.length > 0) waitsFor.set(step.index, names);
  }
  return { execution: yield* ask('execution', graph.id), waitsFor };
}
