import { describe, expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';
import { graphOf, stepOf, Workflow } from '../../test/ledger/workflow.ts';
import type { WorkflowCall } from './graph.ts';
import type { Launch } from './launch.ts';

const scoring = { ...graphOf([stepOf('score')]), workflow: 'score' };
const evaluation: WorkflowCall = {
  workflow: 'score',
  group: null,
  graph: scoring,
  timeoutMs: 60_000,
  budget: null,
};

async function scored(given: Partial<Launch> = {}) {
  const scene = new Scene();
  const session = await scene.session();
  const turn = await scene.running(session);
  const graph = graphOf([stepOf('a')], { evaluation });
  const launched = { name: 'nightly', key: 'workflow:nightly', graph, ...given };
  const flow = new Workflow(scene, await scene.launch(session, turn.native, launched));
  const evaluations = () => scene.children(turn.id).filter(({ kind }) => kind === 'evaluation');
  return { scene, session, turn, flow, evaluations };
}

async function ends({ flow }: Awaited<ReturnType<typeof scored>>, state: 'succeeded' | 'failed') {
  await flow.begin('a');
  await (state === 'failed' ? flow.fails('a') : flow.ends('a'));
  expect(await flow.settles()).toBe('settled');
}

describe('what scores a workflow', () => {
  it('is registered beside it by the decision that closes it, and reports where that does', async () => {
    const tree = await scored();
    const { scene, turn, flow, session, evaluations } = tree;
    await ends(tree, 'succeeded');
    const [row] = evaluations();
    expect(row).toMatchObject({
      name: 'score of nightly',
      key: 'evaluation:score',
      attempt: 1,
      parentId: turn.id,
      parentSource: 'turn',
      reportsTo: session,
      mode: 'each',
      createdAt: flow.row.endedAt,
      deadlineAt: (flow.row.endedAt ?? 0) + 60_000,
    });
    // The message, its workflow's notice, and what scores it.
    expect(scene.row(turn.id).open).toBe(2);
    const of = new Workflow(scene, row!.id);
    expect(of.graph).toMatchObject({ of: flow.id, workflow: 'score' });
    expect(await of.begin('score')).toBe('begun');
  });

  it('scores a failed one too, and the next one as another attempt', async () => {
    const tree = await scored();
    await ends(tree, 'failed');
    const { scene, session, turn, evaluations } = tree;
    const graph = graphOf([stepOf('a')], { evaluation });
    const again = { key: 'workflow:nightly', graph };
    const flow = new Workflow(scene, await scene.launch(session, turn.native, again));
    await ends({ ...tree, flow }, 'succeeded');
    expect(evaluations().map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('is held by whoever holds the workflow', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const first = await scene.running(session);
    const second = await scene.message(session, { whenBusy: 'steer' });
    await scene.takes(session, first.native, (await scene.steer(session))!.id);
    const graph = graphOf([stepOf('a')], { evaluation });
    const flow = new Workflow(scene, await scene.launch(session, first.native, { graph }));
    await flow.begin('a');
    await flow.ends('a');
    const before = scene.row(second).open;
    await flow.settles();
    // Its notice and what scores it instead of itself.
    expect(scene.row(second).open).toBe(before + 1);
  });

  it('is not begun for what was cancelled, nor below what was', async () => {
    const one = await scored();
    await one.flow.begin('a');
    await one.flow.cancel('person');
    await one.flow.programEnds('a', { state: 'cancelled' });
    await one.flow.settles();
    expect(one.flow.row.closed).toBe(true);
    expect(one.evaluations()).toEqual([]);
  });
});
