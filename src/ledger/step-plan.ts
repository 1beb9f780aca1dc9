import type { Budget } from './execution.ts';
import type { OutputPlan, Retry, TextMessage } from './planned-message.ts';

/** What a step of a workflow does. */
export type StepType = 'script' | 'agent' | 'sequence' | 'todo' | 'route' | 'human' | 'workflow';

/** One step of a workflow, as its file says it, checked: the templates in it are filled in when an attempt begins. */
export interface StepPlan {
  readonly name: string;
  /** Steps of the same workflow that must have ended before. */
  readonly needs: readonly string[];
  /** A condition; when it does not hold the step is skipped, and what needs it goes on. Null: always. */
  readonly when: string | null;
  readonly retry: Retry | null;
  /** From the beginning of an attempt to its end; null: as long as it takes. */
  readonly timeoutMs: number | null;
  /** `continue`: its failure fails neither the workflow nor what needs it. */
  readonly onFailure: 'stop' | 'continue';
  readonly outputs: Readonly<Record<string, OutputPlan>>;
  /** How often what does not fit the outputs goes back into the same conversation. */
  readonly repairs: number;
  readonly budget: Budget | null;
  readonly does: StepProgram;
}

/** An agent with a conversation of its own. */
export interface AgentUse {
  /** A profile; null: that of the workflow. */
  readonly agent: string | null;
  /** Relative to the directory of the workflow; null: that. */
  readonly cwd: string | null;
}

/** What a step does, by its type. Every text may have templates, but no shell command does. */
export type StepProgram =
  | ScriptProgram
  | (AgentUse & { readonly type: 'agent'; readonly prompt: string })
  | SequenceProgram
  | (AgentUse & { readonly type: 'todo' } & TodoPlan)
  | RouteProgram
  | HumanProgram
  | WorkflowProgram;

export interface ScriptProgram {
  readonly type: 'script';
  /** A text for the shell, taken as it is; or program and arguments, each with templates. */
  readonly run: string | readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
}

export interface SequenceProgram extends AgentUse {
  readonly type: 'sequence';
  /** For every row all messages, strictly one after the other; null: once. */
  readonly foreach: RowsPlan | null;
  readonly messages: readonly TextMessage[];
}

/** Where the rows of a `foreach` come from. A JSON file holds a list; a CSV file has a first line of names. */
export type RowsPlan =
  | { readonly from: 'json'; readonly path: string }
  | { readonly from: 'csv'; readonly path: string }
  /** What a command prints: a JSON list, or one JSON value a line. */
  | {
      readonly from: 'command';
      readonly command: string;
      /** How long it may take; absent: ten minutes. */
      readonly timeoutMs?: number;
    };

/** An orchestrator: an agent that gives out work, and is told of all its ends at once. */
export interface TodoPlan {
  readonly prompt: string;
  /** What `call_sub_agent` can call, by name. */
  readonly agents: Readonly<Record<string, SubAgentPlan>>;
  /** Whether `call_generic_agent` is offered. */
  readonly generic: boolean;
  /** How often results are handed over at most; then the step fails with `ROUNDS_EXCEEDED`. */
  readonly maxRounds: number;
  /** `cancel`: when one child fails, those beside it are cancelled and joined before all is told. */
  readonly onChildFailure: 'cancel' | 'wait';
}

/** What an orchestrator may give out, and how: all of it but what it is told itself. */
export type Orchestration = Omit<TodoPlan, 'prompt'>;

/** A sub-agent of an orchestrator; with agents of its own it is an orchestrator too. */
export interface SubAgentPlan extends AgentUse {
  readonly description: string | null;
  /** Said before the instruction that it is called with; null: nothing. */
  readonly prompt: string | null;
  readonly todo: Orchestration | null;
}

export interface RouteProgram extends AgentUse {
  readonly type: 'route';
  /** What an agent is asked, whose answer must be one of the cases; or a text with templates that is one of them. */
  readonly by: { readonly prompt: string } | { readonly value: string };
  /** The steps that only run when their case is chosen. Each of them needs this step. */
  readonly cases: Readonly<Record<string, readonly string[]>>;
  /** The case for a value that is none; null: the step fails. */
  readonly otherwise: string | null;
}

export interface HumanProgram {
  readonly type: 'human';
  readonly question: string;
  /** Empty: any text. */
  readonly choices: readonly string[];
  /** With these answers the step fails. */
  readonly declines: readonly string[];
  /** The answer when nobody gives one within `timeoutMs`; null: the step fails. */
  readonly otherwise: string | null;
}

export interface WorkflowProgram {
  readonly type: 'workflow';
  readonly workflow: string;
  readonly group: string | null;
  /** With templates. */
  readonly inputs: Readonly<Record<string, string>>;
  /** It is not scored, whatever its file says. */
  readonly evaluation?: false;
}
