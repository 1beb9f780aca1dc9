import { expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';
import { graphOf, stepOf, Workflow } from '../../test/ledger/workflow.ts';
import type { Launched } from './launch.ts';
import { keyOfStep, keyOfWorkflow } from './running-step.ts';

const fix = { workflow: 'nightly', group: null, step: 'fix' };
const alone = { kind: 'step', key: keyOfStep(fix), graph: graphOf([stepOf('fix')]), joins: fix } as const;

async function launching() {
  const scene = new Scene();
  const session = await scene.session();
  const turn = await scene.running(session);
  const launch = (given: object): Promise<Launched> => scene.do(scene.launching(session, turn.native, given));
  return { scene, session, launch, ...turn };
}

it('a step that runs alone is answered instead of a second one; when it has ended there is another attempt', async () => {
  const { scene, launch } = await launching();
  const one = await launch(alone);
  const two = await launch(alone);
  expect([two.execution.id, two.isNew]).toEqual([one.execution.id, false]);
  const flow = new Workflow(scene, one.execution.id);
  await flow.begin('fix');
  await flow.ends('fix');
  await flow.settles();
  const three = await launch(alone);
  expect(three.execution).toMatchObject({ attempt: 2, key: 'step:nightly/fix' });
});

it('a step that runs within its workflow is answered, not one that has not begun', async () => {
  const { scene, launch } = await launching();
  const graph = graphOf([stepOf('fix'), stepOf('other', { needs: ['fix'] })]);
  const { execution } = await launch({ key: keyOfWorkflow(fix), graph });
  const flow = new Workflow(scene, execution.id);
  expect(
    (await launch({ ...alone, joins: { ...fix, step: 'other' }, key: 'step:nightly/other' })).isNew,
  ).toBe(true);
  await flow.begin('fix');
  expect((await launch(alone)).execution.id).toBe(flow.attempt('fix').id);
});

it('a step of one group is found in the workflow that runs for all of them', async () => {
  const { scene, launch } = await launching();
  const eu = stepOf('eu', { does: { type: 'workflow', workflow: 'nightly', group: 'eu', inputs: {} } });
  const { execution } = await launch({ key: keyOfWorkflow(fix), graph: graphOf([eu]) });
  const flow = new Workflow(scene, execution.id);
  const graph = { ...graphOf([stepOf('fix')]), group: 'eu' };
  const workflow = { workflow: 'nightly', group: 'eu', graph, timeoutMs: null, budget: null };
  await flow.begin('eu', { as: 'launch', launch: { workflow } });
  const inner = new Workflow(scene, flow.attempt('eu').id);
  await inner.begin('fix');
  const joins = { ...fix, group: 'eu' };
  const found = await launch({ ...alone, key: keyOfStep(joins), joins });
  expect(found.execution.id).toBe(inner.attempt('fix').id);
  const us = { ...fix, group: 'us' };
  expect((await launch({ ...alone, key: keyOfStep(us), joins: us })).isNew).toBe(true);
});

it('what is being cancelled is not joined, nor what runs for another session', async () => {
  const { scene, launch } = await launching();
  const one = await launch(alone);
  const session = await scene.session();
  const { native } = await scene.running(session);
  const other = await scene.do<Launched>(scene.launching(session, native, alone));
  expect(other.execution.id).not.toBe(one.execution.id);
  const flow = new Workflow(scene, one.execution.id);
  await flow.begin('fix');
  await flow.cancel('person');
  const again = await launch(alone);
  expect(again.execution).toMatchObject({ attempt: 2 });
});
