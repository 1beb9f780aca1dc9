import { describe, expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';
import { graphOf, stepOf, Workflow } from '../../test/ledger/workflow.ts';

const after = (name: string, ...needs: string[]) => stepOf(name, { needs });

it('an attempt of a step is not detached: the workflow waits for its end', async () => {
  const scene = new Scene();
  const flow = await Workflow.launch(scene, [stepOf('a')]);
  await flow.begin('a');
  const command = { now: scene.now, id: flow.attempt('a').id, actor: { kind: 'person' } } as const;
  expect(await scene.refused({ rule: 'detach', command })).toBe('ILLEGAL_STATE');
});

describe('a workflow within a workflow', () => {
  const inner = [stepOf('x'), after('y', 'x')];
  const call = { workflow: 'nightly', group: 'eu', timeoutMs: null, budget: null };
  const launch = (steps: readonly ReturnType<typeof stepOf>[]) =>
    ({
      as: 'launch',
      launch: { workflow: { ...call, graph: { ...graphOf(steps), group: 'eu' } } },
    }) as const;
  const nested = stepOf('again', {
    does: { type: 'workflow', workflow: 'nightly', group: 'eu', inputs: {} },
    retry: { max: 1, backoffMs: 0 },
  });

  /** Its first attempt: `x` went well, `y` did not. */
  const failedOnce = async (scene: Scene, flow: Workflow): Promise<void> => {
    await flow.begin('again', launch(inner));
    const first = new Workflow(scene, flow.attempt('again').id);
    await first.begin('x');
    await first.ends('x', { outputs: { n: 1 } });
    await first.begin('y');
    await first.fails('y');
    await first.settles();
    await flow.decides('again');
  };

  it('that is tried again does not do again what had succeeded', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [nested]);
    await failedOnce(scene, flow);
    expect(flow.states).toEqual({ again: 'backsOff' });
    await flow.begin('again', launch(inner));
    const second = new Workflow(scene, flow.attempt('again').id);
    expect(second.states).toEqual({ x: 'succeeded', y: 'due' });
    expect(second.step('x')).toMatchObject({ outputs: { n: 1 } });
  });

  it('goes on in the run that resumes the whole', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('again', { does: nested.does })]);
    await failedOnce(scene, flow);
    await flow.settles();
    const resumes = { ...graphOf([stepOf('again', { does: nested.does })]), resumes: flow.id };
    const next = await Workflow.launch(scene, [], { graph: resumes });
    await next.begin('again', launch(inner));
    expect(new Workflow(scene, next.attempt('again').id).states).toEqual({ x: 'succeeded', y: 'due' });
  });

  it('that is another one by now begins anew', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [nested]);
    await failedOnce(scene, flow);
    const { graph } = launch(inner).launch.workflow;
    const other = { ...call, graph: { ...graph, group: 'us' } };
    await flow.begin('again', { as: 'launch', launch: { workflow: other } });
    expect(new Workflow(scene, flow.attempt('again').id).states).toEqual({ x: 'due', y: 'blocked' });
  });
});
