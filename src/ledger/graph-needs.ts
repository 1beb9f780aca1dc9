import type { GraphStep } from './graph.ts';
import { rules } from './rules.ts';

/** Why a step never begins because of what it needs. */
export interface NeverBegins {
  readonly state: 'skipped';
  readonly reason: 'upstream' | 'notChosen';
}

/** A step as it is when one of what it needs has ended. */
export interface AfterNeed {
  readonly step: GraphStep;
  /** It has come to its end with that. Without one it is blocked still, or due. */
  readonly ends?: NeverBegins;
}

/**
 * What the end of a need does to a blocked step. One that failed for good, or never ran because of such a failure, is missed
 * when all the others have ended; with every need dead by the choice of a route the step is dead too.
 */
export function afterNeed(step: GraphStep, need: GraphStep): AfterNeed {
  if (isOfOtherCase(step, need)) return { step, ends: { state: 'skipped', reason: 'notChosen' } };
  const isMissed = isBad(need) || isSkippedByFailure(need);
  const isDead = need.state === 'skipped' && need.reason === 'notChosen';
  const now: GraphStep = {
    ...step,
    blockedBy: step.blockedBy - 1,
    failedNeeds: step.failedNeeds + (isMissed ? 1 : 0),
    deadNeeds: step.deadNeeds + (isDead ? 1 : 0),
  };
  if (now.blockedBy > 0 && rules.stepNeeds) return { step: now };
  if (now.failedNeeds > 0) return { step: now, ends: { state: 'skipped', reason: 'upstream' } };
  const isAllDead = now.deadNeeds > 0 && now.deadNeeds === new Set(now.plan.needs).size;
  return isAllDead ? { step: now, ends: { state: 'skipped', reason: 'notChosen' } } : { step: now };
}

/** Whether it fails what needs it, and the whole. */
export function isBad({ state, plan }: Pick<GraphStep, 'state' | 'plan'>): boolean {
  return (state === 'failed' || state === 'cancelled') && plan.onFailure !== 'continue';
}

function isSkippedByFailure({ state, reason }: GraphStep): boolean {
  return state === 'skipped' && (reason === 'upstream' || reason === 'failFast') && rules.stepMissed;
}

/** Whether the step only runs in cases of a route of which another one was chosen, or none. */
function isOfOtherCase(step: GraphStep, route: GraphStep): boolean {
  const { does } = route.plan;
  if (does.type !== 'route') return false;
  const isOf = (names: readonly string[]): boolean => names.includes(step.plan.name);
  if (!Object.values(does.cases).some(isOf)) return false;
  if (route.state === 'succeeded') return !isOf(does.cases[route.result ?? ''] ?? []);
  // It chose nothing, and what needs it goes on all the same: but none of its cases.
  const isPassed = route.state === 'skipped' ? route.reason === 'condition' : !isBad(route);
  return isPassed;
}
