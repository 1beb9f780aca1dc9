import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import { graphOf, stepOf, Workflow } from '../../test/ledger/workflow.ts';
import type { NewGraph } from './graph.ts';
import type { PlannedMessage, Run } from './session.ts';
import type { StepPlan } from './step-plan.ts';

const steps = [stepOf('a'), stepOf('b', { needs: ['a'] }), stepOf('c', { needs: ['b'] })];
const here = '/repository';

/** An entry of a plan that is a workflow of these steps. */
function entry(
  of: readonly StepPlan[] = steps,
  given: Partial<PlannedMessage> = {},
  graph: Partial<NewGraph> = {},
): PlannedMessage {
  const timeoutMs = given.timeoutMs ?? null;
  const call = { workflow: 'nightly', group: 'eu', timeoutMs, budget: null };
  const [text] = planOf(['workflow nightly (eu)'], given);
  if (!text) throw new Error('no entry');
  return { ...text, workflow: { ...call, graph: { ...graphOf(of), group: 'eu', ...graph } } };
}

/** What a run has sent last. */
const current = (scene: Scene, run: Run): Workflow => new Workflow(scene, scene.runRow(run).currentId!);

/** The steps of a workflow end, the last named one as failed if it is said, and the whole settles. */
async function work(flow: Workflow, names: readonly string[], fails?: string): Promise<void> {
  for (const name of names) {
    await flow.begin(name);
    await (name === fails ? flow.fails(name) : flow.ends(name, { result: `${name} done` }));
  }
  await flow.settles();
}

/** A run whose workflow has failed at its second step. */
async function failedRun(scene: Scene, plan = [entry()]): Promise<Run> {
  const run = await scene.run(null, plan);
  await scene.advance(run);
  await work(current(scene, run), ['a', 'b'], 'b');
  await scene.advance(run);
  return run;
}

