import { stat } from 'node:fs/promises';
import type { Answer, WorkflowCommands } from '../api/ports.ts';
import type { RunId } from '../base/ids.ts';
import type { WorkflowRunBody } from '../contract/workflow.ts';
import type { Budget } from '../ledger/execution.ts';
import { ask } from '../ledger/questions.ts';
import { beginRun } from '../ledger/sequence.ts';
import type { PreparedWorkspace } from '../ledger/workspace.ts';
import { budgetOf, retryOf } from '../workflows/planned-message.ts';
import type { WorkflowDefinition } from '../workflows/port.ts';
import { rootPlan } from '../workflows/root-plan.ts';
import { refusalOfBudgets } from './budgets.ts';
import { newId } from './commands.ts';
import type { AgentDirectory, ApplicationContext } from './context.ts';

/** Commands about workflows. */
export function createWorkflowCommands(context: ApplicationContext): WorkflowCommands {
  const { store, clock, workflows } = context;
  return {
    async run(name, body, call) {
      const id = await newId(context, call, 'run');
      if (await store.read(() => ask('run', id))) return { ok: true, value: { runId: id } };
      const missing = await refusalOfDirectory(body.cwd);
      if (missing) return missing;
      const defined = await workflows.define({ workflow: name, instant: clock.now(), ...wanted(body) });
      if (!defined.ok) return defined;
      const definition = defined.value;
      if (definition.isEvaluation) return notByItself(name);
      const budget = body.budget && budgetOf(body.budget);
      const refused = refusalOfStepBudgets(context.agents, definition, budget);
      if (refused) return refused;
      const prepared = await workspaceOf(context, body, id, definition);
      if (!prepared.ok) return prepared;
      const workspace = prepared.value;
      const cwd = workspace?.path ?? definition.call.graph.settings.cwd;
      const retry = body.retry && retryOf(body.retry);
      const plan = rootPlan(definition.call, { cwd, timeoutMs: body.timeout, retry });
      const about = {
        id,
        project: definition.project,
        name: definition.name,
        sessionId: null,
        plan,
      };
      const begun = await store.decide(() =>
        beginRun({
          now: clock.now(),
          ...about,
          origin: { budget: budget ?? null },
          ...(workspace ? { workspace } : {}),
        }),
      );
      return begun.ok ? { ok: true, value: { runId: begun.value } } : begun;
    },
  };
}

/** Why no step of a workflow may work within a budget, if one uses an agent that does not tell what it uses. */
export function refusalOfStepBudgets(
  agents: AgentDirectory,
  definition: Pick<WorkflowDefinition, 'agents' | 'call'>,
  budget: Budget | undefined,
): Refusal | undefined {
  const budgets = [budget, definition.call.budget];
  for (const { step, agent } of definition.agents) {
    const refused = refusalOfBudgets(agents, agent, budgets);
    if (refused) return { ...refused, message: `Step ${step}: ${refused.message}` };
  }
  return undefined;
}

type Refusal = Extract<Answer<never>, { ok: false }>;

function wanted({ group, inputs, evaluation, cwd, file }: WorkflowRunBody) {
  return {
    ...(group === undefined ? {} : { group }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(evaluation === undefined ? {} : { evaluation }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(file === undefined ? {} : { file }),
  };
}

/** Where the run works, if it says so: then the directory is made ready. */
async function workspaceOf(
  { workspaces }: ApplicationContext,
  { workspace: how }: WorkflowRunBody,
  runId: RunId,
  { name, call }: WorkflowDefinition,
): Promise<Answer<PreparedWorkspace | undefined>> {
  if (how === undefined) return { ok: true, value: undefined };
  const prepared = await workspaces.prepare({ runId, name, how, cwd: call.graph.settings.cwd });
  return prepared.ok ? { ok: true, value: prepared.workspace } : prepared;
}

async function refusalOfDirectory(cwd: string | undefined): Promise<Refusal | undefined> {
  const isThere = cwd === undefined || (await isDirectory(cwd));
  if (isThere) return undefined;
  const message = `The working directory ${cwd} is no directory on the machine of the server; nothing was begun.`;
  return { ok: false, code: 'INVALID_INPUT', message, data: { key: 'cwd', cwd } };
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function notByItself(name: string): Refusal {
  const message = `${name} scores runs of other workflows, and is not run by itself; a workflow names it under "evaluation".`;
  return { ok: false, code: 'INVALID_INPUT', message, data: { workflow: name } };
}
