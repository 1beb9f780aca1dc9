import { idAs } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { ListedWorkflow, WorkflowSource } from '../../src/workflows/port.ts';
import type { ReviewKind } from '../../src/application/context.ts';
import type { AgentProcess, ToolCallInFlight } from './agent.ts';
import { sourceWithin } from './agent-actions.ts';
import type { GivingTool } from './orchestrators.ts';
import type { Action } from './scheduler.ts';
import { maybe } from './scheduler.ts';
import type { Server } from './server.ts';
import type { Activity, Work } from './truth.ts';
import { checkJoined, checkRefusedWait } from './waits.ts';
import type { Found } from './workflow-tools.ts';
import { callWorkflowTool } from './workflow-tools.ts';
import type { World } from './world.ts';

/** Which of the tools that launch workflows, or what is made of them, an agent calls. */
export type LaunchingTool =
  /** `evaluation`: the label of what scores it. */
  | { readonly tool: 'run_full_workflow'; readonly evaluation: string | undefined }
  | { readonly tool: 'execute_step'; readonly step: StepAlone }
  /** Of the run that the agent names by then; null: the one that was closed last. */
  | { readonly tool: 'start_review' | 'run_full_evaluation'; readonly whose: Whose };

/** A step as an agent asks for it. */
export interface StepAlone {
  readonly workflow: string;
  readonly group: string | null;
  readonly step: string;
}

/** `own`: launched by the agent. `above`: its conversation is part of it. `others`: of a run that is nobody's. */
const targets = ['own', 'above', 'others', 'latest'] as const;
type Whose = (typeof targets)[number];

/** Whether it is none of the tools that give out work. */
export function isLaunching(tool: GivingTool | LaunchingTool): tool is LaunchingTool {
  return tool.tool !== 'call_sub_agent' && tool.tool !== 'call_generic_agent';
}

/** Launches a whole workflow, which something may score when it is closed. */
export function fullWorkflow(world: World, work: Work): LaunchingTool {
  if (!world.choices.chance(40)) return { tool: 'run_full_workflow', evaluation: undefined };
  const evaluation = `${world.label('w')}f`;
  const { cause, via, tells, activity } = work;
  world.truth.addWork({ kind: 'work', label: evaluation, cause, via, tells, activity, stage: 'never' });
  return { tool: 'run_full_workflow', evaluation };
}

/** What an agent may take it into its head to launch beside whole workflows. */
export function launchingIdeas(world: World, process: AgentProcess, activity: Activity): Action[] {
  if (!world.isWorking) return [];
  const at = activity.nativeTurnId;
  const actions: Action[] = [];
  const idea = (budget: string, name: string, suffix: string, tool: () => LaunchingTool): void => {
    if (!world.budgets.has(budget)) return;
    const run = (): void => {
      world.budgets.spend(budget);
      const label = `${world.label('w')}${suffix}`;
      const source = sourceWithin(world, process);
      const tells = process.agent.sessionId;
      const work = world.truth.addWork({ kind: 'work', label, ...source, tells, activity, stage: 'calling' });
      const called = tool();
      process.call(work, at, called);
      world.note(`  ${label}: ${JSON.stringify(called)}, because of ${source.cause ?? 'nothing'}`);
    };
    actions.push(maybe(name, run, 10));
  };
  idea('aloneSteps', `${at} asks for a step alone`, 'f', () => ({
    tool: 'execute_step',
    step: stepAlone(world, process),
  }));
  const whose = (): Whose => world.choices.pick(targets);
  idea('waits', `${at} asks for a review`, 'a', () => ({ tool: 'start_review', whose: whose() }));
  idea('waits', `${at} asks for an evaluation`, 'f', () => ({ tool: 'run_full_evaluation', whose: whose() }));
  return actions;
}

/** A step of a workflow that it has launched, of one of its groups perhaps; or one of those that it asks for again and again. */
function stepAlone({ choices, flows }: World, { agent }: AgentProcess): StepAlone {
  const known = agent.workflows[choices.below(agent.workflows.length + 1)];
  const flow = known && flows.all.get(known.label);
  if (!flow) return { workflow: 'lone', group: null, step: choices.pick(['one', 'one', 'two']) };
  const { plan } = choices.pick(flow.steps);
  const inner = plan.does.type === 'workflow' && plan.does.group ? flows.all.get(plan.name) : undefined;
  if (!inner) return { workflow: flow.label, group: null, step: plan.name };
  return { workflow: flow.label, group: plan.name, step: choices.pick(inner.steps).plan.name };
}

