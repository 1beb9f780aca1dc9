import { describe, expect, it } from 'vitest';
import type { ExecutionId } from '../base/ids.ts';
import { Draft } from './decision.ts';
import type { Effect } from './effects.ts';
import type { Execution } from './execution.ts';
import { addGraph } from './graph-begin.ts';
import type { Graph, GraphStep, NewGraph, ReusedStep } from './graph.ts';
import { newExecution } from './registration.ts';
import type { StepPlan, StepProgram } from './step-plan.ts';

const id = 'exe_00000000000000000000000001' as ExecutionId;
const before = 'exe_00000000000000000000000000' as ExecutionId;
const owner = newExecution(5, null, 'none', { id, kind: 'workflow', name: 'nightly' });

function plan(name: string, needs: string[] = [], does?: StepProgram): StepPlan {
  return {
    name,
    needs,
    when: null,
    retry: null,
    timeoutMs: null,
    onFailure: 'stop',
    outputs: {},
    repairs: 0,
    budget: null,
    does: does ?? { type: 'script', run: 'true', env: {}, cwd: null },
  };
}

function graphOf(steps: StepPlan[], reused: ReusedStep[] = []): NewGraph {
  const settings = {
    agent: null,
    cwd: '/work',
    variables: {},
    env: {},
    failFast: false,
    evaluation: null,
    outputs: {},
    timezone: 'UTC',
    instant: 5,
    isFromFile: true,
  };
  const about = { project: 'default', workflow: 'nightly', group: null, inputs: {}, of: null };
  return { ...about, settings, resumes: null, steps, reused };
}

/** A step that succeeded in the workflow before. */
function done(index: number, result: string | null = null): ReusedStep {
  return { index, executionId: before, result, outputs: { n: index } };
}

function begun(given: NewGraph, execution: Execution = owner) {
  const draft = new Draft(5);
  addGraph(draft, execution, given);
  const decision = draft.done(undefined);
  const effects: readonly Effect[] = decision.ok ? decision.effects : [];
  const graph = effects.find((effect) => effect.do === 'insertGraph')?.row as Graph;
  const steps = effects.flatMap((effect) => (effect.do === 'insertGraphStep' ? [effect.row] : []));
  const wakes = effects.flatMap((effect) => (effect.do === 'wake' ? [effect.wake] : []));
  const events = effects.flatMap((effect) => (effect.do === 'event' ? [effect.event.data] : []));
  const states = Object.fromEntries(steps.map((step) => [step.plan.name, step.state]));
  return { graph, steps, states, events, woken: wakes.map((wake) => `${wake.kind}:${wake.target}`) };
}

const at = (steps: readonly GraphStep[], name: string): GraphStep => {
  const found = steps.find((step) => step.plan.name === name);
  if (!found) throw new Error(`no step ${name}`);
  return found;
};

describe('a workflow that begins', () => {
  it('calls the steps that need nothing, and blocks each other one by what it needs', () => {
    const { graph, steps, states, events, woken } = begun(
      graphOf([plan('a'), plan('b', ['a']), plan('c', ['a', 'b', 'a']), plan('d')]),
    );
    expect(states).toEqual({ a: 'due', b: 'blocked', c: 'blocked', d: 'due' });
    expect([at(steps, 'a').dependents, at(steps, 'b').dependents]).toEqual([[1, 2], [2]]);
    expect([at(steps, 'b').blockedBy, at(steps, 'c').blockedBy]).toEqual([1, 2]);
    expect(woken).toEqual([`step:${id}/0`, `step:${id}/3`]);
    expect(graph).toMatchObject({ id, left: 4, failed: 0, state: 'running', createdAt: 5 });
    expect(events).toEqual([{ executionId: id, workflow: 'nightly', state: 'running', outcome: null }]);
  });

  it('calls nothing while its execution waits', () => {
    const waits = { ...owner, waiting: { for: 'workspace', since: 5 } } as const;
    expect(begun(graphOf([plan('a')]), waits)).toMatchObject({ states: { a: 'due' }, woken: [] });
  });

  it('does not do again what had succeeded, and goes on behind it', () => {
    const { graph, steps, states, woken } = begun(
      graphOf(
        [plan('a'), plan('b', ['a']), plan('c', ['a', 'b']), plan('d', ['c'])],
        [done(0, 'x'), done(1)],
      ),
    );
    expect(states).toEqual({ a: 'succeeded', b: 'succeeded', c: 'due', d: 'blocked' });
    expect(at(steps, 'a')).toMatchObject({ reused: before, result: 'x', outputs: { n: 0 }, blockedBy: 0 });
    expect([graph.left, woken]).toEqual([2, [`step:${id}/2`]]);
  });

  it('keeps a success whose need is done again', () => {
    const { states } = begun(graphOf([plan('a'), plan('b', ['a']), plan('c', ['b'])], [done(1), done(2)]));
    expect(states).toEqual({ a: 'due', b: 'succeeded', c: 'succeeded' });
  });

  it('skips what the route of then did not choose, and what only that leads to', () => {
    const cases = { big: ['plan'], small: ['fix'] };
    const route: StepProgram = {
      type: 'route',
      agent: null,
      cwd: null,
      by: { value: 'x' },
      cases,
      otherwise: null,
    };
    const { graph, steps, states } = begun(
      graphOf(
        [
          plan('choose', [], route),
          plan('plan', ['choose']),
          plan('fix', ['choose']),
          plan('after', ['plan']),
          plan('join', ['plan', 'fix']),
        ],
        [done(0, 'small')],
      ),
    );
    expect(states).toEqual({
      choose: 'succeeded',
      plan: 'skipped',
      fix: 'due',
      after: 'skipped',
      join: 'blocked',
    });
    expect([at(steps, 'plan').reason, at(steps, 'after').reason]).toEqual(['notChosen', 'notChosen']);
    expect(at(steps, 'join')).toMatchObject({ blockedBy: 1, deadNeeds: 1 });
    expect(graph.left).toBe(2);
  });

  it('has ended where nothing is left to do', () => {
    const { graph, woken } = begun(graphOf([plan('a')], [done(0)]));
    expect(graph).toMatchObject({ left: 0, state: 'ended', outcome: 'succeeded', endedAt: 5 });
    expect(woken).toEqual([`graph:${id}`]);
  });

  it('is never one whose steps need what is not there', () => {
    expect(() => begun(graphOf([plan('a', ['b'])]))).toThrow('step "a" needs "b", which is no step');
  });

  it('of a thousand steps is made in a time that grows with their number alone', () => {
    const steps = Array.from({ length: 1000 }, (_, n) => plan(`s${n}`, n === 0 ? [] : [`s${n - 1}`, 's0']));
    const { graph, woken } = begun(graphOf(steps));
    expect([graph.left, woken.length]).toEqual([1000, 1]);
  });
});
