import type { Json } from '../base/json.ts';
import type { Graph } from '../ledger/graph.ts';
import { outcomeOf } from '../ledger/execution.ts';
import type { RunRow } from '../ledger/plan.ts';
import { ask } from '../ledger/questions.ts';
import type { LedgerStore } from '../ledger/store.ts';
import { holds } from '../workflows/condition.ts';
import { variableOf } from '../workflows/environment.ts';
import { fillText, fillTexts, textOfValue } from '../workflows/texts.ts';
import type { ScoredValues, WorkflowValues } from '../workflows/values.ts';
import type { EnvironmentSaid, StepTexts, TextSources } from './ports.ts';

/** Fills in the templates of workflows with what the ledger knows, and with what `sources` can read. */
export function stepTexts(store: LedgerStore, sources: TextSources): StepTexts {
  return {
    fill: (graph, text) => fillText(text, valuesOf(store, sources, graph)),
    holds: (graph, condition) => holds(condition, valuesOf(store, sources, graph)),
    environment: async (graph, own, row = {}) =>
      environmentOf(graph, { own, row }, valuesOf(store, sources, graph)),
  };
}

/** What the templates of a workflow stand for at this moment. Outputs of the workflow's own steps are those of now. */
export function valuesOf(
  store: Pick<LedgerStore, 'read'>,
  sources: TextSources,
  graph: Graph,
): WorkflowValues {
  const { settings, inputs } = graph;
  return {
    scheduledFor: settings.instant,
    zone: settings.timezone,
    inputs,
    group: settings.variables,
    step: async (name) => {
      const step = await store.read(() => ask('graphStepNamed', graph.id, name));
      return step && { state: step.state, result: step.result, outputs: step.outputs };
    },
    env: (name) => sources.variable(name, settings.agent ?? '', settings.isFromFile),
    readFile: (path) => sources.readFile(settings.cwd, path),
    ...(graph.of === null ? {} : { of: () => scored(store, sources, graph.of) }),
  };
}

/** What an evaluation may say of what it scores, which is closed. */
async function scored(
  store: Pick<LedgerStore, 'read'>,
  sources: TextSources,
  of: Graph['of'],
): Promise<ScoredValues | undefined> {
  const row = of === null ? undefined : await store.read(() => ask('execution', of));
  if (!row) return undefined;
  const { outcome } = outcomeOf(row);
  return { outcome, result: row.result, runId: row.runId ?? row.id, directory: sources.recordOf(row.id) };
}

/** Inputs, variables of the group and columns of the row come as they are; what the workflow and the step say goes before them. */
async function environmentOf(
  graph: Graph,
  { own, row }: { readonly own: Readonly<Record<string, string>>; readonly row: RunRow },
  values: WorkflowValues,
): Promise<EnvironmentSaid> {
  const filled = await fillTexts({ ...graph.settings.env, ...own }, values);
  if (!filled.ok) return { ok: false, message: `env.${filled.message}` };
  const inputs = named('INPUT', graph.inputs);
  const group = named('GROUP', graph.settings.variables);
  return { ok: true, env: { ...inputs, ...group, ...columns(row), ...filled.texts } };
}

/** How long a column may be that is a variable, in UTF-16 units: in UTF-8 none takes more than the system lets one have. */
const longestColumn = 40_000;

/** What no program could be started with is not there: a column that is too long, or has a NUL. */
function columns(row: RunRow): Record<string, string> {
  const all = Object.entries(named('ROW', row));
  return Object.fromEntries(
    all.filter(([, value]) => value.length <= longestColumn && !value.includes('\0')),
  );
}

/** `INPUT_DAY` for the input `day`. */
function named(
  prefix: Parameters<typeof variableOf>[0],
  values: Readonly<Record<string, Json>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [variableOf(prefix, name), textOfValue(value)]),
  );
}
