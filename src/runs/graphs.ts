import { reach } from '../base/faults.ts';
import type { ExecutionId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { drainGraph, settleGraph } from '../ledger/graph-settle.ts';
import type { Graph } from '../ledger/graph.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import { recordEnd } from './attempt-record.ts';
import type { RunsContext } from './ports.ts';
import type { Stopping } from './stopping.ts';
import type { EndedStep } from './graph-summary.ts';
import { summaryOf } from './graph-summary.ts';

/** Something of a graph is to be done by its handler: what still runs is ended, or the whole is settled. */
export async function moveGraph(context: RunsContext, stopping: Stopping, id: ExecutionId): Promise<void> {
  const graph = await context.store.read(() => ask('graph', id));
  // What is run for rows belongs to steps that never begin now.
  if (graph && (graph.isStopping || graph.outcome === 'cancelled' || graph.outcome === 'failed'))
    await endRowsOf(context, id);
  if (graph?.state === 'ended') await finishGraph(context, id);
  else if (graph?.isStopping) await endRunning(context, stopping, graph);
}

async function endRowsOf({ commands, report }: RunsContext, id: ExecutionId): Promise<void> {
  if ((await commands.end(id)) === 'unkillable') report('process.unkillable', { id });
}

/** Nothing begins any more because a step failed: what runs is cancelled, each with all that it has started. */
async function endRunning({ store }: RunsContext, stopping: Stopping, graph: Graph): Promise<void> {
  const steps = await store.read(() => ask('graphSteps', graph.id));
  const reason = graph.error?.message ?? 'a step failed';
  const request = { actor: { kind: 'system' }, reason } as const;
  for (const { state, currentId } of steps) {
    if (state !== 'running' || currentId === null) continue;
    // Latched when this returns; what it takes to end it goes on beside the others.
    await stopping.cancelTree({ id: currentId, request, verdict: 'CANCELLED', join: false });
  }
}

/**
 * Settles the execution of a graph that has ended, when nothing below it is open. Idempotent; false when the execution has
 * no graph.
 */
export async function finishGraph(context: RunsContext, id: ExecutionId): Promise<boolean> {
  const { store, clock, ids } = context;
  const graph = await store.read(() => ask('graph', id));
  if (!graph) return false;
  // Those that ran when it ended are told as they ended: each calls this again.
  if (graph.left > 0) return true;
  reach('graph.ended');
  const rest = await store.decide(() => drainGraph({ now: clock.now(), id }));
  if (!rest.ok || rest.value !== 'free') return true;
  const ended = await store.read(() => endedSteps(graph.id));
  const said = await outputsOf(context, graph);
  const record = `Record: ${context.steps.records.directory(id)}`;
  const result = `${summaryOf(ended, said.ok ? said.outputs : {})}\n${record}`;
  const failure = said.ok ? {} : { failure: { code: 'TEMPLATE_FAILED', message: said.message } };
  const outputs = said.ok ? said.outputs : {};
  await recordEnd(context, graph, { result, outputs, ...failure });
  // What was run for its rows, and may run still where somebody has cancelled it.
  await context.commands.clear(id);
  const fresh = new FreshIds(ids);
  await store.decide(() => settleGraph({ now: clock.now(), id, result, outputs, ...failure, fresh }));
  reach('graph.settled');
  return true;
}

function* endedSteps(id: ExecutionId): Asking<EndedStep[]> {
  const ended: EndedStep[] = [];
  for (const step of yield* ask('graphSteps', id)) {
    const attempt = step.currentId === null ? undefined : yield* ask('execution', step.currentId);
    ended.push({ step, attempt });
  }
  return ended;
}

type OutputsSaid =
  | { readonly ok: true; readonly outputs: Readonly<Record<string, Json>> }
  | { readonly ok: false; readonly message: string };

/** What the workflow gives, by name. One that did not succeed gives nothing. */
async function outputsOf({ steps }: RunsContext, graph: Graph): Promise<OutputsSaid> {
  const outputs: Record<string, Json> = {};
  if (graph.outcome !== 'succeeded') return { ok: true, outputs };
  for (const [name, text] of Object.entries(graph.settings.outputs)) {
    const filled = await steps.texts.fill(graph, text);
    if (!filled.ok) return { ok: false, message: `outputs.${name}: ${filled.message}` };
    outputs[name] = filled.text;
  }
  return { ok: true, outputs };
}
