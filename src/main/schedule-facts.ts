import type { AgentsRequest } from '../cli/ports.ts';
import type { ScheduleFacts } from '../contract/schedule-checks.ts';
import { factsOf } from './agent-facts.ts';
import { agentsOffline } from './check-agent.ts';
import type { Installation } from './server.ts';

/** What the schedules of a configuration are held against, without a server. Rejects with `INVALID_CONFIG`. */
export async function scheduleFactsOffline(
  request: AgentsRequest,
  installation: Installation,
): Promise<ScheduleFacts> {
  const { agents, config } = await agentsOffline(request, installation);
  return factsOf(agents, config);
}
