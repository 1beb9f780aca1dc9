import { describe, expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';
import { stepOf, Workflow } from '../../test/ledger/workflow.ts';

const after = (name: string, ...needs: string[]) => stepOf(name, { needs });

describe('a route', () => {
  const route = {
    type: 'route',
    by: { value: '{{inputs.size}}' },
    cases: { big: ['plan', 'both'], small: ['fix', 'both'] },
    otherwise: null,
    agent: null,
    cwd: null,
  } as const;
  const steps = [
    stepOf('choose', { does: route }),
    after('plan', 'choose'),
    after('fix', 'choose'),
    after('both', 'choose'),
    after('deep', 'plan'),
    after('join', 'plan', 'fix'),
    after('always', 'choose'),
  ];

  it.each([
    ['is skipped by its condition', { as: 'skip' }],
    ['fails, and what needs it goes on', { as: 'fail', error: { code: 'X', message: 'x' } }],
  ] as const)('that %s has chosen none of its cases', async (_, how) => {
    const scene = new Scene();
    const lenient = stepOf('choose', { does: route, onFailure: 'continue' });
    const flow = await Workflow.launch(scene, [lenient, ...steps.slice(1)]);
    await flow.begin('choose', how);
    if (how.as === 'fail') await flow.decides('choose');
    const { choose: _choose, ...others } = flow.states;
    expect(others).toEqual({
      plan: 'skipped: notChosen',
      fix: 'skipped: notChosen',
      both: 'skipped: notChosen',
      deep: 'skipped: notChosen',
      join: 'skipped: notChosen',
      always: 'due',
    });
  });

  it('lets only the steps of the case that was chosen run; what joins the ways goes on', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, steps);
    await flow.begin('choose', {
      as: 'end',
      end: { state: 'succeeded', result: 'small', error: null, outputs: {} },
    });
    await flow.decides('choose');
    expect(flow.states).toEqual({
      choose: 'succeeded',
      plan: 'skipped: notChosen',
      fix: 'due',
      both: 'due',
      deep: 'skipped: notChosen',
      join: 'blocked',
      always: 'due',
    });
    await flow.begin('fix');
    await flow.ends('fix');
    expect(flow.states['join']).toBe('due');
  });

  it('takes what an agent answered last for its choice, and fails where that is none', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, steps);
    await flow.begin('choose');
    await flow.ends('choose', { result: 'It is large.\n\n**Big**\n' });
    expect(flow.step('choose')).toMatchObject({ state: 'succeeded', result: 'big' });
    const lost = await Workflow.launch(scene, steps);
    await lost.begin('choose');
    await lost.ends('choose', { result: 'Neither.' });
    expect(lost.step('choose')).toMatchObject({ state: 'failed', reason: 'ROUTE_FAILED' });
    expect(lost.graph.outcome).toBe('failed');
    expect(lost.states['always']).toBe('skipped: upstream');
  });
});

describe('a step that asks a person', () => {
  const human = {
    type: 'human',
    question: 'Publish?',
    choices: ['yes', 'no'],
    declines: ['no'],
    otherwise: null,
  } as const;
  const asks = {
    as: 'launch',
    launch: { question: { text: 'Publish?', choices: ['yes', 'no'], declines: 'no' } },
  } as const;
  const answering = (scene: Scene, flow: Workflow, answer: string | null) =>
    ({
      rule: 'answerStep',
      command: { now: scene.now, id: flow.attempt('ask').id, answer, fresh: scene.fresh() },
    }) as const;

  it('waits, by name, and goes on with the answer', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('ask', { does: human }), after('b', 'ask')]);
    await flow.begin('ask', asks);
    const attempt = flow.attempt('ask');
    expect(attempt.waiting).toMatchObject({ for: 'input', questionId: attempt.id, text: 'Publish?' });
    expect(scene.why(flow.id).map(({ evidence }) => evidence)).toContain('waits for input: Publish?');
    expect(await scene.refused(answering(scene, flow, 'maybe'))).toBe('INVALID_INPUT');
    await scene.do(answering(scene, flow, 'yes'));
    expect(await scene.refused(answering(scene, flow, 'yes'))).toBe('ILLEGAL_STATE');
    await flow.decides('ask');
    expect(flow.step('ask')).toMatchObject({ state: 'succeeded', result: 'yes', outputs: { answer: 'yes' } });
    expect(flow.states['b']).toBe('due');
  });

  it('fails with an answer that declines, and when nobody answers in time, unless that is an answer too', async () => {
    const scene = new Scene();
    const ask = async (given: { readonly otherwise?: string }, answer: string | null) => {
      const flow = await Workflow.launch(scene, [
        stepOf('ask', { timeoutMs: 1_000, does: { ...human, ...given } }),
      ]);
      await flow.begin('ask', asks);
      expect(flow.wakes('deadline').get(flow.attempt('ask').id)).toBe(flow.attempt('ask').deadlineAt);
      await scene.do(answering(scene, flow, answer));
      await flow.decides('ask');
      return flow.step('ask');
    };
    expect(await ask({}, 'no')).toMatchObject({ state: 'failed', reason: 'DECLINED' });
    expect(await ask({}, null)).toMatchObject({ state: 'failed', reason: 'TIMED_OUT' });
    expect(await ask({ otherwise: 'yes' }, null)).toMatchObject({ state: 'succeeded', result: 'yes' });
  });
});
