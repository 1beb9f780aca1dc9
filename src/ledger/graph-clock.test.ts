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
});
