import type { Execution } from '../ledger/execution.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { BriefStep, ShownExecution } from '../mcp/ports.ts';
import { toExecution } from './wire.ts';

/** Most steps of a workflow that are shown, in its order. */
const mostSteps = 200;

/** An execution as an agent is shown it; of a workflow also its steps, in brief. */
export async function shownExecution(
  { store }: { readonly store: LedgerStore },
  row: Execution,
): Promise<ShownExecution> {
  const steps = await store.read(() => briefSteps(row));
  return steps.length === 0 ? toExecution(row) : { ...toExecution(row), steps };
}

function* briefSteps({ id, kind }: Execution): Asking<BriefStep[]> {
  if (kind !== 'workflow' && kind !== 'evaluation' && kind !== 'step') return [];
  const steps = yield* ask('graphSteps', id);
  return steps.slice(0, mostSteps).map(({ plan, state, reason, currentId }) => ({
    name: plan.name,
    state,
    ...(reason === null ? {} : { reason }),
    ...(currentId === null ? {} : { executionId: currentId }),
  }));
}
