import type { Budget } from './execution.ts';
import type { Retry } from './planned-message.ts';
import type { PlannedMessage } from './session.ts';

/**
 * What a schedule says, parsed and complete: what was left out has its default, instants are UTC milliseconds, durations
 * are milliseconds. It is kept as JSON, so that a run can tell by which words it was begun. Absent and empty are
 * different: an optional field that is absent was not said.
 */
export interface ScheduleDefinition {
  readonly when: ScheduleRule;
  /** An IANA zone; in it a rule, a deadline and the templates of messages are read. `UTC` if not said. */
  readonly timezone: string;
  /** Name of the agent profile; null: a workflow says who works. */
  readonly agent: string | null;
  /** Absolute. */
  readonly cwd: string;
  readonly session: ScheduleSession;
  /** At least one, unless it runs a workflow. The texts are as written: templates are filled in when a message is sent. */
  readonly messages: readonly PlannedMessage[];
  /** What runs instead of messages. Its file is read when a run is begun. */
  readonly workflow?: ScheduledWorkflow;
  /** A command for the shell, run in `cwd`; anything but exit code 0 skips the occurrence. */
  readonly onlyIf?: string;
  /** What becomes of an instant while a run of the same schedule is at work. */
  readonly overlap: OverlapPolicy;
  readonly catchUp: CatchUp;
  /** Of a whole run: each message gets what is left. */
  readonly budget?: Budget;
  /** Names of the targets that are told of transitions. */
  readonly notify: readonly string[];
  /** Absent: what the agent profile says, else `exclusive`. */
  readonly workspace?: WorkspaceMode;
  readonly labels: readonly string[];
}

/** The workflow of a schedule. The texts of its inputs are as written: templates are filled in when a run is begun. */
export interface ScheduledWorkflow {
  /** Its name, or `project/name`. */
  readonly name: string;
  readonly group?: string;
  readonly inputs?: Readonly<Record<string, string | number | boolean>>;
  /** `false`: without the evaluation that it declares. */
  readonly evaluation?: false;
  /** Absent: as its file says. */
  readonly timeoutMs?: number;
  readonly retry?: Retry;
}

/**
 * When: a cron expression in a zone; every so many milliseconds, counted from `anchor`; once, at an instant or at a local
 * time (`2027-01-01T09:00`) in a zone; or the instants of another schedule of the project, once its run has ended.
 */
export type ScheduleRule =
  | { readonly cron: string; readonly timezone: string }
  | { readonly everyMs: number; readonly anchor: number }
  | { readonly at: number | string; readonly timezone: string }
  | { readonly after: AfterRule };

/** Bound to the same instant of another schedule, not to the clock. */
export interface AfterRule {
  /** Its name, in the same project. */
  readonly schedule: string;
  /** How its run must have ended. */
  readonly status: 'succeeded' | 'failed' | 'any';
  /** `HH:MM`: the first such time in the zone after the instant. Later it is not begun any more. */
  readonly deadline?: string;
}

/** A conversation for each run, or one that is kept. A kept one is replaced by a new one when any bound of `rotate` is reached. */
export type ScheduleSession =
  | { readonly mode: 'fresh' }
  | { readonly mode: 'keep'; readonly rotate?: SessionRotation };

/** When a kept conversation gives way to a new one. */
export interface SessionRotation {
  readonly turns?: number;
  readonly ageMs?: number;
  readonly tokens?: number;
}

/** What becomes of an instant while a run of the same schedule is at work. */
export type OverlapPolicy = 'skip' | 'queueOne' | 'cancelOther' | 'allow';

/** What becomes of instants that are noticed late: those older than the window are missed, the policy says the rest. */
export interface CatchUp {
  readonly windowMs: number;
  readonly policy: 'none' | 'latest' | 'all';
}

/** Where a run works, and whether it shares that place with others. */
export type WorkspaceMode = 'exclusive' | 'worktree' | 'scratch' | 'shared';
