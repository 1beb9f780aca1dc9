import type { Graph } from '../ledger/graph.ts';
import { outcomeOf } from '../ledger/execution.ts';
import type { RowsOfRun } from '../ledger/plan.ts';
import { lengthOf } from '../ledger/plan.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { PlannedMessage } from '../ledger/session.ts';
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

function* checkpoint(
  { resumes }: Graph,
  name: string,
  plan: readonly PlannedMessage[],
): Asking<Checkpoint | undefined> {
  const before = resumes === null ? undefined : yield* ask('graphStepNamed', resumes, name);
  if (!before?.currentId || before.plan.does.type !== 'sequence') return undefined;
  const run = yield* ask('runOwnedBy', before.currentId);
  if (!run?.currentId || JSON.stringify(run.plan) !== JSON.stringify(plan)) return undefined;
  const current = yield* ask('execution', run.currentId);
  const isDone = current !== undefined && outcomeOf(current).outcome === 'succeeded';
  const cursor = isDone ? run.cursor : run.cursor - 1;
  if (cursor === 0 || cursor >= lengthOf(run)) return undefined;
  const session = run.sessionId === null ? undefined : yield* ask('session', run.sessionId);
  const rows = run.rowCount === null ? {} : { rows: { count: run.rowCount, from: run.id } };
  return { cursor, ...rows, nativeId: session?.nativeId ?? null };
}