/** By the product's own tool. What it makes bears the label of the call, unless it is answered with what there was. */
export function callLaunchingTool(
  world: World,
  process: AgentProcess,
  call: ToolCallInFlight,
  how: LaunchingTool,
  server: Server,
): void {
  const { work } = call;
  const { agent } = process;
  const before = server.durable;
  const targetId = 'whose' in how ? targetOf(world, process, how.whose, before) : undefined;
  server.run(how.tool, async () => {
    const answer = await ask(world, server, process, call, how, targetId);
    process.calls = process.calls.filter((other) => other !== call);
    if (!answer.ok) {
      world.note(`  ${work.label} was refused: ${answer.code}`);
      work.stage = 'never';
      if (answer.code === 'WAIT_ON_SELF')
        checkRefusedWait(world, { before, after: server.durable, sessionId: agent.sessionId, targetId });
      return;
    }
    const id = idAs('execution', answer.result.executionId);
    const isOwn = world.truth.labels.get(id) === work.label;
    if (how.tool === 'run_full_workflow') agent.workflows.push({ label: work.label, id });
    if (isOwn) return;
    work.stage = 'never';
    world.note(`  ${work.label} is answered with ${id}`);
    if (how.tool !== 'execute_step')
      world.violations.report('BROKEN', `${work.label} is answered with something else`);
    else checkJoined(world, { before, after: server.durable, id, step: how.step });
  });
}

type Answer =
  | { readonly ok: true; readonly result: { readonly executionId: string } }
  | { readonly ok: false; readonly code: string };

function ask(
  world: World,
  server: Server,
  { agent }: AgentProcess,
  call: ToolCallInFlight,
  how: LaunchingTool,
  targetId: string | undefined,
): Promise<Answer> {
  const { label } = call.work;
  const about = [{ call }, foundBy(world, how, label)] as const;
  const to = [world, server, agent.sessionId] as const;
  const run = targetId === undefined ? {} : { run: targetId };
  switch (how.tool) {
    case 'run_full_workflow':
      return callWorkflowTool(...to, how.tool, { workflow: label }, ...about);
    case 'execute_step': {
      const { group, ...step } = how.step;
      return callWorkflowTool(...to, how.tool, group === null ? step : { ...step, group }, ...about);
    }
    case 'start_review':
      return callWorkflowTool(...to, how.tool, { kind: label, ...run }, ...about);
    case 'run_full_evaluation':
      return callWorkflowTool(...to, how.tool, { workflow: label, ...run }, ...about);
  }
}

/** What the call finds: the workflow, or the kind of review, that was made up for it. */
function foundBy({ flows }: World, how: LaunchingTool, label: string): Found {
  const reviews: Record<string, ReviewKind> =
    how.tool === 'start_review' ? { [label]: { prompt: `{{${label}.m}}` } } : {};
  const isEvaluation = how.tool === 'run_full_evaluation';
  const workflows: WorkflowSource = {
    list: async () => [listed(label)],
    define: async ({ workflow, group }) => {
      const call =
        how.tool === 'execute_step'
          ? flows.alone(label, workflow, group ?? null)
          : flows.call(label, how.tool === 'run_full_workflow' ? how.evaluation : undefined);
      return { ok: true, value: { project: 'default', name: label, call, isEvaluation, agents: [] } };
    },
  };
  return { reviews, workflows };
}

function listed(name: string): ListedWorkflow {
  return {
    project: 'default',
    name,
    description: null,
    isEvaluation: true,
    evaluation: null,
    groups: [],
    inputs: [],
    steps: [],
    problems: [],
  };
}

/** The id that the agent says. Undefined: it says none. */
function targetOf(
  { choices }: World,
  { agent }: AgentProcess,
  whose: Whose,
  state: MemorySnapshot,
): string | undefined {
  if (whose === 'latest') return undefined;
  const flows = new Set<string>(state.graphs.map(({ id }) => id));
  const known: Readonly<Record<Exclude<Whose, 'latest'>, readonly { readonly id: string }[]>> = {
    own: agent.workflows,
    above: rowsAbove(state, agent.sessionId).filter(({ id }) => flows.has(id)),
    others: state.executions.filter(
      ({ parentId, runId, id }) => parentId === null && runId !== null && flows.has(id),
    ),
  };
  const ids = [known[whose], known.own, known.above, known.others].find((each) => each.length > 0);
  return ids && choices.pick(ids).id;
}

function rowsAbove({ executions, sessions }: MemorySnapshot, sessionId: string): Execution[] {
  const above: Execution[] = [];
  let at: string | null = sessions.find(({ id }) => id === sessionId)?.hostedBy ?? null;
  while (at !== null) {
    const row: Execution | undefined = executions.find(({ id }) => id === at);
    if (!row) break;
    above.push(row);
    at = row.parentId;
  }
  return above;
}
