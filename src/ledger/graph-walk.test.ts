import { describe, expect, it } from 'vitest';
import { Scene } from '../../test/ledger/scene.ts';
import { graphOf, stepOf, Workflow } from '../../test/ledger/workflow.ts';

const after = (name: string, ...needs: string[]) => stepOf(name, { needs });

describe('a step of a workflow', () => {
  it('begins when all that it needs has ended, and the whole closes with its last step', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a'), stepOf('b'), after('c', 'a', 'b')]);
    await flow.begin('a');
    await flow.begin('b');
    expect(flow.attempt('a')).toMatchObject({
      parentId: flow.id,
      kind: 'step',
      key: 'step:a',
      attempt: 1,
      mode: 'none',
    });
    expect(flow.row.open).toBe(2);
    await flow.ends('a');
    expect(flow.states).toEqual({ a: 'succeeded', b: 'running', c: 'blocked' });
    await flow.ends('b', { outputs: { n: 3 } });
    expect(flow.states['c']).toBe('due');
    expect(flow.wakes('step').has(flow.step('c').ref)).toBe(true);
    await flow.begin('c');
    await flow.ends('c');
    expect(flow.step('b').outputs).toEqual({ n: 3 });
    expect(flow.graph).toMatchObject({ state: 'ended', outcome: 'succeeded', left: 0 });
    expect(flow.row.closed).toBe(false);
    expect(await flow.settles('all well')).toBe('settled');
    expect(flow.row).toMatchObject({
      state: 'succeeded',
      closed: true,
      outcome: 'succeeded',
      result: 'all well',
    });
  });

  it('begins once, whoever repeats it', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a')]);
    const { moves } = flow.step('a');
    expect(await flow.begin('a')).toBe('begun');
    expect(await flow.begin('a', undefined, moves)).toBe('stale');
    expect(scene.children(flow.id)).toHaveLength(1);
    await flow.programEnds('a');
    expect(await flow.decides('a')).toBe('ended');
    expect(await flow.decides('a')).toBe('stale');
  });

  it('stays open while something that it started does, and is complete with it', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a'), after('b', 'a')]);
    await flow.begin('a');
    const child = await scene.program(flow.attempt('a').id);
    expect(await flow.programEnds('a')).toBe('open');
    expect(await flow.decides('a')).toBe('stale');
    expect(flow.attempt('a').state).toBe('running');
    await scene.settle(child);
    const { id } = flow.attempt('a');
    expect(flow.wakes('drained').has(id)).toBe(true);
    await scene.do({ rule: 'drained', command: { now: scene.now, id, fresh: scene.fresh() } });
    expect(flow.attempt('a')).toMatchObject({ state: 'succeeded', closed: true, result: 'done' });
    await flow.decides('a');
    expect(flow.states).toEqual({ a: 'succeeded', b: 'due' });
  });

  it('whose condition does not hold is skipped, and what needs it goes on', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a'), after('b', 'a')]);
    expect(await flow.begin('a', { as: 'skip' })).toBe('skipped');
    expect(flow.states).toEqual({ a: 'skipped: condition', b: 'due' });
    expect(scene.children(flow.id)).toEqual([]);
  });

  it('that cannot begin is an attempt that has failed', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a')]);
    await flow.begin('a', { as: 'fail', error: { code: 'AGENT_UNAVAILABLE', message: 'No agent "x".' } });
    expect(flow.attempt('a')).toMatchObject({
      state: 'failed',
      closed: true,
      error: { message: 'No agent "x".' },
    });
    await flow.decides('a');
    expect(flow.step('a')).toMatchObject({ state: 'failed', reason: 'AGENT_UNAVAILABLE' });
    await flow.settles();
    expect(flow.row).toMatchObject({
      state: 'failed',
      outcomeCode: 'STEP_FAILED',
      error: { message: 'step "a" failed (AGENT_UNAVAILABLE): No agent "x".' },
    });
  });

  it('is ended by nobody who has its token, and moves no deadline by a heartbeat', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a', { timeoutMs: 1_000 })]);
    await flow.begin('a');
    const { id, deadlineAt } = flow.attempt('a');
    const ending = { state: 'succeeded' } as const;
    const noticeId = scene.model.ids.make('notice');
    for (const row of [id, flow.id]) {
      const command = { now: scene.now, id: row, noticeId, ending };
      expect(await scene.refused({ rule: 'settle', command })).toBe('ILLEGAL_STATE');
    }
    await scene.do({ rule: 'heartbeat', command: { now: scene.now, id, until: scene.now + 99_000 } });
    expect(flow.attempt('a').deadlineAt).toBe(deadlineAt);
  });
});

