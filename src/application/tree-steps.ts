import type { ExecutionId } from '../base/ids.ts';
import type { TreeStep } from '../contract/step.ts';
import type { Execution } from '../ledger/execution.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { ApplicationContext } from './context.ts';
import { toTreeStep } from './wire-workflow.ts';

/** Of a tree, so many workflows and steps are looked at to show steps that no execution shows. */
const mostWorkflows = 50;
const mostTreeSteps = 2_000;

/** The steps of the workflows of a tree that no execution shows, in the order of their files. */
export async function stepsOfTree(
  { store }: Pick<ApplicationContext, 'store'>,
  executions: readonly Execution[],
): Promise<TreeStep[]> {
  const maybe = executions.filter(
    ({ kind }) => kind === 'workflow' || kind === 'evaluation' || kind === 'step',
  );
  return store.read(() => treeSteps(maybe.map(({ id }) => id)));
}

function* treeSteps(ids: readonly ExecutionId[]): Asking<TreeStep[]> {
  const found: TreeStep[] = [];
  let graphs = 0;
  for (const id of ids) {
    if (graphs >= mostWorkflows || found.length >= mostTreeSteps) break;
    if (!(yield* ask('graph', id))) continue;
    graphs++;
    for (const step of yield* ask('graphSteps', id)) found.push(...[toTreeStep(step) ?? []].flat());
  }
  return found.slice(0, mostTreeSteps);
}
