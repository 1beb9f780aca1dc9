import type { Clock } from '../base/clock.ts';

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
  /** Checks a profile without a server. Rejects with `NOT_FOUND` when there is no such profile. */
  readonly checkAgentOffline: (request: AgentCheckRequest) => Promise<AgentCheckReport>;
}

/** The signals that the command line gives a meaning to. */
export type CliSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGUSR2';

/** A stream to write to. Writing never throws: what a reader no longer wants (EPIPE) is dropped. */
export interface Output {
  write(text: string): void;
  readonly isTty: boolean;
  /** The size of the terminal now; undefined when it is none. */
  size(): { readonly columns: number; readonly rows: number } | undefined;
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
}

/** A server that answers `/readyz` with 200. Whoever started it stops it. */
export interface RunningServer {
  readonly url: string;
  readonly dataDir: string;
  readonly tokenFile: string;
  readonly pid: number;
  readonly version: string;
  readonly signInUrl: string;
  /** Accepts nothing more, commits, and resolves when nothing runs; with `agents`, ends the agents too. Idempotent. */
  stop(options?: { readonly agents?: boolean }): Promise<void>;
  /** Resolves when it has stopped, for whatever reason; rejects when it broke. */
  readonly stopped: Promise<void>;
}

/** Which profile to check, and how far. */
export interface AgentCheckRequest {
  readonly name: string;
  /** Absolute; absent: the built-in profiles only. */
  readonly configFile?: string;
  /** Whether to hold a turn with it, in `cwd`. */
  readonly turn: boolean;
  readonly cwd: string;
}

/** What a check found. `turn` is there when one was asked for and the program was found. */
export interface AgentCheckReport {
  readonly name: string;
  readonly found: boolean;
  readonly version?: string | undefined;
  readonly warnings: readonly string[];
  readonly turn?: { readonly ok: boolean; readonly text: string; readonly durationMs: number };
}