describe('a run without a session', () => {
  it('sends a workflow as a root, and ends with it', async () => {
    const scene = new Scene();
    const run = await scene.run(null, [entry(steps, { timeoutMs: 5000, budget: { tokens: 9 } })]);
    expect(await scene.advance(run)).toBe('sent');
    const flow = current(scene, run);
    expect(flow.row).toMatchObject({
      kind: 'workflow',
      name: 'nightly (eu)',
      parentId: null,
      runId: run.id,
      runIndex: 0,
      attempt: 1,
      wakeOnClose: `run:${run.id}`,
      timeoutMs: 5000,
      budget: { tokens: 9 },
      waiting: null,
    });
    expect(flow.row.deadlineAt).toBe(flow.row.startedAt! + 5000);
    expect([...flow.wakes('deadline').keys()]).toEqual([flow.id]);
    expect([...flow.wakes('step').keys()]).toEqual([flow.step('a').ref]);
    expect(await scene.advance(run)).toBe('notYet');
    await work(flow, ['a', 'b', 'c']);
    expect(flow.row.closed).toBe(true);
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ state: 'ended', outcome: 'succeeded', sessionId: null });
  });

  it('has failed with its workflow, and says so', async () => {
    const scene = new Scene();
    const run = await failedRun(scene);
    expect(scene.runRow(run)).toMatchObject({ outcome: 'failed', outcomeCode: 'STEP_FAILED' });
    const told = scene.model.state.snapshot.notifications.map(({ transition, runId }) => [transition, runId]);
    expect(told).toEqual([['failed', run.id]]);
  });

  it('is cancelled with its workflow, and sends nothing more', async () => {
    const scene = new Scene();
    const run = await scene.run(null, [entry(), entry()]);
    await scene.advance(run);
    const flow = current(scene, run);
    await scene.cancelRun(run.id);
    expect(flow.states).toEqual({ a: 'cancelled', b: 'cancelled', c: 'cancelled' });
    await flow.settles();
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'cancelled', cursor: 1 });
  });

  it('evaluates a workflow that has failed too, and comes to what that came to', async () => {
    const scene = new Scene();
    const run = await scene.run(null, [entry(), entry([stepOf('score')])]);
    await scene.advance(run);
    const scored = current(scene, run);
    await work(scored, ['a'], 'a');
    expect(await scene.advance(run)).toBe('sent');
    const evaluation = current(scene, run);
    expect(evaluation.row).toMatchObject({ kind: 'evaluation', parentId: null, runIndex: 1 });
    expect(evaluation.graph.of).toBe(scored.id);
    await work(evaluation, ['score']);
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'failed', outcomeCode: 'STEP_FAILED', cursor: 2 });
    // It is the workflow that goes on then, and it is evaluated anew.
    await scene.do({ rule: 'resumeRun', command: { now: scene.now, id: run.id } });
    expect(scene.runRow(run).cursor).toBe(0);
    await scene.advance(run);
    await work(current(scene, run), ['a', 'b', 'c']);
    expect(await scene.advance(run)).toBe('sent');
    expect(current(scene, run).states).toEqual({ score: 'due' });
  });

  it('has failed where its inputs cannot be filled in, and asks for them first', async () => {
    const scene = new Scene();
    const given = entry(steps, { templates: true }, { inputs: { day: '{{date}}', n: 3 } });
    const run = await scene.run(null, [given]);
    expect(await scene.advance(run)).toBe('needsText');
    expect(await scene.advance(run, 0, { inputs: { ok: true, inputs: { day: '2026-01-01', n: 3 } } })).toBe(
      'sent',
    );
    expect(current(scene, run).graph.inputs).toEqual({ day: '2026-01-01', n: 3 });
    const other = await scene.run(null, [given]);
    await scene.advance(other, 0, { inputs: { ok: false, message: 'no file gone' } });
    const error = { code: 'TEMPLATE_FAILED', message: 'no file gone' };
    expect(current(scene, other).row).toMatchObject({ state: 'failed', closed: true, error });
  });

  it('tries again only what had not succeeded, when its back-off is over', async () => {
    const scene = new Scene();
    const run = await scene.run(null, [entry(steps, { retry: { max: 1, backoffMs: 100 } })]);
    await scene.advance(run);
    const first = current(scene, run);
    await work(first, ['a', 'b'], 'b');
    expect(await scene.advance(run)).toBe('backsOff');
    scene.wait(100);
    expect(await scene.advance(run)).toBe('sent');
    const again = current(scene, run);
    expect(again.row.attempt).toBe(2);
    expect(again.graph).toMatchObject({ resumes: first.id, left: 2 });
    expect(again.step('a')).toMatchObject({ reused: first.attempt('a').id, result: 'a done' });
    expect(again.states).toEqual({ a: 'succeeded', b: 'due', c: 'blocked' });
  });
});

