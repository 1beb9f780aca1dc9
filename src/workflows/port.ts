import type { Json } from '../base/json.ts';
import type { WorkflowCall } from '../ledger/graph.ts';
import type { StepType } from '../ledger/step-plan.ts';
import type { Decided } from '../ledger/store.ts';

/** Where workflows are defined. Everything is read anew with each call. */
export interface WorkflowSource {
  /** All that there are, those with mistakes too; by project, then name. Never rejects. */
  list(): Promise<readonly ListedWorkflow[]>;
  /**
   * What a workflow says now, as it is kept for the whole run of it. Refuses with `NOT_FOUND` (the nearest name in the
   * message), `AMBIGUOUS_ID`, `INVALID_CONFIG` (the mistakes of the file) and `INVALID_INPUT`, whose message begins with
   * the field that is wrong: `group`, `step`, `inputs.NAME`. A workflow with groups of which none is asked for is one of
   * a step of type `workflow` for each.
   */
  define(request: WorkflowRequest): Promise<Decided<WorkflowDefinition>>;
}

/** Which workflow is wanted, and with what. */
export interface WorkflowRequest {
  /** Its name, or `project/name`. */
  readonly workflow: string;
  /** Whose bare names are tried first. */
  readonly project?: string;
  readonly group?: string;
  readonly inputs?: Readonly<Record<string, Json>>;
  /** Only this step, without what it needs. */
  readonly step?: string;
  /** False: nothing scores it, whatever it says. */
  readonly evaluation?: boolean;
  /** From where the relative directories of the file are meant; absolute. Absent: the directory of its project. */
  readonly cwd?: string;
  /** What `date` and `scheduledFor` mean; UTC milliseconds. */
  readonly instant: number;
  /** The file itself, which is in no project; `workflow` is then only what it is called. */
  readonly file?: { readonly path: string; readonly text: string };
}

/** A workflow as it was when somebody asked for it. `call.graph.of` is null: whoever launches an evaluation says what it scores. */
export interface WorkflowDefinition {
  readonly project: string;
  readonly name: string;
  readonly call: WorkflowCall;
  /** Whether it scores other workflows (`of: run`). */
  readonly isEvaluation: boolean;
  /** Which profile each step has, those of nested workflows and of sub-agents too: `again/fix`. */
  readonly agents: readonly { readonly step: string; readonly agent: string }[];
}

/** A workflow in the list. What could not be read is left empty, and `problems` says why. */
export interface ListedWorkflow {
  readonly project: string;
  readonly name: string;
  readonly description: string | null;
  readonly isEvaluation: boolean;
  /** The name of the workflow that scores it. */
  readonly evaluation: string | null;
  readonly groups: readonly string[];
  readonly inputs: readonly ListedInput[];
  readonly steps: readonly {
    readonly name: string;
    readonly type: StepType;
    readonly needs: readonly string[];
  }[];
  readonly problems: readonly string[];
}

/** An input that a workflow takes. */
export interface ListedInput {
  readonly name: string;
  readonly description: string | null;
  readonly type: 'string' | 'number' | 'boolean';
  readonly isRequired: boolean;
  readonly default: Json | null;
  readonly choices: readonly Json[];
}
