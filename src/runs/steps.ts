import { assertNever } from '../base/assert-never.ts';
import { reach } from '../base/faults.ts';
import { FreshIds } from '../base/ids.ts';
import type { Execution } from '../ledger/execution.ts';
import type { Beginning } from '../ledger/graph-attempt.ts';
import { beginStep } from '../ledger/graph-attempt.ts';
import { stepEnded } from '../ledger/graph-walk.ts';
import type { Graph, GraphStep, StepRef } from '../ledger/graph.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import { recordAttempt } from './attempt-record.ts';
import type { RunsContext } from './ports.ts';
import { Scripts } from './scripts.ts';
import { beginningOf } from './step-beginning.ts';

/** A step with what it belongs to. */
interface StepAt {
  readonly graph: Graph;
  readonly step: GraphStep;
  readonly attempt: Execution | undefined;
}

/** Moves the steps of workflows: begins what is due, goes on listening to what runs, and decides what has ended. */
export class Steps {
  readonly #context: RunsContext;
  readonly #scripts: Scripts;

  constructor(context: RunsContext) {
    this.#context = context;
    this.#scripts = new Scripts(context, (ref) => this.move(ref));
  }

  /** Moves a step on as far as it goes now. Idempotent: whoever calls it again finds nothing left to do. */
  async move(ref: StepRef): Promise<void> {
    const at = await this.#context.store.read(() => stepAt(ref));
    if (!at) return;
    const { state } = at.step;
    switch (state) {
      case 'due':
      case 'backsOff':
        return this.#begin(at);
      case 'running':
        return at.attempt?.closed ? this.#decide(at) : this.#listen(at);
      case 'blocked':
      case 'succeeded':
      case 'failed':
      case 'skipped':
      case 'cancelled':
        return;
      default:
        return assertNever(state);
    }
  }

  /** After a start: goes on with what an earlier server had begun, or was about to begin. */
  async goOn(refs: readonly StepRef[]): Promise<void> {
    for (const ref of refs) await this.move(ref);
  }

  async #begin({ graph, step }: StepAt): Promise<void> {
    const { store, clock, ids } = this.#context;
    if (graph.state === 'ended' || graph.isStopping) return;
    const isScript = step.plan.does.type === 'script';
    if (isScript && !this.#scripts.take(step.ref)) return;
    const { ref, moves, retryAt } = step;
    const asked = clock.now();
    // Not before its time: what is decided below owes the wake-up anew.
    const isEarly = retryAt !== null && retryAt > asked;
    const how: Beginning = isEarly
      ? { as: 'launch', launch: {} }
      : await beginningOf(this.#context, graph, step);
    const fresh = new FreshIds(ids);
    reach('step.before');
    const now = isEarly ? asked : clock.now();
    const begun = await store.decide(() => beginStep({ now, ref, moves, how, fresh }));
    reach('step.begun');
    const runs = how.as === 'launch' && begun.ok && begun.value === 'begun';
    if (isScript && !runs) await this.#scripts.leave(ref);
  }

  async #decide({ step }: StepAt): Promise<void> {
    const { store, clock } = this.#context;
    reach('step.closed');
    if (step.currentId !== null) await recordAttempt(this.#context, step.currentId);
    await store.decide(() => stepEnded({ now: clock.now(), ref: step.ref }));
    reach('step.decided');
    // All that a script had registered is over: what it left in its process group is nobody's any more.
    if (step.plan.does.type === 'script' && step.currentId !== null)
      await this.#context.commands.clear(step.currentId);
    await this.#scripts.leave(step.ref);
  }

  async #listen({ graph, step, attempt }: StepAt): Promise<void> {
    const { does } = step.plan;
    if (does.type !== 'script' || !attempt) return;
    if (step.programEnd || attempt.cancelRequested) return this.#scripts.leave(step.ref);
    this.#scripts.listen({ id: attempt.id, graph, step, program: does });
  }
}

function* stepAt(ref: StepRef): Asking<StepAt | undefined> {
  const step = yield* ask('graphStep', ref);
  const graph = step && (yield* ask('graph', step.graphId));
  if (!graph) return undefined;
  const attempt = step.currentId === null ? undefined : yield* ask('execution', step.currentId);
  return { graph, step, attempt };
}
