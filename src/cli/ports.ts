import type { ApplyAnswer } from '../contract/schedule.ts';
import type { Clock } from '../base/clock.ts';
import type { ScheduleFacts } from '../contract/schedule-checks.ts';
import type { Tty } from './tty.ts';
import type { YamlProblem } from './yaml-file.ts';

/** Everything that the command line needs from the process around it and from the server's wiring. */
export interface CliDeps {
  readonly version: string;
  readonly clock: Clock;
  /** For data. */
  readonly stdout: Output;
  /** For talk. */
  readonly stderr: Output;
  /** All of standard input as text. */
  readonly readStdin: () => Promise<string>;
  readonly isStdinTty: boolean;
  /** The terminal that this runs in; undefined when input or output is none. */
  readonly openTty: () => Tty | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the command was given; absolute. */
  readonly cwd: string;
  readonly homeDirectory: string;
  /** Where `examples/` of this package is; absolute. */
  readonly examplesDirectory: string;
  /** Program and arguments that start this program again, for `up --daemon`. */
  readonly self: readonly [string, ...string[]];
  /** A text that nobody else has: for keys. */
  readonly newKey: () => string;
  /** Calls `listener` for each such signal, instead of what it does by default, until the returned function is called. */
  readonly onSignal: (signal: CliSignal, listener: () => void) => () => void;
  /** Starts a server in this process; rejects with `StemmaError` (`DATA_DIR_IN_USE`, `INVALID_CONFIG`, `PORT_IN_USE`, …). */
  readonly startServer: (options: StartOptions) => Promise<RunningServer>;
  /** Runs the scripted agent on stdin and stdout; resolves with its exit code. `argv` is what follows `demo-agent`. */
  readonly runDemoAgent: (argv: readonly string[]) => Promise<number>;
  /**
   * Checks a profile without a server. Rejects with `NOT_FOUND` when there is no such profile, `INVALID_INPUT` when there
   * is no such case.
   */
  readonly checkAgentOffline: (request: AgentCheckRequest) => Promise<AgentCheckReport>;
  /** What the schedules of a configuration are held against; without a server. */
  readonly scheduleFacts: (request: AgentsRequest) => Promise<ScheduleFacts>;
  /** Workflow files, checked without a server. Rejects with `NOT_FOUND`, and `INVALID_CONFIG` for the configuration. */
  readonly checkWorkflows: (request: WorkflowCheckRequest) => Promise<CheckedWorkflowFile[]>;
  /** The profiles of a configuration, each looked for; without a server. */
  readonly listAgentsOffline: (request: AgentsRequest) => Promise<AgentListing[]>;
  /** Looks at the database of a URL, which it does not change. Rejects with an Error that says why it cannot be reached. */
  readonly lookAtDatabase: (url: string) => Promise<DatabaseLook>;
}

/** What was seen of a database. */
export interface DatabaseLook {
  /** Without the password. */
  readonly place: string;
  readonly version: string;
  /** How many steps of the schema it has, of how many are known. */
  readonly steps: number;
  readonly known: number;
  /** A server works on it now. */
  readonly isInUse: boolean;
}

/** The signals that the command line gives a meaning to. */
export type CliSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGUSR2';

/** A stream to write to. Writing never throws: what a reader no longer wants (EPIPE) is dropped. */
export interface Output {
  write(text: string): void;
  readonly isTty: boolean;
  /** The size of the terminal now; undefined when it is none. */
  size(): { readonly columns: number; readonly rows: number } | undefined;
  /** Why what was written so far did not arrive; undefined when it did, and when its reader went away. */
  failure?(): Promise<Error | undefined>;
}

/** What is said on the command line or in the environment; the configuration file and the defaults come after it. */
export interface StartOptions {
  /** Absolute. */
  readonly dataDir: string;
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
  /** Absolute; absent: no configuration file. */
  readonly configFile?: string;
  /** The URL of a database, which wins over that of the configuration. */
  readonly database?: string;
}

