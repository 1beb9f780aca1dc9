import type { ErrorCode } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';
import type { Execution } from '../contract/execution.ts';
import type { Schedule, TriggerAnswer } from '../contract/schedule.ts';
import type { LaunchAnswer, ToolArguments, ToolName } from '../contract/tools.ts';

/** What each tool answers when all went well. */
export interface ToolResults {
  run_in_background: LaunchAnswer;
  run_full_workflow: LaunchAnswer;
  run_full_evaluation: LaunchAnswer;
  execute_step: LaunchAnswer;
  start_review: LaunchAnswer;
  list_executions: { readonly items: readonly ShownExecution[] };
  get_execution: ShownExecution;
  send_to_execution: {
    readonly executionId: string;
    readonly disposition: 'started' | 'queued' | 'steering';
  };
  cancel_execution: { readonly executionId: string; readonly state: string; readonly closed: boolean };
  list_schedules: { readonly items: readonly ListedSchedule[] };
  trigger_schedule: TriggerAnswer;
  create_schedule: ListedSchedule;
  call_sub_agent: LaunchAnswer;
  call_generic_agent: LaunchAnswer;
  query_sub_agent: Execution;
  stop_sub_agent: { readonly executionId: string; readonly state: string; readonly closed: boolean };
}

/** An execution as an agent is shown it: of a workflow also its steps, in brief. */
export interface ShownExecution extends Execution {
  readonly steps?: readonly BriefStep[];
}

/** A step of a workflow. `executionId`: its latest attempt. */
export interface BriefStep {
  readonly name: string;
  readonly state: string;
  readonly reason?: string;
  readonly executionId?: string;
}

/** A schedule as an agent is shown it. */
export interface ListedSchedule {
  /** `project/name`. */
  readonly name: string;
  readonly state: Schedule['state'];
  readonly when: {
    readonly cron?: string | undefined;
    readonly everyMs?: number | undefined;
    readonly at?: string | undefined;
    readonly after?: Schedule['definition']['after'];
    readonly timezone: string;
  };
  /** Its next instant, RFC 3339 in UTC. */
  readonly next?: string | undefined;
  readonly lastRun?: Schedule['lastRun'];
}

/** The result, or why not, in words for the agent. */
export type ToolAnswer<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/** `_meta` of an MCP request, as sent: a driver finds in it which turn made the call. */
export type CallMeta = Readonly<Record<string, unknown>>;

/** Where tool calls go. */
export interface ToolCalls {
  /** The tools that the agent of a session may call: the others are not shown to it, and refused with `FORBIDDEN`. */
  allowed(sessionId: SessionId): Promise<readonly ToolName[]>;
  /**
   * Carries out one call of the agent of `sessionId`; resolves after the commit. A launch answers at once, never when
   * the work is done. What it starts outlives the call: there is no signal, on purpose. `args` have been parsed. Ids in
   * them may be beginnings of ids, and only what belongs to the session's own trees may be found.
   */
  call<Name extends ToolName>(
    sessionId: SessionId,
    tool: Name,
    args: ToolArguments<Name>,
    meta: CallMeta,
  ): Promise<ToolAnswer<ToolResults[Name]>>;
}

/** What the endpoint needs. */
export interface McpPorts {
  readonly toolCalls: ToolCalls;
  /**
   * Resolves when sessions take calls: true; or false when that takes too long, and the call is refused with 503. A call
   * is held meanwhile, because agents do not try again: Codex waits for the answer to a refused call until its own time
   * is up.
   */
  untilOpen(): Promise<boolean>;
}
