import type { ExecutionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Draft } from './decision.ts';
import type { Execution, Failure } from './execution.ts';
import { endGraph, type GraphVerdict } from './graph-end.ts';
import { afterNeed, isBad } from './graph-needs.ts';
import type { Graph, GraphStep, StepState } from './graph.ts';
import { isEnded, stepRef } from './graph.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';

/** What a step comes to. */
export interface StepEnd {
  readonly state: 'succeeded' | 'failed' | 'skipped' | 'cancelled';
  readonly reason?: string;
  readonly error?: Failure | null;
  readonly result?: string | null;
  readonly outputs?: Readonly<Record<string, Json>>;
}

/**
 * What one decision changes of a graph: the end of a step and all that follows of it. Only the step and what needs it are
 * looked at, whatever the number of steps; what is changed twice is written once.
 */
export class GraphMoves {
  readonly #draft: Draft;
  readonly #owner: Execution;
  readonly #rows = new Map<number, GraphStep>();
  readonly #changed = new Set<number>();
  #graph: Graph;
  #before: Graph;

  constructor(draft: Draft, graph: Graph, owner: Execution) {
    this.#draft = draft;
    this.#graph = graph;
    this.#before = graph;
    this.#owner = owner;
  }

  /** Changes a step, as a move that whoever knows it as it was must notice. */
  move(step: GraphStep, set: Partial<GraphStep>, told: Readonly<Record<string, unknown>> = {}): GraphStep {
    const row = this.#change(step, { ...set, moves: step.moves + 1 });
    if (set.state !== undefined) this.#tell(row, told);
    return row;
  }

  /** A step comes to its end, and so does what can never begin because of it; what needs nothing more becomes due. */
  *end(step: GraphStep, end: StepEnd): Asking<void> {
    this.#rows.set(step.index, step);
    const ends: [number, StepEnd][] = [[step.index, end]];
    for (let next = ends.shift(); next; next = ends.shift()) {
      const [index, how] = next;
      const row = yield* this.#at(index);
      if (isEnded(row.state)) continue;
      const ended = this.#endOne(row, how);
      if (isBad(ended) && this.#graph.settings.failFast) yield* this.#stop();
      for (const dependent of ended.dependents) {
        const follows = yield* this.#needEnded(dependent, ended);
        if (follows) ends.push([dependent, follows]);
      }
    }
  }

  /** Nothing that has not begun ever does: every such step ends with this reason. */
  *endAllThatWait(end: StepEnd): Asking<void> {
    for (const { index } of yield* ask('graphSteps', this.#graph.id)) {
      const row = yield* this.#at(index);
      if (!isEnded(row.state) && row.state !== 'running') this.#endOne(row, end);
    }
  }

  /** Writes what has changed. When no step is left, or when it is said how, the graph has ended. */
  write(how?: GraphVerdict): void {
    for (const index of this.#changed) {
      const row = this.#rows.get(index);
      if (row) this.#draft.add({ do: 'patchGraphStep', ref: row.ref, set: changeable(row) });
    }
    const { left, failed, isStopping, error } = this.#graph;
    if (this.#graph !== this.#before)
      this.#draft.add({ do: 'patchGraph', id: this.#graph.id, set: { left, failed, isStopping, error } });
    if (this.#graph.state === 'running' && (left === 0 || how))
      endGraph(this.#draft, this.#graph, this.#owner, how);
    this.#changed.clear();
    this.#before = this.#graph;
  }

  *#at(index: number): Asking<GraphStep> {
    const known = this.#rows.get(index);
    if (known) return known;
    const ref = stepRef(this.#graph.id, index);
    const row = yield* ask('graphStep', ref);
    if (!row) throw new Error(`there is no step ${ref}`);
    this.#rows.set(index, row);
    return row;
  }

  #change(step: GraphStep, set: Partial<GraphStep>): GraphStep {
    const row = { ...step, ...set };
    this.#rows.set(step.index, row);
    this.#changed.add(step.index);
    return row;
  }

  #endOne(step: GraphStep, end: StepEnd): GraphStep {
    const { state, reason = null, result = null, outputs = {}, error = null } = end;
    const set = { state, reason, result, outputs, retryAt: null, programEnd: null };
    const row = this.move(step, set, reason === null ? {} : { reason });
    const isFailure = isBad(row);
    const first = `step "${row.plan.name}" ${row.state === 'cancelled' ? 'was cancelled' : `failed (${reason})`}`;
    const message = error ? `${first}: ${error.message}` : first;
    this.#graph = {
      ...this.#graph,
      left: this.#graph.left - 1,
      failed: this.#graph.failed + (isFailure ? 1 : 0),
      error: this.#graph.error ?? (isFailure ? { code: 'STEP_FAILED', message } : null),
    };
    return row;
  }

  /** A step failed for good in a workflow that stops then: what runs is ended by the handler of the wake-up. */
  *#stop(): Asking<void> {
    if (this.#graph.isStopping || this.#graph.state === 'ended') return;
    this.#graph = { ...this.#graph, isStopping: true };
    yield* this.endAllThatWait({ state: 'skipped', reason: 'failFast' });
    this.#draft.wake('graph', this.#graph.id);
  }

  /** One of what a step needs has ended: answers how the step ends because of it, if it does. */
  *#needEnded(index: number, need: GraphStep): Asking<StepEnd | undefined> {
    const row = yield* this.#at(index);
    if (row.state !== 'blocked') return undefined;
    const { step, ends } = afterNeed(row, need);
    const told = this.#change(row, step);
    if (ends || (told.blockedBy > 0 && rules.stepNeeds)) return ends;
    this.move(told, { state: 'due' });
    this.#draft.wake('step', told.ref);
    return undefined;
  }

  #tell(row: GraphStep, more: Readonly<Record<string, unknown>>): void {
    const { graphId, plan, state, currentId, tries } = row;
    const attempt = currentId === null ? {} : { attempt: tries, executionId: currentId };
    const data = { graphId, name: plan.name, state, ...attempt, ...more };
    this.#draft.tell({ type: 'step.state', rootId: this.#owner.rootId, sessionId: null, data });
  }
}

/** What may change of a step after it was written first. */
function changeable(row: GraphStep): Partial<GraphStep> {
  const { plan: _plan, dependents: _dependents, ref: _ref, graphId: _graph, index: _index, ...rest } = row;
  return rest satisfies Partial<GraphStep> & { readonly state: StepState };
}

/** The row that an execution is a program of, with all that a decision about it needs. */
export interface GraphAt {
  readonly graph: Graph;
  readonly owner: Execution;
}

/** A graph with its execution; undefined when there is none. */
export function* graphAt(id: ExecutionId): Asking<GraphAt | undefined> {
  const graph = yield* ask('graph', id);
  const owner = graph && (yield* ask('execution', id));
  return graph && owner ? { graph, owner } : undefined;
}

/** The workflow is cancelled: what has not begun never does, and it settles when what runs has ended. */
export function* cancelGraph(draft: Draft, graph: Graph, owner: Execution): Asking<void> {
  if (graph.state === 'ended') return;
  const moves = new GraphMoves(draft, graph, owner);
  const isFailed = owner.verdict !== null && owner.verdict !== 'CANCELLED';
  yield* moves.endAllThatWait({ state: 'cancelled', reason: 'CANCELLED' });
  moves.write({ outcome: isFailed ? 'failed' : 'cancelled', code: owner.verdict ?? 'CANCELLED' });
}
