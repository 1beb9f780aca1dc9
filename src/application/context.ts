import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { TokenSigner } from '../base/tokens.ts';
import type { AgentProfileInput } from '../contract/config-file.ts';
import type { Activity } from './activity.ts';
import type { AgentProfile, Driver } from '../drivers/port.ts';
import type { Launcher } from '../launching/launcher.ts';
import type { WorkflowLaunches } from '../launching/workflow-launches.ts';
import type { TurnLimits } from '../ledger/line.ts';
import type { Decided, LedgerStore } from '../ledger/store.ts';
import type { Commits } from '../runs/commits.ts';
import type { StepTexts } from '../runs/ports.ts';
import type { Stopping } from '../runs/stopping.ts';
import type { Records } from '../store/records.ts';
import type { EventLog, Views } from '../store/views.ts';
import type { Sessions } from '../turns/sessions.ts';
import type { RecordPlaces } from './wire-workflow.ts';
import type { WorkflowSource } from '../workflows/port.ts';
import type { Workspaces } from '../workspaces/port.ts';

/** The services that the edges' requests are made of. */
export interface ApplicationContext {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly node: string;
  readonly store: LedgerStore;
  readonly views: Views;
  readonly records: Records;
  readonly eventLog: EventLog;
  readonly activity: Activity;
  readonly sessions: Sessions;
  readonly launcher: Launcher;
  readonly workflowLaunches: WorkflowLaunches;
  /** The kinds of reviews that are configured, by name. */
  readonly reviews: Readonly<Record<string, ReviewKind>>;
  readonly stopping: Stopping;
  readonly commits: Commits;
  readonly signer: TokenSigner;
  readonly agents: AgentDirectory;
  readonly workspaces: Workspaces;
  readonly workflows: WorkflowSource;
  readonly recordPlaces: RecordPlaces;
  /** Fills in templates of workflows, to show what was run. */
  readonly stepTexts: Pick<StepTexts, 'fill'>;
  /** How many turns may run at once. */
  readonly limits: TurnLimits | undefined;
  /** Where a session runs when nobody says. */
  readonly defaultCwd: string;
}

/** A kind of review: who does it, and what it is told first. */
export interface ReviewKind {
  /** The profile; absent: that of whoever asks. */
  readonly agent?: string | undefined;
  readonly prompt: string;
}

/** An agent in the list. */
export interface ListedAgent {
  readonly profile: AgentProfile;
  readonly driver: Driver;
  /** Whether it is there without being configured. */
  readonly isBuiltIn: boolean;
  /** How to get its program, where that is known: a command. */
  readonly install?: string;
}

/** The agents that sessions can have. */
export interface AgentDirectory {
  /** Those that are configured, or always there; not those that were added. */
  list(): readonly ListedAgent[];
  find(name: string): { readonly profile: AgentProfile; readonly driver: Driver } | undefined;
  /**
   * Adds a profile that came with a run, and answers the name under which it is found from now on, after a restart too:
   * one of its own, so that it never stands for a configured profile. The same profile has the same name. Refuses with
   * `INVALID_CONFIG` what no driver can run.
   */
  add(name: string, input: AgentProfileInput): Promise<Decided<string>>;
  /** The agent of a message that names none. */
  readonly defaultName: string;
}
