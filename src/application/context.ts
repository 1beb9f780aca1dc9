import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { TokenSigner } from '../base/tokens.ts';
import type { AgentProfile, Driver } from '../drivers/port.ts';
import type { Launcher } from '../launching/launcher.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { Commits } from '../runs/commits.ts';
import type { Stopping } from '../runs/stopping.ts';
import type { Records } from '../store/records.ts';
import type { EventLog, Views } from '../store/views.ts';
import type { Sessions } from '../turns/sessions.ts';

/** The services that the edges' requests are made of. */
export interface ApplicationContext {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly node: string;
  readonly store: LedgerStore;
  readonly views: Views;
  readonly records: Records;
  readonly eventLog: EventLog;
  readonly sessions: Sessions;
  readonly launcher: Launcher;
  readonly stopping: Stopping;
  readonly commits: Commits;
  readonly signer: TokenSigner;
  readonly agents: AgentDirectory;
  /** Where a session runs when nobody says. */
  readonly defaultCwd: string;
}

/** The agents that are configured. */
export interface AgentDirectory {
  list(): readonly { readonly profile: AgentProfile; readonly driver: Driver }[];
  find(name: string): { readonly profile: AgentProfile; readonly driver: Driver } | undefined;
  /** The agent of a message that names none. */
  readonly defaultName: string;
}