/** A server that answers `/readyz` with 200. Whoever started it stops it. */
export interface RunningServer {
  readonly url: string;
  readonly dataDir: string;
  readonly tokenFile: string;
  readonly pid: number;
  readonly version: string;
  readonly signInUrl: string;
  /** What its configuration changed of its schedules; absent where that says nothing of schedules. */
  readonly schedules?: ApplyAnswer;
  /** Accepts nothing more, commits, and resolves when nothing runs; with `agents`, ends the agents too. Idempotent. */
  stop(options?: { readonly agents?: boolean }): Promise<void>;
  /** Resolves when it has stopped, for whatever reason; rejects when it broke. */
  readonly stopped: Promise<void>;
}

/** Which configuration the agents are those of. */
export interface AgentsRequest {
  /** Absolute; absent: the built-in profiles only. */
  readonly configFile?: string;
}

/** Which workflows to check: names, or files relative to `cwd`; none: all of the project. */
export interface WorkflowCheckRequest extends AgentsRequest {
  /** Absolute. */
  readonly cwd: string;
  readonly wanted: readonly string[];
}

/** A workflow file that was checked. */
export interface CheckedWorkflowFile {
  readonly name: string;
  /** How many steps it names. */
  readonly steps: number;
  /** In the order of the file; empty: it may be launched. */
  readonly problems: readonly YamlProblem[];
}

/** Which profile to check, and how far. */
export interface AgentCheckRequest extends AgentsRequest {
  readonly name: string;
  /** Whether to run the cases that hold turns with it: they cost what its model costs. */
  readonly turn: boolean;
  /** The one case to run, whether or not it holds a turn. */
  readonly only?: string;
  /** From where a program with a relative path is meant; absolute. */
  readonly cwd: string;
  /** Ends the case that runs and skips the others; what was started is cleaned up. */
  readonly signal?: AbortSignal;
  /** Told first what was found. */
  readonly onFound?: (found: AgentFound) => void;
  /** Told of each case as it ends. */
  readonly onCase?: (result: AgentCase) => void;
}

/** Whether the program of a profile is there. */
export interface AgentFound {
  readonly driver: string;
  readonly found: boolean;
  readonly version?: string | undefined;
  /** Whether somebody is signed in, as far as that can be seen; absent where nobody needs to be. */
  readonly signedIn?: 'yes' | 'no' | 'unknown' | undefined;
  /** How to sign in. */
  readonly signIn?: string | undefined;
  /** Sentences for a person: a version that was never proved, a sign-in that is missing. */
  readonly warnings: readonly string[];
}

/** One case of a check: what was checked, how it went, and what was seen, a line for each call and event. */
export interface AgentCase {
  readonly name: string;
  readonly title: string;
  readonly outcome:
    | { readonly state: 'passed' }
    | { readonly state: 'failed' | 'skipped'; readonly reason: string };
  readonly evidence: readonly string[];
  readonly tookMs: number;
}

/** One thing that the driver declares, and what the cases said of it: `declared` means that none of them could show it. */
export interface AgentCapability {
  readonly name: string;
  readonly value: string | boolean;
  readonly meaning: string;
  readonly proof: 'proved' | 'refuted' | 'declared';
  readonly cases: readonly string[];
}

/** What a check found: the document of `stemma agent check --json`. Without a program there are no cases. */
export interface AgentCheckReport extends AgentFound {
  readonly name: string;
  /** Whether the program is there and no case failed. */
  readonly passed: boolean;
  readonly cases: readonly AgentCase[];
  readonly capabilities: readonly AgentCapability[];
}

/** A profile and what a look at its program found; `check` is absent when the look did not come back in time. */
export interface AgentListing {
  readonly name: string;
  readonly driver: string;
  readonly command: readonly string[];
  readonly model?: string | undefined;
  readonly capabilities?: Readonly<Record<string, string | boolean>> | undefined;
  /** Whether it is there without being configured. */
  readonly isBuiltIn?: boolean | undefined;
  /** How to get its program: a command. */
  readonly install?: string | undefined;
  readonly check?: Omit<AgentFound, 'driver'> | undefined;
}
