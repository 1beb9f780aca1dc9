import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Graph, GraphStep } from '../../ledger/graph.ts';
import { stepRef } from '../../ledger/graph.ts';
import type { QuestionName, Questions } from '../../ledger/questions.ts';
import { ask } from '../../ledger/questions.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import { graph, graphStep } from './graph-rows.ts';
import { deciding, execution, id, registering, session, settling, start } from './rows.ts';

const workflow = execution(1, null, { kind: 'workflow' });
const scored = execution(2, null, { kind: 'workflow' });
const evaluation = execution(3, null, { kind: 'evaluation' });
const [attempt, another] = [4, 5].map((n) => execution(n, workflow, { kind: 'step', key: `step:s${n}` })) as [
  typeof workflow,
  typeof workflow,
];
const ended = { state: 'ended', outcome: 'failed', outcomeCode: 'CHECK_FAILED', endedAt: start + 9 } as const;

const rows: Effect[] = [
  ...[workflow, scored, evaluation, attempt, another].flatMap((row) => registering(row)),
  { do: 'insertGraph', row: graph(1, { group: 'eu', inputs: { day: 'today', n: 3 }, left: 4 }) },
  { do: 'insertGraph', row: graph(2, { ...ended, error: { code: 'X', message: 'y' }, failed: 1, left: 0 }) },
  { do: 'insertGraph', row: graph(3, { of: scored.id, resumes: workflow.id }) },
  { do: 'insertGraphStep', row: graphStep(1, 0, { dependents: [1, 2] }) },
  { do: 'insertGraphStep', row: graphStep(1, 10, { state: 'running', currentId: attempt.id, tries: 1 }) },
  { do: 'insertGraphStep', row: graphStep(1, 2, { state: 'backsOff', retryAt: start + 5, tries: 1 }) },
  { do: 'insertGraphStep', row: graphStep(1, 1, { state: 'backsOff', retryAt: start + 9, tries: 2 }) },
  { do: 'insertGraphStep', row: graphStep(2, 0, { state: 'failed', reason: 'X', blockedBy: 0 }) },
  { do: 'insertGraphStep', row: graphStep(3, 0, { state: 'blocked', blockedBy: 2 }) },
];

const inserted = (set: Partial<GraphStep>): Effect => ({
  do: 'insertGraphStep',
  row: graphStep(1, 3, set),
});
const patching = (index: number, set: Partial<GraphStep>): Effect => ({
  do: 'patchGraphStep',
  ref: stepRef(workflow.id, index),
  set,
});
const patched = (n: number, set: Partial<Graph>): Effect => ({ do: 'patchGraph', id: id.execution(n), set });
const missing = id.execution(99);

const violations: readonly (readonly [what: string, effect: Effect])[] = [
  ['a graph of nothing', { do: 'insertGraph', row: graph(99) }],
  ['a second graph of one execution', { do: 'insertGraph', row: graph(1) }],
  ['a graph that scores nothing', { do: 'insertGraph', row: graph(4, { of: missing }) }],
  ['a graph that goes on with nothing', { do: 'insertGraph', row: graph(4, { resumes: missing }) }],
  ['fewer than no steps left', patched(1, { left: -1 })],
  ['fewer than no failures', patched(1, { failed: -1 })],
  ['a graph that ended without an outcome', patched(1, { state: 'ended', endedAt: 1 })],
  ['a graph that ended without an instant', patched(1, { state: 'ended', outcome: 'failed' })],
  ['another outcome', patched(2, { outcome: 'succeeded' })],
  ['a graph that begins again', patched(2, { state: 'running', outcome: null, endedAt: null })],
  ['a patch of no graph', patched(99, { left: 0 })],
  ['a step of no graph', { do: 'insertGraphStep', row: graphStep(99, 0) }],
  ['a step under another name than its place', inserted({ ref: stepRef(workflow.id, 4) })],
  ['the same place twice', { do: 'insertGraphStep', row: graphStep(1, 0) }],
  ['the same name twice', inserted({ plan: graphStep(1, 0).plan })],
  ['the same attempt twice', inserted({ state: 'running', currentId: attempt.id })],
  ['an attempt that does not exist', inserted({ state: 'running', currentId: missing })],
  ['a step that runs without an attempt', inserted({ state: 'running' })],
  ['a step that is due and blocked', inserted({ state: 'due', blockedBy: 1 })],
  ['a step that is blocked by less than nothing', inserted({ state: 'blocked', blockedBy: -1 })],
  ['a back-off without an instant', inserted({ state: 'backsOff' })],
  ['an instant without a back-off', inserted({ retryAt: 1 })],
  ['a failure that does not say why', inserted({ state: 'failed' })],
  ['a step that was skipped for no reason', inserted({ state: 'skipped' })],
  ['a failure that is used again', inserted({ state: 'failed', reason: 'X', reused: attempt.id })],
  ['something that never was, used again', inserted({ state: 'succeeded', reused: missing })],
  ['less than no attempts', patching(0, { tries: -1 })],
  ['a patch of no step', patching(99, { moves: 1 })],
  [
    'a failed step that runs',
    { do: 'patchGraphStep', ref: stepRef(scored.id, 0), set: { state: 'running', currentId: another.id } },
  ],
];

