import type { Run } from '../../../../src/contract/run.ts';
import type { WorkflowStep } from '../../../../src/contract/workflow.ts';

/** The runs of a workflow by its steps. */
export interface RunMatrix {
  /** In the order of the file; steps that only older runs have come last. */
  readonly steps: readonly string[];
  /** Newest first. */
  readonly runs: readonly Run[];
  /** The step of a run; undefined where that run has none of this name. */
  readonly cell: (step: string, run: Run) => WorkflowStep | undefined;
}

/** The matrix of steps × runs. `known`: the steps of the file as it is now, in its order. */
export function runMatrix(known: readonly string[], runs: readonly Run[]): RunMatrix {
  const names = new Set(known);
  const cells = new Map<string, Map<string, WorkflowStep>>();
  for (const run of runs) {
    const steps = run.workflow?.steps ?? [];
    cells.set(run.id, new Map(steps.map((step) => [step.name, step])));
    for (const { name } of steps) names.add(name);
  }
  return { steps: [...names], runs, cell: (step, { id }) => cells.get(id)?.get(step) };
}