describe('a step that fails', () => {
  it('is tried again after a back-off that doubles, as another attempt, before anything follows', async () => {
    const scene = new Scene();
    const retry = { max: 2, backoffMs: 1_000 };
    const flow = await Workflow.launch(scene, [stepOf('a', { retry }), after('b', 'a')]);
    await flow.begin('a');
    await flow.programEnds('a', { state: 'failed', error: { code: 'SCRIPT_FAILED', message: 'no' } });
    await flow.handled('a');
    expect(await flow.decides('a')).toBe('backsOff');
    const { retryAt, ref } = flow.step('a');
    expect(retryAt).toBeGreaterThan(scene.now + 900);
    expect(flow.wakes('step').get(ref)).toBe(retryAt);
    expect(scene.why(flow.id)).toMatchObject([
      {
        why: 'waiting',
        until: retryAt,
        evidence: 'step "a" failed (SCRIPT_FAILED) in attempt 1, and is tried again',
      },
    ]);
    await flow.handled('a');
    expect(await flow.begin('a')).toBe('notYet');
    expect(flow.wakes('step').get(ref)).toBe(retryAt);
    scene.wait(1_000);
    expect(await flow.begin('a')).toBe('begun');
    await flow.fails('a');
    expect((flow.step('a').retryAt ?? 0) - scene.now).toBeGreaterThan(1_900);
    scene.wait(2_000);
    await flow.begin('a');
    expect(flow.attempt('a').attempt).toBe(3);
    await flow.ends('a');
    expect(flow.states).toEqual({ a: 'succeeded', b: 'due' });
    expect(scene.children(flow.id).map(({ state }) => state)).toEqual(['failed', 'failed', 'succeeded']);
  });

  it('is not tried again where another attempt would mend nothing', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a', { retry: { max: 5, backoffMs: 0 } })]);
    await flow.begin('a');
    expect(await flow.fails('a', 'BUDGET')).toBe('ended');
  });

  it('for good skips all that needs it, through what was skipped too, and fails the whole', async () => {
    const scene = new Scene();
    const steps = [stepOf('a'), stepOf('free'), after('b', 'a'), after('c', 'b', 'free')];
    const flow = await Workflow.launch(scene, steps);
    await flow.begin('a');
    await flow.begin('free');
    await flow.fails('a');
    expect(flow.states).toEqual({ a: 'failed', b: 'skipped: upstream', c: 'blocked', free: 'running' });
    await flow.ends('free');
    expect(flow.states['c']).toBe('skipped: upstream');
    expect(flow.graph).toMatchObject({ outcome: 'failed', outcomeCode: 'STEP_FAILED', failed: 1 });
  });

  it('and may is told and counted, and fails neither the whole nor what needs it', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a', { onFailure: 'continue' }), after('b', 'a')]);
    await flow.begin('a');
    await flow.fails('a');
    expect(flow.states).toEqual({ a: 'failed', b: 'due' });
    await flow.begin('b');
    await flow.ends('b');
    expect(flow.graph.outcome).toBe('succeeded');
  });

  it('where the first failure stops all: nothing begins any more, and what runs is ended', async () => {
    const scene = new Scene();
    const steps = [
      stepOf('a'),
      stepOf('b'),
      stepOf('c'),
      stepOf('d', { retry: { max: 3, backoffMs: 9_000 } }),
      after('e', 'b'),
    ];
    const flow = await Workflow.launch(scene, steps, { settings: { failFast: true } });
    for (const name of ['a', 'b', 'd']) await flow.begin(name);
    await flow.fails('d');
    await flow.fails('a');
    expect(flow.states).toEqual({
      a: 'failed',
      b: 'running',
      c: 'skipped: failFast',
      d: 'skipped: failFast',
      e: 'skipped: failFast',
    });
    expect(flow.graph).toMatchObject({ isStopping: true, state: 'running', left: 1 });
    expect(flow.wakes('graph').has(flow.id)).toBe(true);
    await flow.cancel('system', 'CANCELLED', flow.attempt('b').id);
    await flow.ends('b', { state: 'cancelled' });
    expect(flow.step('b')).toMatchObject({ state: 'cancelled', reason: 'failFast' });
    expect(flow.graph).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      error: { message: 'step "a" failed (SCRIPT_FAILED): exit code 1' },
    });
  });

  it('counts for a message that asks for all below it to succeed by the whole alone', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id, native } = await scene.running(session, { join: 'all' });
    const work = {
      kind: 'workflow',
      caller: {
        by: 'session',
        sessionId: session,
        call: { state: 'running', nativeTurnId: native, byId: true },
      },
    } as const;
    const good = await Workflow.launch(
      scene,
      [stepOf('a', { onFailure: 'continue' }), stepOf('b', { retry: { max: 1, backoffMs: 0 } })],
      work,
    );
    await good.begin('a');
    await good.fails('a');
    await good.begin('b');
    await good.fails('b');
    await good.begin('b');
    await good.ends('b');
    await good.settles();
    expect(scene.row(id).failures).toBe(0);
    const bad = await Workflow.launch(scene, [stepOf('a')], work);
    await bad.begin('a');
    await bad.fails('a');
    await bad.settles();
    expect(scene.row(id).failures).toBe(1);
  });
});

