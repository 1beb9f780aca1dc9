import fc from 'fast-check';
import type { Choice, Choose, Numbers } from './choice.ts';
import {
  agentAsks,
  agentBegins,
  agentDies,
  agentEnds,
  agentTakes,
  agentHearsAPerson,
  agentUses,
  sendFails,
  sessionGoesOn,
  sessionOpens,
  steerIsClaimed,
  steerIsResolved,
  taskBegins,
  taskEnds,
} from './choices/agents.ts';
import {
  backOffIsUnknown,
  checkIsAsked,
  drains,
  personSends,
  programSends,
  runAdvances,
  runBegins,
  runGoesOnAgain,
  runIsCancelled,
  sessionTaken,
} from './choices/messages.ts';
import {
  bookIsKept,
  limitIsDecided,
  limitsChange,
  noticeIsHandled,
  sessionIsStopped,
  treeIsCancelled,
  workIsDetached,
} from './choices/operators.ts';
import {
  agentIsLaunched,
  deadlineIsLookedAt,
  programBeats,
  workEnds,
  workIsLaunched,
} from './choices/programs.ts';
import { wakeFires } from './choices/wakes.ts';
import { runIsGivenUp, runWantsWorkspace } from './choices/workspaces.ts';
import { tell } from './calls.ts';
import type { Model } from './model.ts';

/** What can happen, and how often relative to the rest. */
const choices: readonly (readonly [weight: number, choose: Choose])[] = [
  [40, sessionGoesOn],
  [22, wakeFires],
  [4, personSends],
  [12, workIsLaunched],
  [5, agentIsLaunched],
  [16, workEnds],
  [12, steerIsClaimed],
  [7, agentTakes],
  [3, agentHearsAPerson],
  [4, agentEnds],
  [4, agentBegins],
  [6, agentUses],
  [4, taskBegins],
  [5, taskEnds],
  [2, runBegins],
  [2, runWantsWorkspace],
  [2, runIsGivenUp],
  [3, steerIsResolved],
  [3, treeIsCancelled],
  [2, sendFails],
  [2, agentAsks],
  [2, runAdvances],
  [2, programSends],
  [2, workIsDetached],
  [2, noticeIsHandled],
  [1, sessionTaken],
  [1, agentDies],
  [1, runIsCancelled],
  [1, runGoesOnAgain],
  [4, backOffIsUnknown],
  [1, drains],
  [1, checkIsAsked],
  [1, sessionIsStopped],
  [2, limitIsDecided],
  [3, limitsChange],
  [1, bookIsKept],
  [1, sessionOpens],
  [1, programBeats],
  [1, deadlineIsLookedAt],
];

/** How far the clock moves before a step, in milliseconds: mostly a little, sometimes past a back-off or a deadline. */
const delays: readonly number[] = [
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 500, 1_500, 5_000, 20_000, 100_000, 4_000_000,
];

/** One step of a history: time passes, and one thing happens if there is something it can happen to. */
export class Step implements fc.AsyncCommand<Model, Model, true> {
  readonly #choose: Choose;
  readonly #numbers: Numbers;
  readonly #delayMs: number;
  #next: Choice | undefined;

  constructor(choose: Choose, numbers: Numbers, delayMs: number) {
    this.#choose = choose;
    this.#numbers = numbers;
    this.#delayMs = delayMs;
  }

  async check(model: Readonly<Model>): Promise<boolean> {
    model.clock.advance(this.#delayMs);
    this.#next = model.choose(this.#choose, this.#numbers);
    return this.#next !== undefined;
  }

  async run(model: Model): Promise<void> {
    if (this.#next) await model.play(this.#next);
  }

  toString(): string {
    return this.#next ? tell(this.#next.call) : this.#choose.name;
  }
}

const number = fc.noBias(fc.nat({ max: 839 }));

/** Steps of all kinds; without a bias to small numbers, which would begin every history in the same way. */
const step: fc.Arbitrary<fc.AsyncCommand<Model, Model, true>> = fc
  .tuple(
    fc.oneof(...choices.map(([weight, choose]) => ({ weight, arbitrary: fc.constant(choose) }))),
    number,
    number,
    number,
    number,
    fc.constantFrom(...delays),
  )
  .map(([choose, a, b, c, d, delayMs]) => new Step(choose, { a, b, c, d }, delayMs));

/** Whole histories of up to sixty steps. */
export const history = fc.noBias(fc.commands([step], { maxCommands: 60, size: 'max' }));
