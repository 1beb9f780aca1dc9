import type { Execution } from '../../src/ledger/execution.ts';
import type { FlowStep as MadeStep } from './flows.ts';

/**
 * What a workflow should come to, worked out from how the attempts of its steps really ended and from nothing that the ledger says of
 * steps and of the whole.
 */

/** What of a step says what it should come to. */
type FlowStep = Pick<MadeStep, 'plan' | 'says' | 'hasSucceeded'> & {
  readonly ends: ReadonlyMap<string, 'succeeded' | 'failed'>;
};

/** Failures that another attempt would not mend. */
const final: readonly (string | null)[] = ['BUDGET', 'CAPACITY', 'SIGNED_OUT'];

/** `missed`: something that it needs failed. `dead`: a route chose something else. `none`: its condition does not hold. */
type Fate = 'good' | 'bad' | 'missed' | 'dead' | 'none';

/** The attempts of a step in one workflow, in order; undefined: it was not done again, because it had succeeded before. */
export type AttemptsOf = (step: Pick<FlowStep, 'plan'>) => readonly Execution[] | undefined;

/** How a workflow should end, and what is wrong with one of its steps. */
export interface Expected {
  readonly state: 'succeeded' | 'failed';
  readonly wrong: string | undefined;
  readonly why: string;
}

/** `isStopped`: it ends everything when one of its steps has failed, and one has. */
export function expectedOf(
  { steps }: { readonly steps: readonly FlowStep[] },
  attemptsOf: AttemptsOf,
  isStopped: boolean,
): Expected {
  const fates = new Map<string, Fate>();
  let wrong: string | undefined;
  for (const step of steps) {
    const { name } = step.plan;
    const attempts = attemptsOf(step);
    const before = attempts === undefined ? undefined : fateByNeeds(step, steps, fates);
    const isNone = before === undefined && step.plan.when === 'false';
    const why = attempts && whyWrong(step, attempts, before, isStopped);
    if (why) wrong ??= `step ${name} ${why}`;
    fates.set(name, before ?? (isNone ? 'none' : fateOf(step, attempts)));
  }
  const bad = [...fates].filter(([, fate]) => fate === 'bad').map(([name]) => name);
  return {
    state: bad.length === 0 ? 'succeeded' : 'failed',
    wrong,
    why: bad.join(', ') || 'all went well',
  };
}

/** What becomes of a step because of what it needs, if it never begins. */
function fateByNeeds(
  { plan }: FlowStep,
  steps: readonly FlowStep[],
  fates: ReadonlyMap<string, Fate>,
): Fate | undefined {
  const needs = steps.filter((other) => plan.needs.includes(other.plan.name));
  const fateOfNeed = (need: FlowStep): Fate => fates.get(need.plan.name) ?? 'good';
  if (needs.some((need) => isOfOtherCase(plan.name, need, fateOfNeed(need)))) return 'dead';
  const all = needs.map(fateOfNeed);
  if (all.some((fate) => fate === 'bad' || fate === 'missed')) return 'missed';
  return all.length > 0 && all.every((fate) => fate === 'dead') ? 'dead' : undefined;
}

function isOfOtherCase(name: string, need: FlowStep, fate: Fate): boolean {
  const { does } = need.plan;
  if (does.type !== 'route' || !Object.values(does.cases).some((names) => names.includes(name))) return false;
  if (fate === 'bad' || fate === 'missed' || fate === 'dead') return false;
  const chosen = fate === 'none' || !need.hasSucceeded ? undefined : chosenBy(need);
  return chosen === undefined || !(does.cases[chosen]?.includes(name) ?? false);
}

/** The case that a route comes to, by what it or its agent says; undefined: none. */
function chosenBy({ plan: { does }, says }: FlowStep): string | undefined {
  if (does.type !== 'route') return undefined;
  const said = 'value' in does.by ? does.by.value : says;
  return said in does.cases ? said : (does.otherwise ?? undefined);
}

function hasSucceeded(step: FlowStep, { state }: Execution): boolean {
  return state === 'succeeded' && (step.plan.does.type !== 'route' || chosenBy(step) !== undefined);
}

function fateOf(step: FlowStep, attempts: readonly Execution[] | undefined): Fate {
  const last = attempts?.at(-1);
  step.hasSucceeded = attempts === undefined || (last !== undefined && hasSucceeded(step, last));
  if (attempts === undefined) return 'good';
  if (!last) return 'missed';
  return step.hasSucceeded || step.plan.onFailure === 'continue' ? 'good' : 'bad';
}

/** What is wrong with the attempts of a step, given what becomes of it by what it needs. */
function whyWrong(
  step: FlowStep,
  attempts: readonly Execution[],
  before: Fate | undefined,
  isStopped: boolean,
): string | undefined {
  const { plan } = step;
  if (before === 'missed') return attempts.length > 0 ? 'ran, although what it needs had failed' : undefined;
  if (before === 'dead') return attempts.length > 0 ? 'ran, although it was not chosen' : undefined;
  if (plan.when === 'false')
    return attempts.length > 0 ? 'ran, although its condition did not hold' : undefined;
  const last = attempts.at(-1);
  if (!last) return isStopped ? undefined : 'never ran';
  const most = 1 + (plan.retry?.max ?? 0);
  if (attempts.length > most) return `ran ${attempts.length} times, of ${most} at most`;
  const early = attempts.slice(0, -1).find((row) => hasSucceeded(step, row) || row.state === 'cancelled');
  if (early) return `was tried again after it had ${early.state}`;
  const isFinal = final.includes(last.error?.code ?? null);
  const hasFailed = last.state === 'failed' || (last.state === 'succeeded' && !hasSucceeded(step, last));
  if (attempts.length < most && hasFailed && !isFinal && !isStopped)
    return `was not tried again after attempt ${last.attempt} had failed`;
  return plan.does.type === 'script' && !isStopped ? whyUntrue(step, attempts) : undefined;
}

/** Whether the ledger says of a script something else than what it came to. */
function whyUntrue({ ends }: FlowStep, attempts: readonly Execution[]): string | undefined {
  // A deadline may come before the script has begun, or when only what it has begun is alive.
  const wrong = attempts.find(
    ({ id, state, error }) =>
      error?.code !== 'TIMED_OUT' && ends.get(id) !== (state === 'succeeded' ? 'succeeded' : 'failed'),
  );
  return wrong && `says ${wrong.state} of attempt ${wrong.attempt}; its script ${ends.get(wrong.id)}`;
}
