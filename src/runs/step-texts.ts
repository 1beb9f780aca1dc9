import type { Json } from '../base/json.ts';
import type { Graph } from '../ledger/graph.ts';
import { outcomeOf } from '../ledger/execution.ts';
import { ask } from '../ledger/questions.ts';
import type { LedgerStore } from '../ledger/store.ts';
import { holds } from '../workflows/condition.ts';
import { fillText, fillTexts, textOfValue } from '../workflows/texts.ts';
import type { ScoredValues, WorkflowValues } from '../workflows/values.ts';
import type { EnvironmentSaid, StepTexts, TextSources } from './ports.ts';

/** Fills in the templates of workflows with what the ledger knows, and with what `sources` can read. */
export function stepTexts(store: LedgerStore, sources: TextSources): StepTexts {
  return {
    fill: (graph, text) => fillText(text, valuesOf(store, sources, graph)),
    holds: (graph, condition) => holds(condition, valuesOf(store, sources, graph)),
    environment: (graph, own) => environmentOf(graph, own, valuesOf(store, sources, graph)),
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

/** Inputs and variables of the group come as they are; what the workflow and the step say goes before them. */
async function environmentOf(
  graph: Graph,
  own: Readonly<Record<string, string>>,
  values: WorkflowValues,
): Promise<EnvironmentSaid> {
  const filled = await fillTexts({ ...graph.settings.env, ...own }, values);
  if (!filled.ok) return { ok: false, message: `env.${filled.message}` };
  const inputs = named('INPUT', graph.inputs);
  const group = named('GROUP', graph.settings.variables);
  return { ok: true, env: { ...inputs, ...group, ...filled.texts } };
}

/** `INPUT_DAY` for the input `day`. */
function named(prefix: string, values: Readonly<Record<string, Json>>): Record<string, string> {
  const nameOf = (name: string): string => `${prefix}_${name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}`;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [nameOf(name), textOfValue(value)]),
  );
}
