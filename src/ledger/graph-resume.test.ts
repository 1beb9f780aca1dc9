import { describe, expect, it } from 'vitest';
import { graphOf, stepOf } from '../../test/ledger/workflow.ts';
import type { ExecutionId } from '../base/ids.ts';
import type { FormerGraph } from './graph-resume.ts';
import { refusalOfAgain, resumed } from './graph-resume.ts';
import type { GraphStep, NewGraph } from './graph.ts';
import { stepRef } from './graph.ts';
import type { StepPlan } from './step-plan.ts';

const id = (n: number): ExecutionId => `exe_${String(n).padStart(26, '0')}` as ExecutionId;

/** a → b → d, c → d, and e by itself. */
const plans = [
  stepOf('a'),
  stepOf('b', { needs: ['a'] }),
  stepOf('c'),
  stepOf('d', { needs: ['b', 'c'] }),
  stepOf('e'),
];

/** The steps as they had ended, by name; what has no state had succeeded. */
function ended(ends: Record<string, Partial<GraphStep>> = {}, of: readonly StepPlan[] = plans): GraphStep[] {
  return of.map((plan, index) => ({
    ref: stepRef(id(1), index),
    graphId: id(1),
    index,
    plan,
    dependents: [],
    state: 'succeeded',
    blockedBy: 0,
    failedNeeds: 0,
    deadNeeds: 0,
    tries: 1,
    retryAt: null,
    currentId: id(index + 10),
    programEnd: null,
    result: plan.name,
    outputs: {},
    reason: null,
    reused: null,
    moves: 2,
    ...ends[plan.name],
  }));
}

function former(steps: GraphStep[], of: ExecutionId | null = null): FormerGraph {
  const { steps: _steps, reused: _reused, ...about } = graphOf(plans);
  const counts = {
    left: 0,
    failed: 1,
    state: 'ended',
    outcome: 'failed',
    outcomeCode: 'STEP_FAILED',
  } as const;
  const rest = { error: null, isStopping: false, createdAt: 1, endedAt: 2 };
  return { graph: { ...about, ...counts, ...rest, id: id(1), of }, steps };
}

const reusedNames = ({ steps, reused }: NewGraph): (string | undefined)[] =>
  reused.map(({ index }) => steps[index]?.name);
const failed = { state: 'failed', reason: 'X' } as const;
const skipped = { state: 'skipped', reason: 'upstream', currentId: null } as const;

describe('the next attempt of a workflow', () => {
  it('does not do again what had succeeded', () => {
    const next = resumed(graphOf(plans), former(ended({ b: failed, d: skipped })), null);
    expect(reusedNames(next)).toEqual(['a', 'c', 'e']);
    expect(next.reused[0]).toEqual({ index: 0, executionId: id(10), result: 'a', outputs: {} });
    expect(next.resumes).toBe(id(1));
    expect(next.steps).toEqual(plans);
  });

  it('names the attempt that did the work, however often it was used again since', () => {
    const again = { reused: id(5), currentId: null };
    expect(resumed(graphOf(plans), former(ended({ a: again })), null).reused[0]?.executionId).toBe(id(5));
  });

  it('does all of it where that is asked for, where there was none before, and where it scores something else', () => {
    const given = graphOf(plans);
    expect(resumed(given, former(ended()), { from: null, only: false })).toBe(given);
    expect(resumed(given, undefined, null)).toBe(given);
    expect(resumed(given, former(ended(), id(7)), null)).toBe(given);
  });

  it('does a step again with all that needs it, directly or not', () => {
    const next = resumed(graphOf(plans), former(ended()), { from: 'a', only: false });
    expect(reusedNames(next)).toEqual(['c', 'e']);
    const last = resumed(graphOf(plans), former(ended()), { from: 'd', only: false });
    expect(reusedNames(last)).toEqual(['a', 'b', 'c', 'e']);
  });

  it('does a step again alone: nothing that needs it, and nothing else that had not succeeded', () => {
    const ends = { a: { state: 'skipped', reason: 'condition', currentId: null }, e: failed } as const;
    const next = resumed(graphOf(plans), former(ended(ends)), { from: 'b', only: true });
    expect(next.settings.outputs).toEqual({});
    expect(next.steps.map(({ name, needs }) => [name, needs])).toEqual([
      ['b', []],
      ['c', []],
      ['d', ['b', 'c']],
    ]);
    expect(reusedNames(next)).toEqual(['c', 'd']);
  });
});

describe('a step that is to be done again', () => {
  it('must be one of the workflow; the nearest is named', () => {
    const refused = refusalOfAgain([stepOf('publish'), stepOf('fetch')], [], { from: 'pubish', only: false });
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'from', nearest: 'publish' } });
    expect(refused?.message).toBe('There is no step "pubish" in this workflow; did you mean "publish"?');
    expect(refusalOfAgain(plans, [], { from: 'zzz', only: false })?.message).toBe(
      'There is no step "zzz" in this workflow; its steps are a, b, c, d, e.',
    );
  });

  it('alone needs what it needs', () => {
    const alone = { from: 'd', only: true };
    const refused = refusalOfAgain(plans, ended({ b: failed }), alone);
    expect(refused?.message).toBe('Step "d" needs "b", which did not succeed: rerun from "b" instead.');
    expect(refusalOfAgain(plans, ended(), alone)).toBeUndefined();
    const lenient = plans.map((plan) => ({ ...plan, onFailure: 'continue' as const }));
    expect(refusalOfAgain(lenient, ended({ b: failed }, lenient), alone)).toBeUndefined();
    expect(refusalOfAgain(plans, ended({ b: failed }), { from: 'd', only: false })).toBeUndefined();
  });
});