describe('a workflow that is cancelled', () => {
  it('begins nothing any more, and is closed when what runs has ended', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a'), stepOf('due'), after('b', 'a')]);
    await flow.begin('a');
    const cancelling = await flow.cancel();
    expect(cancelling.processes).toEqual([flow.attempt('a').id]);
    expect(flow.states).toEqual({ a: 'running', due: 'cancelled', b: 'cancelled' });
    expect(flow.graph).toMatchObject({ state: 'ended', outcome: 'cancelled' });
    expect(await flow.begin('due')).toBe('stale');
    expect(await flow.settles()).toBe('open');
    await flow.ends('a', { state: 'succeeded' });
    expect(flow.step('a').state).toBe('cancelled');
    expect(flow.wakes('drained').has(flow.id)).toBe(true);
    await flow.settles();
    expect(flow.row).toMatchObject({ state: 'cancelled', closed: true, outcome: 'cancelled' });
  });

  it('in a back-off has nothing to wait for', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [stepOf('a', { retry: { max: 9, backoffMs: 60_000 } })]);
    await flow.begin('a');
    await flow.fails('a');
    await flow.cancel();
    expect(await flow.settles()).toBe('settled');
    expect(flow.row).toMatchObject({ closed: true, outcome: 'cancelled' });
  });

  it('ends its questions, its conversations and the workflows in it', async () => {
    const scene = new Scene();
    const flow = await Workflow.launch(scene, [
      stepOf('ask', { does: { type: 'human', question: '?', choices: [], declines: [], otherwise: null } }),
      stepOf('talk', { does: { type: 'agent', prompt: 'x', agent: null, cwd: null } }),
      stepOf('again', { does: { type: 'workflow', workflow: 'other', group: null, inputs: {} } }),
    ]);
    await flow.begin('ask', { as: 'launch', launch: { question: { text: '?' } } });
    const session = await flow.beginAgent('talk');
    const run = scene.model.state.snapshot.runs.find(({ sessionId }) => sessionId === session)!;
    await scene.advance(run);
    const native = await scene.runs(session);
    const graph = graphOf([stepOf('deep')]);
    const workflow = { workflow: 'other', group: null, graph, timeoutMs: null, budget: null };
    await flow.begin('again', { as: 'launch', launch: { workflow } });
    const inner = new Workflow(scene, flow.attempt('again').id);
    await inner.begin('deep');
    const cancelling = await flow.cancel();
    expect(cancelling.interrupt).toMatchObject([{ sessionId: session }]);
    expect(cancelling.processes).toEqual([inner.attempt('deep').id]);
    expect(flow.attempt('ask').state).toBe('cancelled');
    await inner.ends('deep', { state: 'cancelled' });
    await inner.settles();
    await scene.ends(session, native, { status: 'interrupted' });
    await scene.advance(run);
    for (const name of ['ask', 'talk', 'again']) await flow.decides(name);
    expect(flow.states).toEqual({ ask: 'cancelled', talk: 'cancelled', again: 'cancelled' });
    await flow.settles();
    expect(flow.row).toMatchObject({ closed: true, outcome: 'cancelled' });
  });

  it('by its deadline has failed, as has a step by its own, which may be tried again', async () => {
    const scene = new Scene();
    const retry = { max: 1, backoffMs: 0 };
    const flow = await Workflow.launch(scene, [stepOf('a', { timeoutMs: 1_000, retry }), stepOf('b')]);
    await flow.begin('a');
    const first = flow.attempt('a').id;
    await flow.cancel('deadline', 'TIMED_OUT', first);
    expect(await flow.ends('a', { state: 'cancelled' })).toBe('backsOff');
    expect(scene.row(first)).toMatchObject({ state: 'failed', error: { code: 'TIMED_OUT' } });
    await flow.begin('a');
    await flow.cancel('deadline', 'TIMED_OUT');
    await flow.ends('a', { state: 'cancelled' });
    await flow.settles();
    expect(flow.graph).toMatchObject({ outcome: 'failed', outcomeCode: 'TIMED_OUT' });
    expect(flow.row).toMatchObject({ state: 'failed', outcome: 'failed', outcomeCode: 'TIMED_OUT' });
  });
});

describe('a workflow in a workflow', () => {
  it('gives what it says to the step, in the decision that closes it', async () => {
    const scene = new Scene();
    const again = { type: 'workflow', workflow: 'other', group: null, inputs: {} } as const;
    const flow = await Workflow.launch(scene, [stepOf('again', { does: again }), after('b', 'again')]);
    const workflow = {
      workflow: 'other',
      group: null,
      graph: graphOf([stepOf('deep')]),
      timeoutMs: 5_000,
      budget: null,
    };
    await flow.begin('again', { as: 'launch', launch: { workflow } });
    expect(flow.attempt('again')).toMatchObject({ kind: 'workflow', key: 'step:again', timeoutMs: 5_000 });
    const inner = new Workflow(scene, flow.attempt('again').id);
    await inner.begin('deep');
    await inner.ends('deep');
    await inner.settles('inner summary', { report: '/records/report.md' });
    await flow.decides('again');
    expect(flow.step('again')).toMatchObject({
      state: 'succeeded',
      outputs: { report: '/records/report.md' },
    });
    expect(flow.states['b']).toBe('due');
  });
});
