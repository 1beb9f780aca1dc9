import { assertNever } from '../base/assert-never.ts';
import { reach } from '../base/faults.ts';
import { FreshIds } from '../base/ids.ts';
import type { Execution } from '../ledger/execution.ts';
import type { Beginning } from '../ledger/graph-attempt.ts';
import { beginStep } from '../ledger/graph-attempt.ts';
import { stepEnded } from '../ledger/graph-walk.ts';
import type { Graph, GraphStep, StepRef } from '../ledger/graph.ts';
import type { Asking } from '../ledger/questions.ts';
import type { Lasting } from '../ledger/wakeups.ts';
import { ask } from '../ledger/questions.ts';
import { recordAttempt } from './attempt-record.ts';
import { Places } from './places.ts';
import type { RunsContext } from './ports.ts';
import { forgetRows, hasRowsCommand } from './rows.ts';
import { Scripts } from './scripts.ts';
import { beginningOf } from './step-beginning.ts';

/** A step with what it belongs to. */
interface StepAt {
  readonly graph: Graph;
  readonly step: GraphStep;
  readonly attempt: Execution | undefined;
}

/** How many commands of rows run at once; more wait, first in first out. */
const mostRowsCommands = 16;

/** Moves the steps of workflows: begins what is due, goes on listening to what runs, and decides what has ended. */
export class Steps {
  readonly #context: RunsContext;
  readonly #scripts: Scripts;
  readonly #rows = new Places(mostRowsCommands);

  constructor(context: RunsContext) {
    this.#context = context;
    this.#scripts = new Scripts(context, async (ref) => void (await this.move(ref)));
  }

  /**
   * Moves a step on as far as it goes now. Idempotent: whoever calls it again finds nothing left to do. What waits for
   * a command of its rows lasts, until `signal` says that nothing may any longer.
   */
  async move(ref: StepRef, signal: AbortSignal = this.#context.owner.signal): Promise<Lasting | void> {
    const at = await this.#context.store.read(() => stepAt(ref));
    if (!at) return;
    const { state } = at.step;
    switch (state) {
      case 'due':
      case 'backsOff':
        return this.#begin(at, signal);
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

  async #begin(at: StepAt, signal: AbortSignal): Promise<Lasting | void> {
    const { graph, step } = at;
    if (graph.state === 'ended' || graph.isStopping) return;
    if (!hasRowsCommand(step.plan)) return this.#beginNow(at, signal);
    return { lasts: this.#rows.with(signal, () => this.#beginNow(at, signal)) };
  }

  async #beginNow({ graph, step }: StepAt, signal: AbortSignal): Promise<void> {
    const { store, clock, ids } = this.#context;
    const isScript = step.plan.does.type === 'script';
    if (isScript && !this.#scripts.take(step.ref)) return;
    const { ref, moves, retryAt } = step;
    const asked = clock.now();
    // Not before its time: what is decided below owes the wake-up anew.
    const isEarly = retryAt !== null && retryAt > asked;
    const how: Beginning = isEarly
      ? { as: 'launch', launch: {} }
      : await beginningOf(this.#context, graph, step, signal);
    const fresh = new FreshIds(ids);
    reach('step.before');
    const now = isEarly ? asked : clock.now();
    const begun = await store.decide(() => beginStep({ now, ref, moves, how, fresh }));
    reach('step.begun');
    // The clock may have been set back meanwhile: what its command printed is for when its time comes.
    if (!begun.ok || begun.value !== 'notYet') await forgetRows(this.#context, { graph, step });
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
