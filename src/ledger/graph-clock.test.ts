import { describe, expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';
import { stepOf, Workflow } from '../../test/ledger/workflow.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Execution } from './execution.ts';

const minute = 60_000;
const sequence = { type: 'sequence', agent: null, cwd: null, foreach: null, messages: [] } as const;
const question = { type: 'human', question: 'Go?', choices: [], declines: [], otherwise: null } as const;

function isDue(scene: Scene, id: ExecutionId): Promise<boolean> {
  return scene.do({ rule: 'nextDeadline', command: { now: scene.now, id } });
}

/** A workflow of ten minutes, with a sequence of five in it whose first message has the lane. */
async function inTurn(scene: Scene): Promise<{ flow: Workflow; session: SessionId; native: string }> {
  const steps = [stepOf('write', { timeoutMs: 5 * minute, does: sequence })];
  const flow = await Workflow.launch(scene, steps, { timeoutMs: 10 * minute });
  const session = await flow.beginAgent('write');
  const run = [...scene.model.state.runs.values()].find(({ sessionId }) => sessionId === session)!;
  await scene.advance(run);
  return { flow, session, native: await scene.runs(session) };
}

const deadlines = (...rows: Execution[]): number[] => rows.map(({ deadlineAt }) => deadlineAt ?? 0);

/** Every decision of a scene takes a millisecond. */
const toSeconds = (ms: number): number => Math.floor(ms / 1000);

describe('the clocks of a workflow and of its steps', () => {
  it('stand still while a message below waits for a usage limit, and go on behind it', async () => {
    const scene = new Scene();
    const { flow, session, native } = await inTurn(scene);
    const before = deadlines(flow.row, flow.attempt('write'));
    const met = scene.now;
    await scene.fails(session, native, { kind: 'capacity', resetsAt: met + 60 * minute });
    scene.wait(30 * minute);
    expect([await isDue(scene, flow.id), await isDue(scene, flow.attempt('write').id)]).toEqual([
      false,
      false,
    ]);
    scene.wait(30 * minute);
    const stood = scene.now - met;
    await scene.lane(session);
    expect(deadlines(flow.row, flow.attempt('write'))).toEqual(before.map((at) => at + stood));
    scene.wait(5 * minute);
    expect([await isDue(scene, flow.id), await isDue(scene, flow.attempt('write').id)]).toEqual([
      false,
      true,
    ]);
  });

  it('go on while its agents work', async () => {
    const scene = new Scene();
    const { flow } = await inTurn(scene);
    scene.wait(5 * minute);
    expect([await isDue(scene, flow.id), await isDue(scene, flow.attempt('write').id)]).toEqual([
      false,
      true,
    ]);
    scene.wait(5 * minute);
    expect(await isDue(scene, flow.id)).toBe(true);
  });

  it('stand still while a step asks a person; the question has a time of its own', async () => {
    const scene = new Scene();
    const steps = [stepOf('ask', { timeoutMs: 60 * minute, does: question })];
    const flow = await Workflow.launch(scene, steps, { timeoutMs: 10 * minute });
    await flow.begin('ask', { as: 'launch', launch: { question: { text: 'Go?', choices: [] } } });
    const [before = 0] = deadlines(flow.row);
    const asked = scene.now;
    scene.wait(30 * minute);
    const { id } = flow.attempt('ask');
    expect([await isDue(scene, flow.id), await isDue(scene, id)]).toEqual([false, false]);
    scene.wait(30 * minute);
    expect(await isDue(scene, id)).toBe(true);
    await scene.do({
      rule: 'answerStep',
      command: { now: scene.now, id, answer: 'yes', fresh: scene.fresh() },
    });
    expect(flow.row.deadlineAt).toBe(before + scene.now - asked);
  });

  it('go on while another branch works, however long one waits for a slot beside it', async () => {
    const { scene, flow, first, second, native } = await twoBranches();
    const before = deadlines(flow.row);
    scene.wait(4 * minute);
    await scene.ends(first, native);
    await slotIsFree(scene, second);
    expect(deadlines(flow.row).map(toSeconds)).toEqual(before.map(toSeconds));
    scene.wait(6 * minute);
    expect(await isDue(scene, flow.id)).toBe(true);
  });

  it('stand still while a slot is waited for and nothing below works, before a branch works and after it', async () => {
    const { scene, flow, first, second, native } = await twoBranches();
    const [before = 0] = deadlines(flow.row);
    scene.wait(2 * minute);
    await scene.ends(first, native);
    // Another one is let in first: for half an hour nothing of the workflow works.
    const other = await scene.session();
    await scene.limit({ turns: 2 });
    const others = await scene.running(other);
    await scene.limit({ turns: 1 });
    scene.wait(30 * minute);
    expect(await isDue(scene, flow.id)).toBe(false);
    await scene.ends(other, others.native);
    await slotIsFree(scene, second);
    expect(deadlines(flow.row).map(toSeconds)).toEqual([toSeconds(before) + 30 * 60]);
  });

  it('have stood still when a branch is let in past one that waits longer, and not while it works', async () => {
    const scene = new Scene();
    await scene.limit({ turns: 3, perAgent: 1 });
    const busy = await scene.session();
    const others = await scene.running(busy);
    const steps = ['one', 'two'].map((name) => stepOf(name, { does: sequence }));
    const flow = await Workflow.launch(scene, steps, { timeoutMs: 10 * minute });
    const waits = await branch(scene, flow, 'one');
    expect(await scene.lane(waits)).toBeUndefined();
    const [before = 0] = deadlines(flow.row);
    scene.wait(30 * minute);
    await scene.limit({ turns: 3 });
    const works = await branch(scene, flow, 'two');
    const native = await scene.runs(works);
    await scene.limit({ turns: 3, perAgent: 1 });
    expect(deadlines(flow.row).map(toSeconds)).toEqual([toSeconds(before) + 30 * 60]);
    scene.wait(5 * minute);
    await scene.ends(works, native);
    await scene.ends(busy, others.native);
    await slotIsFree(scene, waits);
    expect(deadlines(flow.row).map(toSeconds)).toEqual([toSeconds(before) + 30 * 60]);
  });
});

/** A step of a workflow begins, and its first message is in the queue. */
async function branch(scene: Scene, flow: Workflow, name: string): Promise<SessionId> {
  const session = await flow.beginAgent(name);
  const run = [...scene.model.state.runs.values()].find(({ sessionId }) => sessionId === session)!;
  await scene.advance(run);
  return session;
}

/** With one slot: a workflow of ten minutes of which one branch works and another waits for the slot. */
async function twoBranches() {
  const scene = new Scene();
  await scene.limit({ turns: 1 });
  const steps = ['one', 'two'].map((name) => stepOf(name, { does: sequence }));
  const flow = await Workflow.launch(scene, steps, { timeoutMs: 10 * minute });
  const first = await branch(scene, flow, 'one');
  const native = await scene.runs(first);
  const second = await branch(scene, flow, 'two');
  expect(await scene.lane(second)).toBeUndefined();
  expect(scene.model.state.admissions.has(second)).toBe(true);
  return { scene, flow, first, second, native };
}

/** The line is called, and the session takes its lane. */
async function slotIsFree(scene: Scene, session: SessionId): Promise<void> {
  await scene.limit(scene.model.limits);
  expect(await scene.lane(session)).toBeDefined();
}
