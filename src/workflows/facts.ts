import type { Json } from '../base/json.ts';
import type { Budget } from '../contract/budget.ts';
import type { ReadWorkflow } from './read-file.ts';

/** What a workflow is held against: what else there is. What is left out is not known, and not looked at. */
export interface WorkflowFacts {
  /** The names of the agent profiles. */
  readonly agents?: readonly string[];
  /** Why an agent that is there takes no such budget, if so. */
  readonly refusalOfBudget?: (agent: string, budget: Budget) => string | undefined;
  /** What is wrong with a JSON Schema, in sentences. */
  readonly problemsOfSchema?: (schema: Json) => readonly string[];
  /** What this workflow is called. */
  readonly name: string;
  /** All workflows of the project, this one too. */
  readonly workflows?: ReadonlyMap<string, WorkflowOutline>;
}

/** As much of a workflow as others must know. What its file says badly is not there. */
export interface WorkflowOutline {
  readonly isEvaluation: boolean;
  readonly evaluation: string | null;
  readonly groups: readonly string[];
  /** The inputs that may be given, and whether one must be. */
  readonly inputs: ReadonlyMap<string, { readonly mustBeGiven: boolean }>;
  readonly outputs: readonly string[];
  /** The workflows that its steps begin. */
  readonly calls: readonly string[];
  /** Whether its file could be read whole; else nothing more is said of it. */
  readonly isWhole: boolean;
}

/** What others must know of a workflow. */
export function outlineOf({ head, steps, issues }: ReadWorkflow): WorkflowOutline {
  const inputs = Object.entries(head.inputs ?? {}).map(
    ([name, { required = false, default: said }]) =>
      [name, { mustBeGiven: required && said === undefined }] as const,
  );
  const calls = [...steps.values()].flatMap((step) => (step.type === 'workflow' ? [step.said.workflow] : []));
  return {
    isEvaluation: head.of !== undefined,
    evaluation: head.evaluation ?? null,
    groups: Object.keys(head.groups ?? {}),
    inputs: new Map(inputs),
    outputs: Object.keys(head.outputs ?? {}),
    calls: [...new Set(calls)],
    isWhole: issues.length === 0,
  };
}
