import type { GraphSettings } from '../ledger/graph.ts';
import type { StepPlan, TodoPlan } from '../ledger/step-plan.ts';

/** The profile that a step uses; `step` names it, as `plan`, or `plan/coder` for a sub-agent. */
export interface UsedAgent {
  readonly step: string;
  readonly agent: string;
}

/** The profiles that steps use, those of sub-agents too; not those of workflows that they begin. */
export function agentsOf(
  steps: readonly StepPlan[],
  { agent: otherwise }: Pick<GraphSettings, 'agent'>,
): UsedAgent[] {
  return steps.flatMap(({ name, does }) => {
    const usesNone =
      ['script', 'human', 'workflow'].includes(does.type) || (does.type === 'route' && 'value' in does.by);
    const agent = ('agent' in does ? does.agent : null) ?? otherwise;
    if (usesNone || agent === null) return [];
    const below = does.type === 'todo' ? subAgents(name, does, agent) : [];
    return [{ step: name, agent }, ...below];
  });
}

function subAgents(above: string, { agents }: Omit<TodoPlan, 'prompt'>, otherwise: string): UsedAgent[] {
  return Object.entries(agents).flatMap(([name, { agent, todo }]) => {
    const own = agent ?? otherwise;
    const step = `${above}/${name}`;
    return [{ step, agent: own }, ...(todo ? subAgents(step, todo, own) : [])];
  });
}
