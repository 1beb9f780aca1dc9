import type { Clock } from '../base/clock.ts';
import type { Ids, ScheduleId } from '../base/ids.ts';
import type { Owner } from '../base/lifetime.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import type { WorkspaceMode } from '../ledger/schedule-definition.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { Budget } from '../ledger/execution.ts';
import type { CommandRunner, TextSources } from '../runs/ports.ts';
import type { Stopping } from '../runs/stopping.ts';
import type { WorkflowDefinition, WorkflowSource } from '../workflows/port.ts';
import type { Workspaces } from '../workspaces/port.ts';

/** What begins the runs of schedules. */
export interface SchedulesContext {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly node: string;
  readonly commands: CommandRunner;
  readonly stopping: Pick<Stopping, 'cancelRun'>;
  readonly workspaces: Pick<Workspaces, 'prepare'>;
  readonly agents: ScheduledAgents;
  readonly workflows: Pick<WorkflowSource, 'define'>;
  /** What templates of the inputs of workflows may read. */
  readonly texts: TextSources;
  /** Why a workflow may not work within a budget, and its own, if so: which step uses an agent that does not tell what it uses. */
  readonly refusalOfBudget: (
    definition: WorkflowDefinition,
    budget: Budget | undefined,
  ) => string | undefined;
  /** What was being begun when the last server ended. */
  readonly claimed: () => Promise<readonly Occurrence[]>;
  /** Every schedule that is not removed. */
  readonly all: () => Promise<readonly ScheduleId[]>;
  /** Owns what handlers start and do not wait for. */
  readonly owner: Owner;
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** The agents that runs of schedules can have. */
export interface ScheduledAgents {
  /** Undefined when none of this name is configured. */
  find(name: string): ScheduledAgent | undefined;
}

/** An agent, as far as schedules are concerned. */
interface ScheduledAgent {
  /** Where its runs work if their schedule does not say. */
  readonly workspace?: WorkspaceMode;
}
