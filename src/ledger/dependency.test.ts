import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import { graphOf, stepOf, Workflow } from '../../test/ledger/workflow.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Launch } from './launch.ts';

interface Launching {
  readonly scene: Scene;
  readonly session: SessionId;
  readonly native: string;
  /** The message whose turn runs. */
  readonly id: ExecutionId;
}

async function launching(): Promise<Launching> {
  const scene = new Scene();
  const session = await scene.session();
  return { scene, session, ...(await scene.running(session)) };
}

/** The agent launches a workflow of one step. */
async function workflow(
  { scene, session, native }: Launching,
  given: Partial<Launch> = {},
): Promise<Workflow> {
  const id = await scene.launch(session, native, {
    name: 'nightly',
    key: 'workflow:nightly',
    graph: graphOf([stepOf('a')]),
    ...given,
  });
  return new Workflow(scene, id);
}

/** The agent asks for an evaluation of it. */
function evaluationOf(target: ExecutionId): Partial<Launch> {
  const graph = { ...graphOf([stepOf('score')]), workflow: 'score', of: target };
  return { kind: 'evaluation', name: 'score of nightly', graph, after: target, timeoutMs: 60_000 };
}

async function closes(flow: Workflow): Promise<void> {
  await flow.begin('a');
  await flow.ends('a');
  expect(await flow.settles()).toBe('settled');
  expect(flow.row.closed).toBe(true);
}

describe('an execution that begins when another one is closed', () => {
  it('waits, begins nothing, and its clock stands until then', async () => {
    const started = await launching();
    const flow = await workflow(started);
    const { scene, session, native } = started;
    const evaluation = new Workflow(scene, await scene.launch(session, native, evaluationOf(flow.id)));
    expect(evaluation.row).toMatchObject({
      state: 'running',
      parentId: started.id,
      deadlineAt: null,
      waiting: { for: 'dependency', on: flow.id, text: `nightly (${flow.id}) to be closed` },
    });
    expect(evaluation.wakes('step').has(evaluation.step('score').ref)).toBe(false);
    expect(await evaluation.begin('score')).toBe('stale');
    expect(await scene.do({ rule: 'goOn', command: { now: scene.now, id: evaluation.id } })).toBe(false);
    expect(evaluation.wakes('graph').has(evaluation.id)).toBe(false);
    await closes(flow);
    expect(evaluation.wakes('graph').has(evaluation.id)).toBe(true);
    scene.wait(1000);
    const begun = scene.now;
    const go = (): Promise<boolean> =>
      scene.do({ rule: 'goOn', command: { now: scene.now, id: evaluation.id } });
    expect(await go()).toBe(true);
    expect(evaluation.row).toMatchObject({ waiting: null, startedAt: begun, deadlineAt: begun + 60_000 });
    expect(evaluation.wakes('step').has(evaluation.step('score').ref)).toBe(true);
    expect(await go()).toBe(false);
    expect(await evaluation.begin('score')).toBe('begun');
  });

  it('begins at once when that is closed, whatever it came to', async () => {
    const started = await launching();
    const flow = await workflow(started);
    await flow.cancel('person');
    expect(await flow.settles()).toBe('settled');
    const { scene, session, native } = started;
    const evaluation = new Workflow(scene, await scene.launch(session, native, evaluationOf(flow.id)));
    expect(evaluation.row).toMatchObject({ waiting: null, deadlineAt: evaluation.row.createdAt + 60_000 });
    expect(await evaluation.begin('score')).toBe('begun');
  });

  it('several of them are woken by the one closing', async () => {
    const started = await launching();
    const flow = await workflow(started);
    const { scene, session, native } = started;
    const one = await scene.launch(session, native, evaluationOf(flow.id));
    const two = await scene.launch(session, native, evaluationOf(flow.id));
    await closes(flow);
    expect([...flow.wakes('graph').keys()]).toEqual(expect.arrayContaining([one, two]));
  });

  it('ends without having begun when it is cancelled', async () => {
    const started = await launching();
    const flow = await workflow(started);
    const { scene, session, native } = started;
    const evaluation = new Workflow(scene, await scene.launch(session, native, evaluationOf(flow.id)));
    await evaluation.cancel('person');
    expect(await evaluation.settles()).toBe('settled');
    expect(evaluation.row).toMatchObject({ state: 'cancelled', closed: true });
    await closes(flow);
    expect(await scene.do({ rule: 'goOn', command: { now: scene.now, id: evaluation.id } })).toBe(false);
  });

  it('may be an agent: its messages go out when it begins', async () => {
    const started = await launching();
    const flow = await workflow(started);
    const { scene, session, native } = started;
    const review = await scene.launch(session, native, {
      kind: 'review',
      after: flow.id,
      hosts: {
        session: { ...(await sessionRow(scene)), hostedBy: null },
        runId: scene.model.ids.make('run'),
        plan: planOf(['review it']),
        tells: 'cost',
      },
    });
    const [run] = scene.model.state.snapshot.runs.filter(({ ownerId }) => ownerId === review);
    expect(flow.wakes('run').has(run?.id ?? '')).toBe(false);
    await closes(flow);
    expect(await scene.do({ rule: 'goOn', command: { now: scene.now, id: review } })).toBe(true);
    expect(flow.wakes('run').has(run?.id ?? '')).toBe(true);
  });
});

