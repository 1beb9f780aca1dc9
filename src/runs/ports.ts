import type { Clock } from '../base/clock.ts';
import type { Owner } from '../base/lifetime.ts';
import type { ExecutionId, Ids, OccurrenceId } from '../base/ids.ts';
import type { Advance } from '../ledger/advance.ts';
import type { Graph } from '../ledger/graph.ts';
import type { RunRow } from '../ledger/plan.ts';
import type { Run } from '../ledger/session.ts';
import type { UsageTold } from '../ledger/spending.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { FileRead } from '../schedules/templates.ts';
import type { Sessions } from '../turns/sessions.ts';
import type { WorkflowSource } from '../workflows/port.ts';
import type { Workspaces } from '../workspaces/port.ts';
import type { RunRecords, StepData } from './step-ports.ts';
import type { Commits } from './commits.ts';

/** What runs, deadlines and cancellations need. */
export interface RunsContext {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sessions: Sessions;
  readonly commits: Commits;
  readonly commands: CommandRunner;
  readonly texts: MessageTexts;
  readonly workspaces: Pick<Workspaces, 'prepare' | 'release'>;
  readonly steps: StepSurroundings;
  /** Owns what these handlers start and do not wait for. */
  readonly owner: Owner;
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** What a command is run for: an execution, or an occurrence that is being begun. */
export type CommandSubject = ExecutionId | OccurrenceId;

/** What the steps of workflows need beside. */
export interface StepSurroundings {
  readonly node: string;
  readonly texts: StepTexts;
  readonly workflows: Pick<WorkflowSource, 'define'>;
  /** What the agent of this name tells of its usage; undefined when none is configured. */
  readonly tells: (name: string) => UsageTold | undefined;
  /** Whether there is a directory. Never rejects. */
  readonly isDirectory: (path: string) => Promise<boolean>;
  /** How many scripts of steps run at once; more wait, first in first out. */
  readonly mostScripts: number;
  readonly data: StepData;
  readonly records: RunRecords;
}

/** Fills in the templates of a workflow by what is known at that moment. Never rejects. */
export interface StepTexts {
  fill(graph: Graph, text: string): Promise<AdvanceText>;
  holds(graph: Graph, condition: string): Promise<ConditionSaid>;
  /**
   * The variables that a command has: those that the workflow and the step say, its inputs, those of its group, and the columns of the
   * row that it is for.
   */
  environment(graph: Graph, own: Readonly<Record<string, string>>, row?: RunRow): Promise<EnvironmentSaid>;
}

/** What a condition came to, or why that cannot be said. */
export type ConditionSaid =
  | { readonly ok: true; readonly value: boolean }
  | { readonly ok: false; readonly message: string };

/** Variables, or why they cannot be had. */
export type EnvironmentSaid =
  | { readonly ok: true; readonly env: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string };

/** Runs a command for one thing in a process of its own that outlives this server. */
export interface CommandRunner {
  /**
   * Of several commands for one thing each is another `part`. One that has run for `limitMs` since it began, by whichever server, is
   * ended, and `isOverdue`. Starts it, or goes on listening to the one that an earlier server
   * started for the same thing. `mayStart` is asked when from then on `end` would end it: a no, and it never runs. A text is
   * for the shell; a list is a program and its arguments, which no shell sees. An abort lets go of it, and it runs on: rejects
   * with `STOPPING`, and never otherwise.
   */
  run(
    subject: {
      readonly id: CommandSubject;
      readonly part?: number;
      readonly limitMs?: number;
      readonly mayStart?: () => Promise<boolean>;
    },
    command: string | readonly string[],
    cwd: string,
    signal?: AbortSignal,
    env?: Readonly<Record<string, string>>,
  ): Promise<CommandEnd>;
  /** Ends the process groups of all its commands; harmless when there is none. */
  end(id: CommandSubject): Promise<'dead' | 'unkillable'>;
  /**
   * Removes what is kept of a command that has ended, with all that it printed. Only when what came of it is committed: from
   * then on nothing is known of it, and it could be run again. Harmless when there is none; never rejects.
   */
  forget(id: CommandSubject, part?: number): Promise<void>;
  /** As `forget`, of all its commands or of one, and what runs of them, or was left running in their process groups, is ended before. */
  clear(id: CommandSubject, part?: number): Promise<void>;
}

/** How a command ended. */
export interface CommandEnd {
  /** Null when a signal ended it, or when it could not be started. */
  readonly exitCode: number | null;
  /** It never ran, and `output` says why. */
  readonly isUnstarted?: true;
  /** It was ended because its time was over. */
  readonly isOverdue?: true;
  /** The last lines of what it printed, bounded. */
  readonly output: string;
}

/** A message of a run that is about to be sent, for this attempt. */
export interface MessagePlace {
  readonly run: Run;
  readonly index: number;
  readonly attempt: number;
  /** As it is written. */
  readonly text: string;
}

/** A text whose templates were filled in, or why that could not be done. */
export type AdvanceText = NonNullable<Advance['text']>;

/** Fills in the templates of a message when it is sent. Never rejects. */
export interface MessageTexts {
  fill(place: MessagePlace): Promise<AdvanceText>;
}

/** What templates may read outside the ledger. */
export interface TextSources {
  /**
   * A variable that the profile of the agent has; for a schedule of a file, whose author owns the server, also one of the
   * server's own environment. Never a secret of a profile: texts are kept and shown.
   */
  variable(name: string, agent: string, isFromFile: boolean): string | undefined;
  /** A file below `cwd`, bounded. Never rejects. */
  readFile(cwd: string, path: string): Promise<FileRead>;
  /** Where the record of a workflow is. */
  recordOf(workflow: ExecutionId): string;
}
