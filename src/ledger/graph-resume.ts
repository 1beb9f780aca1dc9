import { findNearest } from '../base/nearest.ts';
import type { Refusal } from './decision.ts';
import { refuse } from './decision.ts';
import { isBad } from './graph-needs.ts';
import type { DoneAgain, Graph, GraphStep, NewGraph, ReusedStep } from './graph.ts';
import type { StepPlan } from './step-plan.ts';

/** A workflow as far as it came. */
export interface FormerGraph {
  readonly graph: Graph;
  readonly steps: readonly GraphStep[];
}

/** Why a workflow cannot be done again so, if so. `former` is the attempt before, if there was one. */
export function refusalOfAgain(
  steps: readonly StepPlan[],
  former: readonly GraphStep[],
  again: DoneAgain,
): Refusal | undefined {
  if (again.from === null) return undefined;
  const step = steps.find(({ name }) => name === again.from);
  if (!step) return refusalOfName(steps, again.from);
  if (!again.only) return undefined;
  const missed = step.needs.find((need) => !former.some((row) => row.plan.name === need && mayFollow(row)));
  if (missed === undefined) return undefined;
  const message = `Step "${step.name}" needs "${missed}", which did not succeed: rerun from "${missed}" instead.`;
  return refuse('INVALID_INPUT', message, { field: 'from', step: step.name, needs: missed });
}

/** There is no such step. */
export function refusalOfName(steps: readonly StepPlan[], name: string): Refusal {
  const names = steps.map((step) => step.name);
  const nearest = findNearest(name, names);
  const hint = nearest === undefined ? `its steps are ${names.join(', ')}.` : `did you mean "${nearest}"?`;
  const data = { field: 'from', ...(nearest === undefined ? {} : { nearest }) };
  return refuse('INVALID_INPUT', `There is no step "${name}" in this workflow; ${hint}`, data);
}

/**
 * The program of the next attempt. What had succeeded in the former one is not done again, but for what `again` names: a step
 * and all that needs it, or that step alone, without any other that had not succeeded; null: nothing is named. An evaluation
 * of something else begins anew.
 */
export function resumed(given: NewGraph, former: FormerGraph | undefined, again: DoneAgain | null): NewGraph {
  const isWhole = again !== null && again.from === null;
  if (!former || isWhole || former.graph.of !== given.of) return given;
  const rows = new Map(former.steps.map((row) => [row.plan.name, row]));
  const anew = again?.from
    ? again.only
      ? new Set([again.from])
      : withDependents(given.steps, again.from)
    : none;
  const steps = again?.only ? keptBeside(given.steps, rows, anew) : given.steps;
  const reused = steps.flatMap(({ name }, index) => {
    const row = rows.get(name);
    return row && !anew.has(name) ? reusedOf(row, index) : [];
  });
  // What the whole gives may be made of steps that were left out.
  const settings = again?.only ? { ...given.settings, outputs: {} } : given.settings;
  return { ...given, settings, steps, reused, resumes: former.graph.id };
}

const none: ReadonlySet<string> = new Set();

/** A step without an attempt is one that costs nothing: it is looked at again. */
function reusedOf(row: GraphStep, index: number): ReusedStep[] {
  const executionId = row.reused ?? row.currentId;
  if (row.state !== 'succeeded' || executionId === null) return [];
  return [{ index, executionId, result: row.result, outputs: row.outputs }];
}

/** A step and everything that needs it, directly or not. */
function withDependents(steps: readonly StepPlan[], from: string): Set<string> {
  const dependents = new Map<string, string[]>();
  for (const { name, needs } of steps)
    for (const need of needs) dependents.set(need, [...(dependents.get(need) ?? []), name]);
  const found = new Set([from]);
  // A set is walked in the order of insertion, also over what is added meanwhile.
  for (const name of found) for (const dependent of dependents.get(name) ?? []) found.add(dependent);
  return found;
}

/** The steps named, with those that had succeeded; what else they need is left out. */
function keptBeside(
  steps: readonly StepPlan[],
  rows: ReadonlyMap<string, GraphStep>,
  named: ReadonlySet<string>,
): StepPlan[] {
  const kept = new Set(
    steps.map(({ name }) => name).filter((name) => named.has(name) || rows.get(name)?.state === 'succeeded'),
  );
  return steps
    .filter(({ name }) => kept.has(name))
    .map((step) => ({ ...step, needs: step.needs.filter((need) => kept.has(need)) }));
}

/** Whether what needs it may begin, now that it has ended so. */
function mayFollow(row: GraphStep): boolean {
  const isSkipped = row.state === 'skipped' && row.reason === 'condition';
  return row.state === 'succeeded' || isSkipped || (row.state === 'failed' && !isBad(row));
}
