import type { Clock } from '../base/clock.ts';
import type { Owner } from '../base/lifetime.ts';
import type { ExecutionId, Ids, OccurrenceId } from '../base/ids.ts';
import type { Advance } from '../ledger/advance.ts';
import type { Run } from '../ledger/session.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { FileRead } from '../schedules/templates.ts';
import type { Sessions } from '../turns/sessions.ts';
import type { Workspaces } from '../workspaces/port.ts';
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
  /** Owns what these handlers start and do not wait for. */
  readonly owner: Owner;
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** What a command is run for: an execution, or an occurrence that is being begun. */
export type CommandSubject = ExecutionId | OccurrenceId;

/** Runs a shell command for one thing in a process of its own that outlives this server. */
export interface CommandRunner {
  /**
   * Starts it, or goes on listening to the one that an earlier server started for the same thing. An abort lets go of it,
   * and it runs on: rejects with `STOPPING`, and never otherwise.
   */
  run(
    subject: { readonly id: CommandSubject },
    command: string,
    cwd: string,
    signal?: AbortSignal,
  ): Promise<CommandEnd>;
  /** Ends its process group; harmless when there is none. */
  end(id: CommandSubject): Promise<'dead' | 'unkillable'>;
  /**
   * Removes what is kept of a command that has ended, with all that it printed. Only when what came of it is committed: from
   * then on nothing is known of it, and it could be run again. Harmless when there is none; never rejects.
   */
  forget(id: CommandSubject): Promise<void>;
  /** As `forget`, and what the command left running in its process group is ended before. */
  clear(id: CommandSubject): Promise<void>;
}

/** How a command ended. */
export interface CommandEnd {
  /** Null when a signal ended it, or when it could not be started. */
  readonly exitCode: number | null;
  /** It never ran, and `output` says why. */
  readonly isUnstarted?: true;
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
}