describe('waiting for oneself', () => {
  it('is refused below what would be waited for', async () => {
    const started = await launching();
    const { scene } = started;
    const flow = await workflow(started);
    await flow.begin('a');
    const caller = { by: 'execution', executionId: flow.attempt('a').id } as const;
    const about = { now: scene.now, id: scene.model.ids.make('execution'), kind: 'evaluation' } as const;
    const command = { ...about, name: 'score', caller, after: flow.id };
    expect(await scene.refused({ rule: 'launch', command })).toBe('WAIT_ON_SELF');
    expect(scene.children(flow.attempt('a').id)).toEqual([]);
  });

  it('is refused by way of what waits already', async () => {
    const started = await launching();
    const { scene, session, native } = started;
    const flow = await workflow(started);
    const evaluation = await scene.launch(session, native, evaluationOf(flow.id));
    await flow.begin('a');
    const caller = { by: 'execution', executionId: flow.attempt('a').id } as const;
    const about = { now: scene.now, id: scene.model.ids.make('execution'), kind: 'evaluation' } as const;
    const command = { ...about, name: 'score', caller, after: evaluation };
    expect(await scene.refused({ rule: 'launch', command })).toBe('WAIT_ON_SELF');
  });

  it('is refused by way of what something below the other waits for', async () => {
    const { scene } = await launching();
    const flows = [
      await Workflow.launch(scene, [stepOf('a')]),
      await Workflow.launch(scene, [stepOf('a')]),
    ] as const;
    for (const flow of flows) await flow.begin('a');
    const asks = (from: Workflow, of: Workflow) => {
      const caller = { by: 'execution', executionId: from.attempt('a').id } as const;
      const about = { now: scene.now, id: scene.model.ids.make('execution'), kind: 'evaluation' } as const;
      return { rule: 'launch', command: { ...about, name: 'score', caller, after: of.id } } as const;
    };
    await scene.do(asks(flows[0], flows[1]));
    expect(await scene.refused(asks(flows[1], flows[0]))).toBe('WAIT_ON_SELF');
  });

  it('is refused where the other waits for the workspace that the run of whoever asks has', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['work']), {}, '/here');
    await scene.advance(run);
    const native = await scene.runs(session);
    const [entry] = planOf(['workflow nightly']);
    if (!entry) throw new Error('no entry');
    const call = {
      workflow: 'nightly',
      group: null,
      graph: graphOf([stepOf('a')]),
      timeoutMs: null,
      budget: null,
    };
    const other = await scene.run(null, [{ ...entry, workflow: call }], {}, '/here');
    await scene.advance(other);
    const target = scene.runRow(other).currentId;
    expect(target && scene.row(target).waiting?.for).toBe('workspace');
    const asks = scene.launching(session, native, { kind: 'review', after: target! });
    expect(await scene.refused(asks)).toBe('WAIT_ON_SELF');
  });

  it('is refused to the agent of a todo step for what its step is part of, whoever wrote to it', async () => {
    const { scene } = await launching();
    const flow = await Workflow.launch(scene, [stepOf('a')]);
    const todo = { agents: {}, generic: true, maxRounds: 10, onChildFailure: 'wait' } as const;
    const row = { ...(await sessionRow(scene)), hostedBy: null };
    const hosts = {
      session: row,
      runId: scene.model.ids.make('run'),
      plan: planOf(['give out']),
      todo,
      tells: 'cost',
    } as const;
    await flow.begin('a', { as: 'launch', launch: { hosts } });
    const { native } = await scene.running(row.id);
    const asks = scene.launching(row.id, native, { kind: 'review', after: flow.id });
    expect(await scene.refused(asks)).toBe('WAIT_ON_SELF');
  });

  it('is refused for the message of the turn itself', async () => {
    const { scene, session, native, id } = await launching();
    const call = scene.launching(session, native, { kind: 'review', after: id });
    expect(await scene.refused(call)).toBe('WAIT_ON_SELF');
  });
});

async function sessionRow(scene: Scene) {
  const id = await scene.session();
  const row = scene.model.state.snapshot.sessions.find((each) => each.id === id);
  if (!row) throw new Error(`no session ${id}`);
  return { ...row, id: scene.model.ids.make('session') };
}
