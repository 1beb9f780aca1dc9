import type { ExecutionId, FreshIds } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Ending, Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { isSettled } from './execution.ts';
import { cancelledEnding } from './graph-end.ts';
import { siblingEvaluation } from './graph-evaluation.ts';
import type { Graph } from './graph.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import { end } from './settle.ts';

/** Whether the whole can be settled now: `open` is called again, by a wake-up `drained`, when nothing below it is. */
export type GraphRest = 'free' | 'open' | 'stale';

/** Something below a graph that has ended may be open: then its handler is called when nothing is. */
export function* drainGraph(command: { readonly now: number; readonly id: ExecutionId }): Rule<GraphRest> {
  const draft = new Draft(command.now);
  const graph = yield* ask('graph', command.id);
  const owner = graph && (yield* ask('execution', graph.id));
  if (!owner || graph.state !== 'ended' || isSettled(owner.state)) return draft.done<GraphRest>('stale');
  if (owner.open === 0 || !rules.stepWhole) return draft.done<GraphRest>('free');
  draft.patch(owner.id, { drain: 0 });
  return draft.done<GraphRest>('open');
}

/** What the whole is read as: a bounded summary, and the values that it gives to whoever waits for it. */
export interface SettleGraph {
  readonly now: number;
  readonly id: ExecutionId;
  readonly result: string;
  readonly outputs: Readonly<Record<string, Json>>;
  /** What it gives could not be made: a workflow that succeeded until now has failed. */
  readonly failure?: { readonly code: string; readonly message: string };
  readonly fresh: FreshIds;
}

/** `open`: something below it is open; its handler is called again when nothing is. */
export type GraphSettled = 'settled' | 'open' | 'stale';

/** Settles the execution of a graph that has ended, in a decision in which nothing below it is open: it closes with it. */
export function* settleGraph(command: SettleGraph): Rule<GraphSettled> {
  const draft = new Draft(command.now);
  const graph = yield* ask('graph', command.id);
  const owner = graph && (yield* ask('execution', graph.id));
  if (!owner || graph.state !== 'ended' || isSettled(owner.state)) return draft.done<GraphSettled>('stale');
  if (owner.open > 0 && rules.stepWhole) {
    draft.patch(owner.id, { drain: 0 });
    return draft.done<GraphSettled>('open');
  }
  const above = yield* ask('graphOfStep', owner.id);
  if (above?.state === 'running') {
    const { result, outputs } = command;
    const programEnd = { state: 'succeeded', result, error: null, outputs } as const;
    draft.add({ do: 'patchGraphStep', ref: above.ref, set: { programEnd } });
  }
  yield* end(draft, owner, endingOf(graph, owner, command), command.fresh.at('notice', 'end'));
  yield* siblingEvaluation(draft, owner, graph, command.fresh);
  return draft.done<GraphSettled>('settled');
}

function endingOf(graph: Graph, owner: Execution, { result, failure }: SettleGraph): Ending {
  if (owner.cancelRequested) return { ...cancelledEnding(owner), result };
  const error = graph.error ?? failure;
  if (graph.outcome === 'succeeded' && !failure) return { state: 'succeeded', result };
  return { state: 'failed', result, ...(error ? { error } : {}) };
}