describe.each(adapters)('workflows on $name', ({ open }) => {
  let opened: Opened;
  let clock: VirtualClock;
  const answer = <Name extends QuestionName>(
    name: Name,
    ...args: Questions[Name]['args']
  ): Promise<Questions[Name]['answer']> => opened.store.read(() => ask(name, ...args));
  const indexes = async (answered: Promise<readonly GraphStep[]>): Promise<number[]> =>
    (await answered).map((row) => row.index);
  beforeEach(async () => {
    clock = new VirtualClock(start);
    opened = await open(clock);
    await opened.store.decide(deciding(rows));
  });
  afterEach(() => opened.end());

  it('keeps every field of a graph and of a step', async () => {
    const programEnd = {
      state: 'failed',
      result: null,
      error: { code: 'X', message: 'y' },
      outputs: {},
    } as const;
    const end = { state: 'failed', reason: 'X', result: 'text', outputs: { a: { b: [1, null] } } } as const;
    await opened.store.decide(
      deciding([
        patching(10, { programEnd, moves: 2 }),
        patching(0, { state: 'succeeded', reused: another.id, failedNeeds: 1, deadNeeds: 2 }),
        patching(1, { ...end, retryAt: null }),
        patched(1, { isStopping: true, left: 3 }),
      ]),
    );
    const dump = await opened.dump();
    expect(dump.graphs[0]).toEqual(
      graph(1, { group: 'eu', inputs: { day: 'today', n: 3 }, isStopping: true, left: 3 }),
    );
    expect(dump.graphs[1]).toEqual(
      graph(2, { ...ended, error: { code: 'X', message: 'y' }, failed: 1, left: 0 }),
    );
    expect(dump.graphSteps.slice(0, 3)).toEqual([
      graphStep(1, 0, {
        dependents: [1, 2],
        state: 'succeeded',
        reused: another.id,
        failedNeeds: 1,
        deadNeeds: 2,
      }),
      graphStep(1, 1, { ...end, tries: 2 }),
      graphStep(1, 10, { state: 'running', currentId: attempt.id, tries: 1, programEnd, moves: 2 }),
    ]);
  });

  it('refuses what cannot be, and changes nothing', async () => {
    const was = await opened.dump();
    for (const [what, violation] of violations) {
      const decided = opened.store.decide(deciding([patching(0, { moves: 7 }), violation]));
      await expect(decided, what).rejects.toThrow();
      expect(await answer('graphStep', stepRef(workflow.id, 0)), what).toMatchObject({ moves: 0 });
    }
    expect(await opened.dump()).toEqual(was);
  });

  it('finds a graph by its execution, and what scores another one', async () => {
    expect(await answer('graph', workflow.id)).toMatchObject({ group: 'eu' });
    expect(await answer('graph', attempt.id)).toBeUndefined();
    expect((await answer('openEvaluationsOf', scored.id)).map((row) => row.id)).toEqual([evaluation.id]);
    expect(await answer('openEvaluationsOf', workflow.id)).toEqual([]);
    await opened.store.decide(deciding([patched(3, { ...ended, left: 0 })]));
    expect(await answer('openEvaluationsOf', scored.id)).toEqual([]);
  });

  it('finds what a session has had done, what closed last first', async () => {
    const [here, there] = [id.session(1), id.session(2)];
    const reporting = (n: number, kind: 'workflow' | 'agent', reportsTo = here): Effect[] =>
      registering(execution(n, null, { kind, reportsTo, mode: 'each' }));
    await opened.store.decide(
      deciding([
        { do: 'insertSession', row: session(1) },
        { do: 'insertSession', row: session(2) },
        ...[11, 12, 13].flatMap((n) => reporting(n, 'workflow')),
        ...reporting(14, 'agent'),
        ...reporting(15, 'workflow', there),
      ]),
    );
    expect(await answer('closedWorkflowsOf', here, 9)).toEqual([]);
    for (const n of [13, 11, 14, 15]) {
      clock.advance(1);
      await opened.store.decide(deciding([settling(n)]));
    }
    const found = async (limit: number): Promise<string[]> =>
      (await answer('closedWorkflowsOf', here, limit)).map((row) => row.id);
    expect(await found(9)).toEqual([id.execution(11), id.execution(13)]);
    expect(await found(1)).toEqual([id.execution(11)]);
  });

  it('finds a step by its place, its name and its attempt', async () => {
    expect(await answer('graphStep', stepRef(workflow.id, 10))).toMatchObject({ state: 'running' });
    expect(await answer('graphStep', stepRef(workflow.id, 5))).toBeUndefined();
    expect(await answer('graphStepNamed', workflow.id, 'step 2')).toMatchObject({ index: 2 });
    expect(await answer('graphStepNamed', scored.id, 'step 2')).toBeUndefined();
    expect(await answer('graphOfStep', attempt.id)).toMatchObject({ index: 10 });
    expect(await answer('graphOfStep', another.id)).toBeUndefined();
  });

  it('lists the steps of one graph in order, and those between two attempts', async () => {
    expect(await indexes(answer('graphSteps', workflow.id))).toEqual([0, 1, 2, 10]);
    expect(await indexes(answer('graphSteps', evaluation.id))).toEqual([0]);
    expect(await indexes(answer('backingOff', workflow.id, 9))).toEqual([1, 2]);
    expect(await indexes(answer('backingOff', workflow.id, 1))).toEqual([1]);
    expect(await answer('backingOff', evaluation.id, 9)).toEqual([]);
  });

  it('knows the scripts that a starting server goes on with', async () => {
    const scripts = await opened.store.recovery.openScripts();
    expect(scripts).toEqual([stepRef(workflow.id, 0), stepRef(workflow.id, 10)]);
  });

  it('inserts a thousand steps in one decision', async () => {
    const many = Array.from(
      { length: 1000 },
      (_, index): Effect => ({
        do: 'insertGraphStep',
        row: graphStep(3, index + 1, { state: 'blocked', blockedBy: 1, dependents: [index + 2] }),
      }),
    );
    await opened.store.decide(deciding([...many, patched(3, { left: 1001 })]));
    expect(await answer('graphStepNamed', evaluation.id, 'step 777')).toMatchObject({ index: 777 });
    expect(await indexes(answer('graphSteps', evaluation.id))).toHaveLength(1001);
  });
});
