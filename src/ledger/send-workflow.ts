import type { ExecutionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { smallerBudget } from './attempts.ts';
import type { Draft } from './decision.ts';
import type { Budget, Execution } from './execution.ts';
import { addGraph } from './graph-begin.ts';
import { resumed } from './graph-resume.ts';
import type { DoneAgain, NewGraph, WorkflowCall } from './graph.ts';
import { plannedAt } from './plan.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { newExecution } from './registration.ts';
import type { PlannedMessage, Run } from './session.ts';
import { takeWorkspace } from './workspace-lock.ts';

/** The inputs of a workflow whose templates were filled in, or why that could not be done. */
export type FilledInputs =
  | { readonly ok: true; readonly inputs: Readonly<Record<string, Json>> }
  | { readonly ok: false; readonly message: string };

/** An entry of a plan that is a workflow, at its place in the run. */
export interface WorkflowEntry {
  readonly id: ExecutionId;
  readonly index: number;
  readonly attempt: number;
  readonly planned: PlannedMessage;
  readonly call: WorkflowCall;
  readonly inputs: FilledInputs;
  /** What is left of the budget of the run. */
  readonly left: Budget | null;
}

/** Whether this place of a run is the evaluation of what went before it: it begins whatever that came to. */
export function isEvaluation(run: Run, index: number): boolean {
  return index > 0 && run.sessionId === null && plannedAt(run, index)?.workflow !== undefined;
}

/**
 * Registers a workflow as a root, with its program. Where the workspace of its run is not free it waits, and neither its
 * steps nor its clock begin; `letIn` begins them. One whose inputs could not be filled in has failed at once.
 */
export function* sendWorkflow(draft: Draft, run: Run, entry: WorkflowEntry): Asking<void> {
  const { inputs, index, call } = entry;
  const row = rowOf(draft.now, run, entry);
  draft.register(row, []);
  if (!inputs.ok) {
    const error = { code: 'TEMPLATE_FAILED', message: inputs.message };
    return draft.settle(row, { state: 'failed', error });
  }
  const scored = row.kind === 'evaluation' ? yield* ask('latestOfRun', run.id, index - 1) : undefined;
  const given: NewGraph = { ...call.graph, inputs: inputs.inputs, of: scored?.id ?? call.graph.of };
  const former = yield* ask('latestOfRun', run.id, index);
  const graph = yield* goingOn(given, former?.id ?? null, run.again);
  const isFree = yield* takeWorkspace(draft, row);
  addGraph(draft, isFree ? row : { ...row, waiting: { for: 'workspace', since: draft.now } }, graph);
  if (isFree) startClock(draft, row);
}

/**
 * The program of the next attempt of a workflow: what had succeeded in the former one is not done again, but for what `again`
 * names.
 */
export function* goingOn(
  given: NewGraph,
  formerId: ExecutionId | null,
  again: DoneAgain | null,
): Asking<NewGraph> {
  const graph = formerId === null ? undefined : yield* ask('graph', formerId);
  return graph ? resumed(given, { graph, steps: yield* ask('graphSteps', graph.id) }, again) : given;
}

/** A workflow that waits for its workspace looks whether that is free now; then its steps and its clock begin. */
export function* letIn(draft: Draft, row: Execution): Asking<boolean> {
  if (row.waiting?.for !== 'workspace' || row.cancelRequested || !(yield* takeWorkspace(draft, row)))
    return false;
  startClock(draft, row);
  for (const step of yield* ask('graphSteps', row.id)) if (step.state === 'due') draft.wake('step', step.ref);
  return true;
}

function startClock(draft: Draft, row: Execution): void {
  const deadlineAt = row.timeoutMs === null ? null : draft.now + row.timeoutMs;
  draft.patch(row.id, { waiting: null, startedAt: draft.now, deadlineAt });
  draft.event('execution.started', row);
  if (deadlineAt !== null) draft.wake('deadline', row.id, deadlineAt);
}

function rowOf(now: number, run: Run, { id, index, attempt, planned, call, left }: WorkflowEntry): Execution {
  return newExecution(now, null, 'none', {
    id,
    kind: isEvaluation(run, index) ? 'evaluation' : 'workflow',
    name: call.group === null ? call.workflow : `${call.workflow} (${call.group})`,
    project: run.project,
    runId: run.id,
    runIndex: index,
    attempt,
    timeoutMs: call.timeoutMs,
    budget: smallerBudget(planned.budget ?? null, left),
    wakeOnClose: `run:${run.id}`,
    startedAt: null,
  });
}
