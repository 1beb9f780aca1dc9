import type { ExecutionId } from '../../src/base/ids.ts';
import type { Orchestration, SubAgentPlan } from '../../src/ledger/step-plan.ts';
import type { AgentProcess } from './agent.ts';
import { sourceWithin } from './agent-actions.ts';
import type { Choices } from './choices.ts';
import type { Action } from './scheduler.ts';
import { maybe } from './scheduler.ts';
import type { Server } from './server.ts';
import type { CanCall } from './texts.ts';
import type { World } from './world.ts';

/** How deep orchestrators of one step are in each other. */
const deepest = 2;

/** A sub-agent that an agent knows, from the answer to its call. */
export interface Child {
  readonly label: string;
  readonly id: ExecutionId;
}

/** Which of its tools an agent calls to give out work. */
export type GivingTool =
  | { readonly tool: 'call_sub_agent'; readonly agent: string }
  | { readonly tool: 'call_generic_agent' };

/** What an orchestrator of a history may give out: some of its sub-agents give out work themselves. */
export function orchestrationOf(choices: Choices, depth = 1): Orchestration {
  const names = choices.pick([['coder'], ['coder', 'chief'], ['chief'], []] as const);
  const plan = (name: string): SubAgentPlan => ({
    description: `the ${name}`,
    agent: null,
    cwd: null,
    prompt: null,
    todo: name === 'chief' && depth < deepest ? orchestrationOf(choices, depth + 1) : null,
  });
  return {
    agents: Object.fromEntries(names.map((name) => [name, plan(name)])),
    generic: names.length === 0 || choices.chance(40),
    maxRounds: choices.pick([10, 10, 2, 1]),
    onChildFailure: choices.pick(['cancel', 'wait'] as const),
  };
}

/** What an agent that may give out work takes it into its head to do about that. */
export function orchestratorActions(world: World, process: AgentProcess, server: Server): Action[] {
  const { agent, activity } = process;
  const { calls } = agent;
  if (!calls || !activity || process.isHung || process.isWaiting) return [];
  const at = activity.nativeTurnId;
  const actions: Action[] = [];
  if (world.budgets.has('calls') && process.calls.length < 3)
    actions.push(maybe(`${at} gives out work`, () => giveOut(world, process, calls), 25));
  if (!server.isReady) return actions;
  for (const child of agent.children) {
    if (world.budgets.has('queries'))
      actions.push(maybe(`${at} asks about ${child.label}`, () => query(world, process, server, child), 2));
    if (world.budgets.has('childStops') && isAlive(world, child))
      actions.push(maybe(`${at} stops ${child.label}`, () => stop(world, process, server, child), 8));
  }
  return actions;
}

function isAlive(world: World, { label }: Child): boolean {
  return world.truth.works.get(label)?.stage === 'running';
}

/** Calls one of those that it was told of; what it does not know it does not call. */
function giveOut(world: World, process: AgentProcess, { agents, isGeneric }: CanCall): void {
  world.budgets.spend('calls');
  const tools: GivingTool[] = [
    ...agents.map((agent) => ({ tool: 'call_sub_agent', agent }) as const),
    ...(isGeneric ? [{ tool: 'call_generic_agent' } as const] : []),
  ];
  const tool = world.choices.pick(tools);
  const label = `${world.label('w')}a`;
  const { activity, agent } = process;
  const source = sourceWithin(world, process);
  const about = { kind: 'work', label, ...source, tells: agent.sessionId, activity } as const;
  const work = world.truth.addWork({ ...about, stage: 'calling' });
  process.call(work, activity?.nativeTurnId, tool);
  const whom = tool.tool === 'call_sub_agent' ? tool.agent : 'a generic agent';
  world.note(`  ${label}: ${whom}, because of ${source.cause ?? 'nothing'}`);
}

/** The agent waits for the answer: the sub-agent is ended then, with all below it, or is being ended still. */
function stop(world: World, process: AgentProcess, server: Server, { id, label }: Child): void {
  world.budgets.spend('childStops');
  world.asked.stoppedChildren.add(label);
  ask(process, server, async () => {
    const answer = await server.callTool(process.agent.sessionId, 'stop_sub_agent', { id });
    if (!answer.ok) world.violations.report('BROKEN', `${label} cannot be stopped: ${answer.code}`);
  });
}

/** Whoever started it is told of it, and nobody else is. */
function query(world: World, process: AgentProcess, server: Server, { id, label }: Child): void {
  world.budgets.spend('queries');
  const others = [...world.agents.values()].filter((other) => other.calls && other !== process.agent);
  const stranger = others[world.choices.below(others.length + 1)];
  ask(process, server, async () => {
    const own = await server.callTool(process.agent.sessionId, 'query_sub_agent', { id });
    if (!own.ok) world.violations.report('BROKEN', `${label} is not known: ${own.code}`);
    if (!stranger) return;
    const other = await server.callTool(stranger.sessionId, 'query_sub_agent', { id });
    if (other.ok) world.violations.report('CROSS', `${stranger.label} is told of ${label}`);
  });
}

/** The turn does not end before the answer is there, or whoever was asked is dead. */
function ask(process: AgentProcess, server: Server, work: () => Promise<void>): void {
  process.asking++;
  server.run('ask', async () => {
    await work();
    process.asking = Math.max(0, process.asking - 1);
  });
}
