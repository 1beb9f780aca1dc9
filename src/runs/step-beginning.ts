import { assertNever } from '../base/assert-never.ts';
import type { Beginning } from '../ledger/graph-attempt.ts';
import { chosenCase, noCase } from '../ledger/graph-walk.ts';
import type { Graph, GraphStep } from '../ledger/graph.ts';
import type { Hosts } from '../ledger/launch.ts';
import type { PlannedMessage } from '../ledger/session.ts';
import { newSession } from '../ledger/session.ts';
import type {
  AgentUse,
  HumanProgram,
  Orchestration,
  RouteProgram,
  StepPlan,
  WorkflowProgram,
} from '../ledger/step-plan.ts';
import type { RunsContext } from './ports.ts';
import { directoryOf } from './step-directory.ts';
import { filledStep } from './step-filling.ts';
import { readRows } from './rows.ts';
import { stepRun } from './step-run.ts';
import { checkpointOf } from './checkpoint.ts';

/** What of its surroundings the beginning of a step needs. */
type BeginningContext = Pick<RunsContext, 'steps' | 'ids' | 'clock' | 'store' | 'commands'>;

/**
 * How a step that is due begins: its condition is looked at and its templates are filled in, now. Whatever is missing, a
 * directory, an agent or another workflow, makes an attempt that has failed and says why. Rejects with `STOPPING` when aborted while
 * a command of its rows runs.
 */
export async function beginningOf(
  context: BeginningContext,
  graph: Graph,
  step: GraphStep,
  signal: AbortSignal,
): Promise<Beginning> {
  const { plan } = step;
  if (plan.when !== null) {
    const said = await context.steps.texts.holds(graph, plan.when);
    if (!said.ok) return failed('TEMPLATE_FAILED', `when: ${said.message}`);
    if (!said.value) return { as: 'skip' };
  }
  const { does } = plan;
  switch (does.type) {
    case 'script':
      // All else of it is looked at when it runs, which may be by another server.
      return { as: 'launch', launch: {} };
    case 'agent':
    case 'todo':
    case 'sequence':
      return hosting(context, graph, step, does, signal);
    case 'route':
      return ofRoute(context, graph, step, does, signal);
    case 'human':
      return ofHuman(context, graph, does);
    case 'workflow':
      return ofWorkflow(context, graph, does);
    default:
      return assertNever(does);
  }
}

async function ofRoute(
  context: BeginningContext,
  graph: Graph,
  step: GraphStep,
  does: RouteProgram,
  signal: AbortSignal,
): Promise<Beginning> {
  const { by } = does;
  if ('prompt' in by) return hosting(context, graph, step, does, signal);
  const value = await filled(context, graph, by.value);
  if (!value.ok) return failed('TEMPLATE_FAILED', value.message);
  const chosen = chosenCase(does, value.text);
  if (chosen === undefined) return { as: 'fail', error: noCase(does, value.text) };
  return { as: 'end', end: { state: 'succeeded', result: chosen, error: null, outputs: {} } };
}

async function ofHuman(context: BeginningContext, graph: Graph, does: HumanProgram): Promise<Beginning> {
  const question = await filled(context, graph, does.question);
  if (!question.ok) return failed('TEMPLATE_FAILED', question.message);
  const { choices, declines } = does;
  const declining = declines[0] === undefined ? {} : { declines: declines[0] };
  return { as: 'launch', launch: { question: { text: question.text, choices, ...declining } } };
}

async function ofWorkflow(
  context: BeginningContext,
  graph: Graph,
  does: WorkflowProgram,
): Promise<Beginning> {
  const inputs: Record<string, string> = {};
  for (const [name, text] of Object.entries(does.inputs)) {
    const value = await filled(context, graph, text);
    if (!value.ok) return failed('TEMPLATE_FAILED', `inputs.${name}: ${value.message}`);
    inputs[name] = value.text;
  }
  const group = does.group === null ? undefined : await filled(context, graph, does.group);
  if (group && !group.ok) return failed('TEMPLATE_FAILED', `group: ${group.message}`);
  const { project, settings } = graph;
  const found = await context.steps.workflows.define({
    workflow: does.workflow,
    project,
    ...(group ? { group: group.text } : {}),
    ...(does.evaluation === false ? { evaluation: false } : {}),
    inputs,
    // It means the same directories as if it were launched by itself.
    cwd: settings.base ?? settings.cwd,
    ...(settings.file ? { file: settings.file } : {}),
    instant: settings.instant,
  });
  return found.ok
    ? { as: 'launch', launch: { workflow: found.value.call } }
    : failed(found.code, found.message);
}

type Filled = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

function filled({ steps }: BeginningContext, graph: Graph, text: string): Promise<Filled> {
  return steps.texts.fill(graph, text);
}

/** A conversation of its own. The templates of its messages are filled in when they are sent. */
async function hosting(
  context: BeginningContext,
  graph: Graph,
  step: GraphStep,
  use: AgentUse,
  signal: AbortSignal,
): Promise<Beginning> {
  const { plan } = step;
  const agent = use.agent ?? graph.settings.agent;
  if (agent === null) {
    return failed(
      'AGENT_UNAVAILABLE',
      `Step "${plan.name}" has no agent; name one there or in the workflow.`,
    );
  }
  const tells = context.steps.tells(agent);
  if (tells === undefined) {
    return failed(
      'AGENT_UNAVAILABLE',
      `No agent "${agent}" is configured; correct the name, or configure it.`,
    );
  }
  const directory = await directoryOf(context, graph, use.cwd);
  if (!directory.ok) return failed(directory.code, directory.message);
  const filled = await filledStep(context, graph, plan);
  if (!filled.ok) return failed('TEMPLATE_FAILED', filled.message);
  const run = stepRun(filled.plan);
  if (!run) throw new Error(`step ${plan.name} has no conversation`);
  const goesOn = await checkpointOf(context, graph, plan.name, run.plan);
  const hosts = hostsOf(context, graph, filled.plan, agent, directory.path, run.plan, tells);
  if (goesOn) {
    const { nativeId, cursor, rows } = goesOn;
    const place = { cursor, ...(rows ? { rows } : {}) };
    return {
      as: 'launch',
      launch: { hosts: { ...hosts, ...place, session: { ...hosts.session, nativeId } } },
    };
  }
  if (run.rowsFrom === null) return { as: 'launch', launch: { hosts } };
  const read = await readRows(context, { graph, step }, run.rowsFrom, directory.path, signal);
  if (!read.ok) return failed(read.error.code, read.error.message);
  const rows = { count: read.rows.length, rows: read.rows };
  return { as: 'launch', launch: { hosts: { ...hosts, rows } } };
}

function hostsOf(
  { steps, ids, clock }: BeginningContext,
  graph: Graph,
  plan: StepPlan,
  agent: string,
  cwd: string,
  messages: readonly PlannedMessage[],
  tells: Hosts['tells'],
): Hosts {
  const session = newSession({
    id: ids.make('session'),
    project: graph.project,
    agent,
    cwd,
    title: plan.name,
    node: steps.node,
    createdAt: clock.now(),
  });
  const todo = plan.does.type === 'todo' ? orchestrationOf(plan.does) : null;
  return { session, runId: ids.make('run'), plan: messages, todo, tells };
}

function orchestrationOf({ agents, generic, maxRounds, onChildFailure }: Orchestration): Orchestration {
  return { agents, generic, maxRounds, onChildFailure };
}

function failed(code: string, message: string): Beginning {
  return { as: 'fail', error: { code, message } };
}
