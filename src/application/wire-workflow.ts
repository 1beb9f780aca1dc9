import type { Json } from '../base/json.ts';
import type { TreeStep } from '../contract/step.ts';
import type { WorkflowStep, WorkflowView } from '../contract/workflow.ts';
import type { Execution } from '../ledger/execution.ts';
import type { GraphStep, NewGraph, WorkflowCall } from '../ledger/graph.ts';
import type { RunRecords } from '../runs/step-ports.ts';
import type { GraphView } from '../store/views.ts';
import { at, present, toWaiting } from './wire.ts';

/** How much of a result is shown beside its step, in UTF-16 units: all of it is in the execution. */
const longestResult = 2_000;
/** Outputs that are longer than this as JSON are not shown beside their step. */
const longestOutputs = 20_000;

/** Where the record of a workflow, and of an attempt of one of its steps, lies. */
export type RecordPlaces = Pick<RunRecords, 'directory' | 'attemptDirectory'>;

/** A workflow that was launched, with a page of its steps. */
export function toWorkflowView(
  { graph, steps, attempts, next, total }: GraphView,
  places: RecordPlaces,
): WorkflowView {
  const { left, failed } = graph;
  return {
    ...headOf(graph),
    executionId: graph.id,
    state: graph.state,
    directory: places.directory(graph.id),
    counts: { total, ended: total - left, failed },
    steps: steps.map((step) => toStep(step, attempts.get(step.index) ?? [], places)),
    ...present({
      outcome: graph.outcome,
      outcomeCode: graph.outcomeCode,
      error: graph.error,
      of: graph.of,
      resumes: graph.resumes,
      evaluation: graph.settings.evaluation?.workflow,
      nextCursor: next === undefined ? undefined : String(next),
    }),
  };
}

/** One that was not launched yet, as it will be. */
export function toWorkflowToCome({ graph }: WorkflowCall, limit: number): WorkflowView {
  const steps = graph.steps.slice(0, limit).map(
    (plan, index): WorkflowStep => ({
      index,
      name: plan.name,
      type: plan.does.type,
      needs: [...plan.needs],
      state: plan.needs.length === 0 ? 'due' : 'blocked',
      attempts: [],
      tries: 0,
    }),
  );
  return { ...headOf(graph), counts: { total: graph.steps.length, ended: 0, failed: 0 }, steps };
}

function headOf({
  project,
  workflow,
  group,
  inputs,
}: Pick<NewGraph, 'project' | 'workflow' | 'group' | 'inputs'>): Pick<
  WorkflowView,
  'name' | 'group' | 'inputs'
> {
  const isEmpty = Object.keys(inputs).length === 0;
  return {
    name: `${project}/${workflow}`,
    ...(group === null ? {} : { group }),
    ...(isEmpty ? {} : { inputs: { ...inputs } }),
  };
}

function toStep(row: GraphStep, attempts: readonly Execution[], places: RecordPlaces): WorkflowStep {
  const { name, needs, does } = row.plan;
  const outputs = shownOutputs(row.outputs);
  return {
    index: row.index,
    name,
    type: does.type,
    needs: [...needs],
    state: row.state,
    tries: row.tries,
    attempts: attempts.map((attempt) => toAttempt(row, attempt, places)),
    ...outputs,
    ...present({
      reason: row.reason,
      retryAt: at(row.retryAt),
      result: row.result === null ? null : cut(row.result),
      reused: row.reused,
    }),
  };
}

function toAttempt(step: GraphStep, row: Execution, places: RecordPlaces): WorkflowStep['attempts'][number] {
  return {
    executionId: row.id,
    attempt: row.attempt,
    state: row.state,
    closed: row.closed,
    directory: places.attemptDirectory({
      workflowId: step.graphId,
      step: step.plan.name,
      attempt: row.attempt,
    }),
    ...present({
      startedAt: at(row.startedAt),
      endedAt: at(row.endedAt),
      waiting: toWaiting(row.waiting),
      error: row.error,
      usage: row.spent ?? row.usage,
    }),
  };
}

function shownOutputs(outputs: Readonly<Record<string, Json>>): Pick<WorkflowStep, 'outputs' | 'outputsCut'> {
  if (Object.keys(outputs).length === 0) return {};
  return JSON.stringify(outputs).length > longestOutputs ? { outputsCut: true } : { outputs: { ...outputs } };
}

function cut(text: string): string {
  // Half of a character would be none.
  return text.length <= longestResult
    ? text
    : `${text.slice(0, longestResult - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** A step that no execution of the tree shows; undefined when one does. */
export function toTreeStep(row: GraphStep): TreeStep | undefined {
  const isShown = row.state === 'running' || (row.reused === null && isOver(row) && row.tries > 0);
  if (isShown) return undefined;
  return {
    workflowId: row.graphId,
    name: row.plan.name,
    type: row.plan.does.type,
    state: row.state,
    tries: row.tries,
    ...present({ reason: row.reason, retryAt: at(row.retryAt), reused: row.reused }),
  };
}

function isOver({ state }: GraphStep): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'skipped' || state === 'cancelled';
}
