import type { Occurrence } from '../ledger/occurrence.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { ScheduledWorkflow } from '../ledger/schedule-definition.ts';
import type { Schedule } from '../ledger/schedule.ts';
import type { WorkflowDefinition } from '../workflows/port.ts';
import type { SchedulesContext } from './ports.ts';
import { renderTemplate } from './templates.ts';

/** A workflow by what its file says now, or why there is none, as an occurrence says it. */
export type DefinedOrNot = { readonly definition: WorkflowDefinition } | { readonly reason: string };

/** The workflow of an occurrence: its inputs are filled in for the instant, then its file is read. */
export async function defineWorkflow(
  context: SchedulesContext,
  said: ScheduledWorkflow,
  schedule: Schedule,
  { instant }: Occurrence,
): Promise<DefinedOrNot> {
  const inputs = await fillInputs(context, said, schedule, instant);
  if (!inputs.ok) return { reason: `dispatch: ${inputs.message}` };
  const { group, evaluation } = said;
  const { cwd, budget } = schedule.definition;
  const defined = await context.workflows.define({
    workflow: said.name,
    project: schedule.project,
    inputs: inputs.values,
    cwd,
    instant,
    ...(group === undefined ? {} : { group }),
    ...(evaluation === undefined ? {} : { evaluation }),
  });
  if (!defined.ok) return { reason: `dispatch: ${defined.message}` };
  if (defined.value.isEvaluation)
    return { reason: `dispatch: ${said.name} scores runs of other workflows, and is not run by itself` };
  const refused = context.refusalOfBudget(defined.value, budget);
  if (refused !== undefined) return { reason: `dispatch: ${refused}` };
  return { definition: withAgent(defined.value, schedule.definition.agent) };
}

type Values = Readonly<Record<string, string | number | boolean>>;
type Filled =
  | { readonly ok: true; readonly values: Values }
  | { readonly ok: false; readonly message: string };

async function fillInputs(
  { store, texts }: SchedulesContext,
  { inputs = {} }: ScheduledWorkflow,
  { id, origin, definition }: Schedule,
  instant: number,
): Promise<Filled> {
  const { cwd, timezone: zone, agent } = definition;
  const previousResult = await store.read(() => lastResultOf(id));
  const filled: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(inputs)) {
    if (typeof value !== 'string' || !value.includes('{{')) {
      filled[name] = value;
      continue;
    }
    const rendered = await renderTemplate(value, {
      scheduledFor: instant,
      zone,
      previousResult,
      env: (variable) => texts.variable(variable, agent ?? '', origin === 'file'),
      readFile: (path) => texts.readFile(cwd, path),
    });
    if (!rendered.ok) return { ok: false, message: `inputs.${name}: ${rendered.message}` };
    // What was put in is no template: when it is sent, texts are filled in once more.
    filled[name] = rendered.text.replaceAll('{{', '\\{{');
  }
  return { ok: true, values: filled };
}

/** What the workflow of the run before came to. */
function* lastResultOf(id: Schedule['id']): Asking<string | null> {
  const run = yield* ask('lastRunOf', id);
  const latest = run && (yield* ask('latestOfRun', run.id, 0));
  return latest?.result ?? null;
}

/** The profile that a schedule names is for steps that name none, where the file names none either. */
function withAgent(definition: WorkflowDefinition, agent: string | null): WorkflowDefinition {
  const { call } = definition;
  const { settings } = call.graph;
  if (agent === null || settings.agent !== null) return definition;
  return { ...definition, call: { ...call, graph: { ...call.graph, settings: { ...settings, agent } } } };
}
