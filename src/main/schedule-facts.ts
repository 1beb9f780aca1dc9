import { refusalOfBudgets } from '../application/budgets.ts';
import { budgetOf } from '../workflows/planned-message.ts';
import type { AgentDirectory } from '../application/context.ts';
import type { AgentsRequest } from '../cli/ports.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import type { ScheduleFacts } from '../contract/schedule-checks.ts';
import { agentsOffline } from './check-agent.ts';
import type { Installation } from './server.ts';

/** What the schedules of a configuration are held against: its agents and those that are always there, its targets. */
export function factsOf(agents: AgentDirectory, config: ConfigFile): ScheduleFacts {
  return {
    agents: agents.list().map(({ profile }) => profile.name),
    refusalOfBudget: (agent, budget) => refusalOfBudgets(agents, agent, [budgetOf(budget)])?.message,
    targets: Object.keys(config.notify ?? {}),
  };
}

/** The same without a server. Rejects with `INVALID_CONFIG`. */
export async function scheduleFactsOffline(
  request: AgentsRequest,
  installation: Installation,
): Promise<ScheduleFacts> {
  const { agents, config } = await agentsOffline(request, installation);
  return factsOf(agents, config);
}
