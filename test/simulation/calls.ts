import { idAs } from '../../src/base/ids.ts';
import type { AgentProcess, ToolCallInFlight } from './agent.ts';
import { callLaunchingTool, isLaunching } from './launching-tools.ts';
import type { GivingTool } from './orchestrators.ts';
import { planOf } from './plan.ts';
import type { Orchestration } from '../../src/ledger/step-plan.ts';
import type { Action } from './scheduler.ts';
import { progress } from './scheduler.ts';
import type { Server } from './server.ts';
import type { World } from './world.ts';

/** Tool calls arrive when they arrive, before or after the events around them. */
export function callActions(world: World, process: AgentProcess, server: Server): Action[] {
  if (!server.isReady) return [];
  return process.calls
    .filter((call) => call.stage === 'sent')
    .map((call) =>
      progress(`the launch of ${call.work.label} arrives`, () => handle(world, process, call, server)),
    );
}

/** What a background agent may give out in turn: often as much as it likes, seldom once only. */
function todoOf({ choices }: World): Orchestration {
  const onChildFailure = choices.pick(['cancel', 'wait'] as const);
  return { agents: {}, generic: true, maxRounds: choices.pick([1, 10, 10]), onChildFailure };
}

function handle(world: World, process: AgentProcess, call: ToolCallInFlight, server: Server): void {
  call.stage = 'handling';
  const { work, tool } = call;
  const { label } = work;
  if (tool && isLaunching(tool)) return callLaunchingTool(world, process, call, tool, server);
  if (tool) return giveOut(world, process, call, tool, server);
  const isAgent = label.endsWith('a');
  const agent = isAgent
    ? { plan: planOf(world, label, 1 + world.choices.below(2)), todo: world.isGiving ? todoOf(world) : null }
    : undefined;
  server.run('launch', async () => {
    const launched = await server.launcher.launch({
      caller: { by: 'session', sessionId: process.agent.sessionId, meta: { call } },
      kind: isAgent ? 'agent' : 'step',
      name: label,
      ...(agent ? { agent } : {}),
    });
    process.calls = process.calls.filter((other) => other !== call);
    if (launched.ok) return;
    world.note(`  ${label} was refused: ${launched.code}`);
    work.stage = 'never';
  });
}

/** By the tool that the agent has for it. What it is told is a text of its own. */
function giveOut(
  world: World,
  process: AgentProcess,
  call: ToolCallInFlight,
  how: GivingTool,
  server: Server,
): void {
  const { work } = call;
  const { agent } = process;
  const { tool, ...whom } = how;
  const args = { ...whom, name: work.label, instruction: `${work.label}.m` };
  server.run(tool, async () => {
    const answer = await server.callTool(agent.sessionId, tool, args, { call });
    process.calls = process.calls.filter((other) => other !== call);
    if (answer.ok)
      return void agent.children.push({
        label: work.label,
        id: idAs('execution', answer.result.executionId),
      });
    world.note(`  ${work.label} was refused: ${answer.code}`);
    work.stage = 'never';
  });
}
