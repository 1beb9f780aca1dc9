import type { Json } from '../base/json.ts';
import type { ExecutionId } from '../base/ids.ts';
import type { Budget, Failure, Outcome } from './execution.ts';
import type { StepPlan } from './step-plan.ts';

/**
 * The program of a workflow: its steps, and how far each of them is. It belongs to one execution (`workflow`, `evaluation`, or
 * `step` when a single one was asked for), and moves when one of its steps ends. A definition that changes meanwhile
 * changes nothing of it.
 */
export interface Graph {
  /** The execution whose program it is. */
  readonly id: ExecutionId;
  readonly project: string;
  readonly workflow: string;
  readonly group: string | null;
  readonly inputs: Readonly<Record<string, Json>>;
  readonly settings: GraphSettings;
  /** What an evaluation scores. */
  readonly of: ExecutionId | null;
  /** The workflow that this one goes on with: what had succeeded there is not done again. */
  readonly resumes: ExecutionId | null;
  /** How many steps have not ended. It ends at 0. */
  readonly left: number;
  /** How many ended badly, those that may not counted. */
  readonly failed: number;
  readonly state: 'running' | 'ended';
  readonly outcome: Outcome | null;
  readonly outcomeCode: string | null;
  readonly error: Failure | null;
  /** Nothing begins any more: a step failed, and the workflow is one that stops then. */
  readonly isStopping: boolean;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** The program of a workflow that is about to be registered: what its file said, and what it was asked to do. */
export interface NewGraph
  extends Pick<Graph, 'project' | 'workflow' | 'group' | 'inputs' | 'settings' | 'of' | 'resumes'> {
  readonly steps: readonly StepPlan[];
  /** Steps that are not done again, because they had succeeded in the workflow that this one goes on with. */
  readonly reused: readonly ReusedStep[];
}

/** A step that had succeeded before, with what came of it. */
export interface ReusedStep extends Pick<GraphStep, 'index' | 'result' | 'outputs'> {
  /** The attempt of then. */
  readonly executionId: ExecutionId;
}

/** A workflow that is to run, as it was when somebody asked for it. */
export interface WorkflowCall {
  readonly workflow: string;
  readonly group: string | null;
  readonly graph: NewGraph;
  /** From its beginning to its end; null: as long as it takes. */
  readonly timeoutMs: number | null;
  readonly budget: Budget | null;
}

/** What of a workflow is done again, though it had succeeded. */
export interface DoneAgain {
  /** A step, and everything that needs it; null: all. */
  readonly from: string | null;
  /** That step alone. */
  readonly only: boolean;
}

/** What the file says of the whole. */
export interface GraphSettings {
  /** The profile of steps that name none. */
  readonly agent: string | null;
  /** Where its steps work; absolute. */
  readonly cwd: string;
  /** From where the directories of workflows are meant that its steps begin; absolute. Absent: `cwd`. */
  readonly base?: string;
  /** Its file, where that is in no project: its groups are steps, each of which has it from here. */
  readonly file?: { readonly path: string; readonly text: string };
  /** A variable of the group each. */
  readonly variables: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** When a step fails for good, everything else is cancelled. Else what does not need it goes on. */
  readonly failFast: boolean;
  /** The workflow that scores it when it is closed: as its file was when this one was launched. */
  readonly evaluation: WorkflowCall | null;
  /** What it gives to whoever waits for it, by name, with templates. */
  readonly outputs: Readonly<Record<string, string>>;
  /** IANA zone of its dates. */
  readonly timezone: string;
  /** What `scheduledFor` and `date` mean; UTC milliseconds. */
  readonly instant: number;
  /** Whether its file belongs to whoever owns the server: then templates may read the server's environment. */
  readonly isFromFile: boolean;
}

/**
 * `blocked` until what it needs has ended; `due` until an attempt begins; `backsOff` between two attempts.
 */
export type StepState =
  | 'blocked'
  | 'due'
  | 'running'
  | 'backsOff'
  | 'succeeded'
  | 'failed'
  | 'skipped'
  | 'cancelled';

/** One step of a graph. Its attempts are executions, children of the one whose program the graph is. */
export interface GraphStep {
  /** How wake-ups and effects name it. */
  readonly ref: StepRef;
  readonly graphId: ExecutionId;
  readonly index: number;
  readonly plan: StepPlan;
  /** The steps that need this one. */
  readonly dependents: readonly number[];
  readonly state: StepState;
  /** How many of what it needs have not ended. */
  readonly blockedBy: number;
  /** Of what it needs, how many failed, and how many never ran because of a failure or of a route. */
  readonly failedNeeds: number;
  readonly deadNeeds: number;
  /** Attempts so far. */
  readonly tries: number;
  readonly retryAt: number | null;
  /** The latest attempt. */
  readonly currentId: ExecutionId | null;
  /** How the program of the attempt ended, while something below it is still open. */
  readonly programEnd: ProgramEnd | null;
  readonly result: string | null;
  readonly outputs: Readonly<Record<string, Json>>;
  /** Why it failed or was skipped: `upstream`, `condition`, `notChosen`, `failFast`, or the code of an error. */
  readonly reason: string | null;
  /** It had succeeded in an earlier run, and was not done again: the attempt of then. */
  readonly reused: ExecutionId | null;
  /** Grows with each change of its state; the compare-and-set of whoever begins an attempt. */
  readonly moves: number;
}

/** How the program of a step ended. */
export interface ProgramEnd {
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'lost';
  readonly result: string | null;
  readonly error: Failure | null;
  readonly outputs: Readonly<Record<string, Json>>;
}

/** How wake-ups name a step: `exe_…/INDEX`. */
export type StepRef = `${ExecutionId}/${number}`;

/** The name of a step in wake-ups and effects. */
export function stepRef(graphId: ExecutionId, index: number): StepRef {
  return `${graphId}/${index}`;
}

/** Whether a step has ended; then it never changes. */
export function isEnded(state: StepState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'skipped' || state === 'cancelled';
}
