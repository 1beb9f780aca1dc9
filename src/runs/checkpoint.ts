import type { ExecutionId } from '../base/ids.ts';
import type { Graph } from '../ledger/graph.ts';
import { outcomeOf } from '../ledger/execution.ts';
import type { RowsOfRun } from '../ledger/plan.ts';
import { lengthOf } from '../ledger/plan.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { PlannedMessage, Run } from '../ledger/session.ts';
import type { RunsContext } from './ports.ts';

/** Where a conversation goes on that an earlier workflow left, and in which. */
export interface Checkpoint {
  readonly cursor: number;
  /** Those of then, whatever the file says now. */
  readonly rows?: RowsOfRun;
  /** How the agent names the conversation; null: a new one. */
  readonly nativeId: string | null;
}

/**
 * Where a sequence goes on, in a workflow that resumes another one: at the message that did not succeed, with the rows of then. Undefined
 * where it begins anew: nothing was sent then, all was done, or its messages are others now.
 */
export function checkpointOf(
  { store }: Pick<RunsContext, 'store'>,
  graph: Graph,
  step: string,
  plan: readonly PlannedMessage[],
): Promise<Checkpoint | undefined> {
  return store.read(() => checkpoint(graph, step, plan));
}

/** The run of the latest attempt that had one: an attempt that could not even begin has not done anything since. */
function* lastRunOf(from: ExecutionId | null, name: string): Asking<Run | undefined> {
  for (let id = from; id !== null; ) {
    const before = yield* ask('graphStepNamed', id, name);
    if (!before || before.plan.does.type !== 'sequence' || before.state === 'succeeded') return undefined;
    const run = before.currentId === null ? undefined : yield* ask('runOwnedBy', before.currentId);
    if (run) return run;
    id = (yield* ask('graph', id))?.resumes ?? null;
  }
  return undefined;
}

function* checkpoint(
  { resumes }: Graph,
  name: string,
  plan: readonly PlannedMessage[],
): Asking<Checkpoint | undefined> {
  const run = yield* lastRunOf(resumes, name);
  if (!run?.currentId || JSON.stringify(run.plan) !== JSON.stringify(plan)) return undefined;
  const current = yield* ask('execution', run.currentId);
  const isDone = current !== undefined && outcomeOf(current).outcome === 'succeeded';
  const cursor = isDone ? run.cursor : run.cursor - 1;
  if (cursor === 0 || cursor >= lengthOf(run)) return undefined;
  const session = run.sessionId === null ? undefined : yield* ask('session', run.sessionId);
  const rows = run.rowCount === null ? {} : { rows: { count: run.rowCount, from: run.id } };
  return { cursor, ...rows, nativeId: session?.nativeId ?? null };
}
