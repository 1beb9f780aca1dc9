import type { AgentProfile, Driver } from '../drivers/port.ts';
import type { Refusal } from '../ledger/decision.ts';
import type { Budget } from '../ledger/execution.ts';
import type { UsageTold } from '../ledger/spending.ts';
import { refusalOfBudget } from '../ledger/spending.ts';
import type { AgentDirectory } from './context.ts';

/** What of its usage an agent tells: what its driver declares, unless the profile knows better. */
export function usageTold({ profile, driver }: { profile: AgentProfile; driver: Driver }): UsageTold {
  const { usage } = driver.capabilities;
  if (profile.usage === 'none') return 'none';
  if (usage !== 'whereOffered') return usage;
  return profile.usage === undefined ? 'none' : 'cost';
}

/** Why a message with one of these budgets may not go to this agent, if so. An agent that is not there is another matter. */
export function refusalOfBudgets(
  agents: AgentDirectory,
  name: string,
  budgets: readonly (Budget | null | undefined)[],
): Refusal | undefined {
  const found = agents.find(name);
  if (!found) return undefined;
  const told = usageTold(found);
  for (const budget of budgets) {
    const refused = budget ? refusalOfBudget(name, told, budget) : undefined;
    if (refused) return refused;
  }
  return undefined;
}
