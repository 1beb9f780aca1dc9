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
/** Outputs that are longer than this as JSON are not shown beside their step: there may be a thousand of them. */
const longestOutputs = 4_000;

/** Where the record of a workflow, and of an attempt of one of its steps, lies. */
export type RecordPlaces = Pick<RunRecords, 'directory' | 'attemptDirectory' | 'files'>;

/** What a workflow is shown with. */
export interface AroundGraph {
  /** The execution whose program it is. */
  readonly execution: Execution | undefined;
  /** Of each step that waits for others, the first of those, by its index. */
  readonly waitsFor: ReadonlyMap<number, readonly string[]>;
}

/** A workflow that was launched, with a page of its steps. */
export function toWorkflowView(
  { graph, steps, attempts, next, total }: GraphView,
  places: RecordPlaces,
  { execution, waitsFor }: AroundGraph,
): WorkflowView {
  const { left, failed } = graph;
  return {
    ...headOf(graph),
    executionId: graph.id,
    state: graph.state,
    directory: places.directory(graph.id),
    counts: { total, ended: total - left, failed },
    steps: steps.map((step) => ({
      ...toStep(step, attempts.get(step.index) ?? [], places),
      ...present({ waitsFor: waitsFor.get(step.index)?.slice() }),
    })),
    ...present({
      outcome: graph.outcome,
      outcomeCode: graph.outcomeCode,
      error: graph.error,
      result: execution?.result === undefined || execution.result === null ? null : cutTo(execution.result),
      startedAt: at(execution?.startedAt ?? null),
      endedAt: at(execution?.endedAt ?? null),
      usage: execution?.spent,
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
      result: row.result === null ? null : cutTo(row.result),
      reused: row.reused,
    }),
    ...(row.result !== null && row.result.length > longestResult ? { resultCut: true } : {}),
  };
}

/** One attempt of a step. */
export function toAttempt(
  step: Pick<GraphStep, 'graphId' | 'plan'>,
  row: Execution,
  places: Pick<RecordPlaces, 'attemptDirectory'>,
): WorkflowStep['attempts'][number] {
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
      sessionId: row.runsIn,
    }),
  };
}

/** Outputs as far as there is room for them: all, or none. `longest`: as JSON, in UTF-16 units. */
export function shownOutputs(
  outputs: Readonly<Record<string, Json>>,
  longest = longestOutputs,
): Pick<WorkflowStep, 'outputs' | 'outputsCut'> {
  if (Object.keys(outputs).length === 0) return {};
  return JSON.stringify(outputs).length > longest ? { outputsCut: true } : { outputs: { ...outputs } };
}

/** A text, or its beginning where it is longer than `longest` UTF-16 units; then it ends with `…`. */
export function cutTo(text: string, longest = longestResult): string {
  // Half of a character would be none.
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
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
