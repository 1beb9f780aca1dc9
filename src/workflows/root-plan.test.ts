import { describe, expect, it } from 'vitest';
import { graphOf, stepOf } from '../../test/ledger/workflow.ts';
import type { GraphSettings, WorkflowCall } from '../ledger/graph.ts';
import { rootPlan } from './root-plan.ts';

function call(settings: Partial<GraphSettings>, timeoutMs: number | null = null): WorkflowCall {
  const graph = graphOf([stepOf('a')], settings);
  return { workflow: 'nightly', group: null, graph, timeoutMs, budget: null };
}

describe('the plan of a run of a workflow', () => {
  it('gives it the time that the run says, else that of its file, else as long as it takes', () => {
    const timeOf = (said: number | null, asked?: number) =>
      rootPlan(call({}, said), { cwd: '/', timeoutMs: asked })[0]?.workflow?.timeoutMs;
    expect([timeOf(null), timeOf(5000), timeOf(5000, 100), timeOf(null, 100)]).toEqual([
      null,
      5000,
      100,
      100,
    ]);
  });

  it.each([
    ['the directory of its file', { cwd: '/shop', base: '/shop' }, '/shop', '/shop'],
    ['below it', { cwd: '/shop/app', base: '/shop' }, '/shop/app', '/shop'],
    ['a checkout of it', { cwd: '/shop/app', base: '/shop' }, '/data/tree/app', '/data/tree'],
    ['nothing of it', { cwd: '/shop/app', base: '/shop' }, '/data/scratch', '/data/scratch'],
    ['beside it', { cwd: '/other', base: '/shop' }, '/data/tree', '/data/tree'],
  ])('knows where what its steps begin is at home, where it works in %s', (_, settings, cwd, base) => {
    const [entry] = rootPlan(call(settings), { cwd });
    expect(entry?.workflow?.graph.settings).toMatchObject({ cwd, base });
  });
});
