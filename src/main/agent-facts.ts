import { refusalOfBudgets } from '../application/budgets.ts';
import type { AgentDirectory } from '../application/context.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import type { ScheduleFacts } from '../contract/schedule-checks.ts';
import { budgetOf } from '../workflows/planned-message.ts';

/** What schedules and workflows are held against: its agents and those that are always there, its targets. */
export function factsOf(agents: AgentDirectory, config: ConfigFile): ScheduleFacts {
  return {
    agents: agents.list().map(({ profile }) => profile.name),
    refusalOfBudget: (agent, budget) => refusalOfBudgets(agents, agent, [budgetOf(budget)])?.message,
    targets: Object.keys(config.notify ?? {}),
  };
}