describe('a workflow run that has ended', () => {
  it('is resumed where it failed', async () => {
    const scene = new Scene();
    const run = await failedRun(scene);
    await scene.do({ rule: 'resumeRun', command: { now: scene.now, id: run.id } });
    expect(await scene.advance(run)).toBe('sent');
    const again = current(scene, run);
    expect(again.states).toEqual({ a: 'succeeded', b: 'due', c: 'blocked' });
    await work(again, ['b', 'c']);
    await scene.advance(run);
    expect(scene.runRow(run)).toMatchObject({ outcome: 'succeeded' });
    expect(await scene.refused({ rule: 'resumeRun', command: { now: scene.now, id: run.id } })).toBe(
      'ILLEGAL_STATE',
    );
  });

  it.each([
    ['all of it', { from: 0 }, { a: 'due', b: 'blocked', c: 'blocked' }],
    ['a step and what needs it', { from: 'b' }, { a: 'succeeded', b: 'due', c: 'blocked' }],
    ['a step alone', { from: 'b', only: true }, { a: 'succeeded', b: 'due', c: 'succeeded' }],
  ] as const)('is done again: %s', async (_, how, states) => {
    const scene = new Scene();
    const run = await scene.run(null, [entry()]);
    await scene.advance(run);
    await work(current(scene, run), ['a', 'b', 'c']);
    await scene.advance(run);
    await scene.do({ rule: 'rerun', command: { now: scene.now, id: run.id, ...how } });
    expect(await scene.advance(run)).toBe('sent');
    expect(current(scene, run).states).toEqual(states);
    expect(current(scene, run).row.attempt).toBe(2);
    // What was asked for holds for this attempt, not for those behind it.
    expect(scene.runRow(run).again).toBeNull();
  });

  it('is not done again from what is no step of it', async () => {
    const scene = new Scene();
    const run = await failedRun(scene);
    const refusal = (from: string | number, only = false): Promise<string> =>
      scene.refused({ rule: 'rerun', command: { now: scene.now, id: run.id, from, only } });
    expect(await refusal('d')).toBe('INVALID_INPUT');
    expect(await refusal('c', true)).toBe('INVALID_INPUT');
    expect(await refusal(0, true)).toBe('INVALID_INPUT');
    expect(await refusal(1)).toBe('INVALID_INPUT');
    const session = await scene.session();
    const messages = await scene.run(session, planOf(['one']));
    await scene.cancelRun(messages.id);
    await scene.advance(messages);
    const command = { now: scene.now, id: messages.id, from: 'a' };
    expect(await scene.refused({ rule: 'rerun', command })).toBe('INVALID_INPUT');
  });
});

describe('a workspace that a workflow must have alone', () => {
  it('is waited for without a clock, and when it is free its steps begin', async () => {
    const scene = new Scene();
    const first = await scene.run(null, [entry()], {}, here);
    const second = await scene.run(null, [entry(steps, { timeoutMs: 1000 })], {}, here);
    await scene.advance(first);
    await scene.advance(second);
    const waits = current(scene, second);
    const text = `the workspace ${here} is held by ${first.id}`;
    expect(waits.row).toMatchObject({ waiting: { for: 'workspace', text }, deadlineAt: null });
    expect(scene.why(waits.id)).toMatchObject([{ evidence: `waits for workspace: ${text}` }]);
    expect(waits.wakes('step').has(waits.step('a').ref)).toBe(false);
    scene.wait(5000);
    expect(await scene.advance(second)).toBe('notYet');
    await work(current(scene, first), ['a', 'b', 'c']);
    await scene.advance(first);
    expect(waits.wakes('run').get(second.id)).toBe(0);
    expect(await scene.advance(second)).toBe('begun');
    expect(waits.row).toMatchObject({ waiting: null, deadlineAt: waits.row.startedAt! + 1000 });
    expect(waits.wakes('step').has(waits.step('a').ref)).toBe(true);
    expect(await scene.advance(second)).toBe('notYet');
    await work(waits, ['a', 'b', 'c']);
    expect(await scene.advance(second)).toBe('ended');
  });

  it('goes to the next in line when one that waits is cancelled, and between runs with and without a session', async () => {
    const scene = new Scene();
    const first = await scene.run(null, [entry()], {}, here);
    const second = await scene.run(null, [entry()], {}, here);
    const session = await scene.session();
    const third = await scene.run(session, planOf(['one']), {}, here);
    await scene.advance(first);
    await scene.advance(second);
    await scene.advance(third);
    expect(await scene.lane(session)).toBeUndefined();
    await scene.cancelRun(second.id);
    const cancelled = current(scene, second);
    await work(current(scene, first), ['a', 'b', 'c']);
    await scene.advance(first);
    expect(await scene.advance(second)).toBe('notYet');
    await cancelled.settles();
    expect(await scene.advance(second)).toBe('ended');
    expect(cancelled.row).toMatchObject({ state: 'cancelled', closed: true });
    expect(await scene.lane(session)).toBeDefined();
  });
});
