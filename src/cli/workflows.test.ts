import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../../test/cli/bench.ts';
import { type RunningEdge, startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { RunId } from '../base/ids.ts';
import type { TreeStep } from '../contract/step.ts';
import type { Workflow, WorkflowStep, WorkflowView } from '../contract/workflow.ts';
import { printLine } from './print-line.ts';
import type { Run } from '../contract/run.ts';
import { stepsAgain } from './steps-again.ts';
import { changeLines } from './tree-changes.ts';
import { treeLines } from '../words/tree-view.ts';

let edge: RunningEdge;
let bench: Bench;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());
beforeEach(async () => {
  edge.ledger.forget();
  bench = await Bench.open();
});
afterEach(() => bench.close());

const stemma = (...argv: string[]) =>
  bench.command(argv, { env: { STEMMA_URL: edge.url, STEMMA_TOKEN: tokens.operate } }).result;

const nightly: Workflow = {
  project: 'shop',
  name: 'nightly',
  description: 'Looks after the shop.',
  groups: ['eu', 'us'],
  inputs: {
    day: { type: 'string', required: true },
    deep: { type: 'boolean', required: false, default: false },
  },
  steps: [
    { name: 'fetch', type: 'script', needs: [] },
    { name: 'fix', type: 'agent', needs: ['fetch'] },
  ],
};
const step = (
  given: Partial<WorkflowStep> & Pick<WorkflowStep, 'name' | 'type' | 'state'>,
): WorkflowStep => ({
  index: 0,
  needs: [],
  attempts: [],
  tries: given.attempts?.length ?? 0,
  ...given,
});
const at = '2026-12-01T02:00:00.000Z';
const later = '2026-12-01T02:00:12.000Z';

/** A run that has ended, with the view of its workflow. */
function addRun(id: RunId, workflow: WorkflowView): void {
  edge.ledger.runs.set(id, {
    id,
    project: 'shop',
    state: 'ended',
    outcome: workflow.outcome,
    outcomeCode: workflow.outcomeCode,
    createdAt: at,
    endedAt: later,
    messages: [{ index: 0, text: 'workflow nightly (eu)', attempts: [] }],
    workflow,
  });
}

const failed = (id: string): WorkflowView => ({
  name: 'shop/nightly',
  group: 'eu',
  executionId: id,
  state: 'ended',
  outcome: 'failed',
  outcomeCode: 'STEP_FAILED',
  directory: '/data/records/x',
  usage: { inputTokens: 1_200, usd: 0.3 },
  counts: { total: 3, ended: 3, failed: 1 },
  steps: [
    step({
      name: 'fetch',
      type: 'script',
      state: 'failed',
      reason: 'SCRIPT_FAILED',
      attempts: [1, 2].map((attempt) => ({
        executionId: id,
        attempt,
        state: 'failed',
        closed: true,
        startedAt: at,
        endedAt: later,
        error: { code: 'SCRIPT_FAILED', message: 'exit code 3: no such host' },
      })),
    }),
    step({ name: 'fix', type: 'agent', state: 'skipped', reason: 'upstream' }),
    step({ name: 'note', type: 'script', state: 'skipped', reason: 'condition' }),
  ],
});

describe('workflows', () => {
  it('are listed with their steps, groups and inputs, and why one cannot be run', async () => {
    edge.ledger.workflows.listed.push(nightly, {
      ...nightly,
      name: 'broken',
      groups: [],
      problems: ['broken.yaml:3:5: the key "nedes" is not known here'],
    });
    const { code, out } = await stemma('workflow', 'ls');
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines[1]).toMatch(/^shop\/nightly +2 +eu, us +day \[deep\] +Looks after the shop\.$/);
    expect(lines[2]).toContain('cannot be run: broken.yaml:3:5');
    expect(JSON.parse((await stemma('workflow', 'ls', '--json')).out)).toMatchObject({
      items: [nightly, {}],
    });
  });

  it('are begun with a group and inputs, and without their evaluation', async () => {
    edge.ledger.workflows.listed.push(nightly);
    const argv = ['--group', 'eu', '--input', 'day=2026-12-01', '--input', 'note=a=b', '--no-evaluation'];
    const { code, out } = await stemma('workflow', 'run', 'shop/nightly', ...argv);
    expect(code).toBe(0);
    expect(out).toMatch(/^run run_[0-9A-Z]{26}\n$/);
    expect(edge.ledger.calls).toMatchObject([
      {
        what: 'runWorkflow shop/nightly',
        body: { group: 'eu', inputs: { day: '2026-12-01', note: 'a=b' }, evaluation: false },
      },
    ]);
  });

  it('are begun with the limits and the directory that one says, of a file too', async () => {
    edge.ledger.workflows.listed.push(nightly);
    // A directory that is called as the workflow is no file that is meant.
    mkdirSync(join(bench.directory, 'nightly'));
    const limits = ['--timeout', '2h', '--retry', '2', '--backoff', '30s', '--budget-usd', '1.5'];
    const place = ['--cwd', 'w', '--workspace', 'worktree', '--budget-tokens', '20k'];
    expect((await stemma('workflow', 'run', 'nightly', ...limits, ...place)).code).toBe(0);
    const said = {
      cwd: join(bench.directory, 'w'),
      workspace: 'worktree',
      timeout: 7_200_000,
      retry: { max: 2, backoff: 30_000 },
      budget: { usd: 1.5, tokens: 20_000 },
    };
    expect(edge.ledger.calls).toMatchObject([{ what: 'runWorkflow nightly', body: said }]);
    const text = 'steps:\n  a: { run: echo a }\n';
    writeFileSync(join(bench.directory, 'mine.yaml'), text);
    expect((await stemma('workflow', 'run', 'mine.yaml', '--retry', '1')).code).toBe(0);
    expect(edge.ledger.calls[1]).toMatchObject({
      what: 'runWorkflow mine',
      body: { cwd: bench.directory, retry: { max: 1 }, file: { text } },
    });
  });

  it.each([
    [['--backoff', '1m'], 2, '--backoff needs --retry N'],
    [['--workspace', 'mine'], 2, 'Allowed choices are exclusive, worktree, scratch, shared'],
    [['--timeout', '2'], 2, 'Write a duration'],
    [['--input', 'day'], 2, '--input "day" is no name=value'],
    [['--input', 'day=1', '--input', 'day=2'], 2, '--input gives "day" twice'],
  ])('with %j the mistake is told, and nothing is begun', async (argv, code, says) => {
    expect(await stemma('workflow', 'run', 'nightly', ...argv)).toMatchObject({
      code,
      err: expect.stringContaining(says),
    });
    expect(edge.ledger.calls).toEqual([]);
  });

  it('that are not there are told with the nearest one, as what is no schedule either', async () => {
    const alone = await stemma('workflow', 'run', 'nihgtly');
    expect(alone).toMatchObject({ code: 3, err: expect.stringContaining('did you mean "nightly"?') });
    const { code, err } = await stemma('run', 'nihgtly');
    expect(code).toBe(3);
    expect(err).toContain('There is no schedule "nihgtly" ("stemma schedule ls"), and: There is no workflow');
  });

  it('end with the exit code of their outcome', async () => {
    edge.ledger.workflows.listed.push(nightly);
    const root = edge.ledger.register({ name: 'workflow nightly', kind: 'workflow' });
    edge.ledger.settle(root.id, 'failed');
    const id = edge.ledger.ids.make('run');
    edge.ledger.workflows.next = id;
    addRun(id, failed(root.id));
    for (const argv of [
      ['workflow', 'run', 'nightly', '--wait'],
      ['run', 'nightly'],
    ]) {
      const { code, out } = await stemma(...argv);
      expect(code).toBe(1);
      expect(out).toContain(`run ${id}: failed (STEP_FAILED) after 12s`);
    }
  });

  it('of a file are sent with it, from where the command is given', async () => {
    const root = edge.ledger.register({ name: 'workflow mine', kind: 'workflow' });
    edge.ledger.settle(root.id, 'succeeded');
    const id = edge.ledger.ids.make('run');
    edge.ledger.workflows.next = id;
    addRun(id, { ...failed(root.id), outcome: 'succeeded' });
    const text = 'steps:\n  a: { run: echo a }\n';
    mkdirSync(join(bench.directory, 'w'));
    writeFileSync(join(bench.directory, 'w', 'mine.yaml'), text);
    expect((await stemma('run', 'w/mine.yaml', '--input', 'n=1')).code).toBe(0);
    const path = join(bench.directory, 'w', 'mine.yaml');
    expect(edge.ledger.calls).toMatchObject([
      { what: 'runWorkflow mine', body: { cwd: bench.directory, inputs: { n: '1' }, file: { path, text } } },
    ]);
    writeFileSync(join(bench.directory, 'm.yaml'), 'agent: demo\nmessages: [One.]\n');
    expect(await stemma('run', 'm.yaml', '--group', 'eu')).toMatchObject({
      code: 2,
      err: expect.stringContaining('m.yaml has messages, and no steps'),
    });
  });

  it('have their runs listed and their steps shown, with reasons', async () => {
    const root = edge.ledger.register({ name: 'workflow nightly (eu)', kind: 'workflow' });
    const id = edge.ledger.ids.make('run');
    const view = failed(root.id);
    addRun(id, view);
    edge.ledger.workflows.views.set(root.id, view);
    const runs = await stemma('workflow', 'runs', 'nightly');
    expect(runs.out).toMatch(
      new RegExp(`${id}.* eu +failed \\(STEP_FAILED\\) +3 of 3 steps ended, 1 failed +12s`),
    );
    expect((await stemma('workflow', 'runs', 'other')).code).toBe(3);
    const { out } = await stemma('workflow', 'show', id);
    const lines = out.split('\n');
    expect(lines[0]).toBe(
      `shop/nightly (eu): failed (STEP_FAILED); 3 of 3 steps ended, 1 failed; used 1.2k tokens, $0.30; ${root.id}`,
    );
    expect(lines[1]).toBe('record: /data/records/x');
    expect(lines.slice(2, 8)).toEqual([
      '✗ fetch script · failed: SCRIPT_FAILED',
      `    attempt 1: failed · 12s · ${root.id}`,
      '      SCRIPT_FAILED: exit code 3: no such host',
      `    attempt 2: failed · 12s · ${root.id}`,
      '      SCRIPT_FAILED: exit code 3: no such host',
      '⊘ fix agent · skipped: a step that it needs failed, or was skipped',
    ]);
    expect(JSON.parse((await stemma('workflow', 'show', root.id, '--json')).out)).toEqual(view);
    const why = await stemma('why', id);
    expect(why.out).toContain(`-> stemma workflow show ${id} shows its steps; stemma resume ${id} goes on`);
    expect(why.out).toContain('ended: failed (STEP_FAILED); 3 of 3 steps ended, 1 failed.');
  });
});

describe('what a run of a workflow does again', () => {
  const run = (more: Partial<WorkflowView> = {}): Run => ({
    id: 'run_1',
    project: 'shop',
    state: 'ended',
    messages: [],
    workflow: { ...chain, ...more },
  });
  const chain: WorkflowView = {
    name: 'shop/chain',
    counts: { total: 4, ended: 4, failed: 1 },
    steps: [
      step({ name: 'a', type: 'script', state: 'succeeded' }),
      step({ name: 'b', type: 'script', state: 'failed', needs: ['a'] }),
      step({ name: 'c', type: 'script', state: 'skipped', needs: ['b'] }),
      step({ name: 'd', type: 'script', state: 'succeeded' }),
    ],
  };

  it('is told step by step', () => {
    expect(stepsAgain(run(), {})).toBe(' with workflow shop/chain: b, c; kept: a, d');
    expect(stepsAgain(run(), { from: 'a' })).toBe(' with workflow shop/chain: a, b, c; kept: d');
    expect(stepsAgain(run(), { from: 'd', only: true })).toBe(' with workflow shop/chain: d; kept: a');
    expect(stepsAgain(run(), { from: 0 })).toBe(' with workflow shop/chain, all of it');
    expect(stepsAgain({ ...run(), workflow: undefined }, {})).toBeUndefined();
    // The evaluation goes on, or a step of it is done again: nothing of the workflow is.
    expect(stepsAgain(run({ outcome: 'succeeded' }), {})).toBeUndefined();
    expect(stepsAgain(run(), { from: 'score' })).toBeUndefined();
  });
});

it('a failure is told by the last thing below that failed, with what can be done', async () => {
  const root = edge.ledger.register({ name: 'workflow nightly', kind: 'workflow' });
  const inner = edge.ledger.register({ name: 'inner', kind: 'workflow', parentId: root.id });
  const leaf = edge.ledger.register({ name: 'fetch', kind: 'step', parentId: inner.id });
  for (const { id } of [leaf, inner, root]) edge.ledger.settle(id, 'failed');
  const { out } = await stemma('why', root.id);
  expect(out).toContain('is closed: failed');
  expect(out).toContain('- workflow inner > step fetch (');
  expect(out).not.toMatch(/- workflow inner \(/);
});

it('a question is found and answered by way of its run', async () => {
  const root = edge.ledger.register({ name: 'workflow nightly', kind: 'workflow' });
  const id = edge.ledger.ids.make('run');
  addRun(id, failed(root.id));
  expect((await stemma('answer', id)).err).toContain('has begun nothing yet');
  const run = edge.ledger.runs.get(id);
  if (run) edge.ledger.runs.set(id, { ...run, currentId: root.id });
  expect(await stemma('answer', id, 'yes')).toMatchObject({
    code: 0,
    out: `${root.id} workflow nightly: answered yes\n`,
  });
  expect(edge.ledger.calls.map(({ body }) => body)).toEqual(['yes']);
});

describe('the tree of a workflow', () => {
  const now = Date.parse(later);
  const style = { columns: Number.POSITIVE_INFINITY, colors: { dim: String, yellow: String } as never };
  const steps = (given: readonly Partial<TreeStep>[]): TreeStep[] =>
    given.map((one, index) => ({
      workflowId: 'exe_W',
      name: `s${index}`,
      type: 'agent',
      state: 'blocked',
      tries: 0,
      ...one,
    }));
  const view = (given: TreeStep[]) => {
    const root = edge.ledger.register({ name: 'workflow nightly', kind: 'workflow' });
    const tree = edge.ledger.tree(root.id);
    if (!tree) throw new Error('no tree');
    return { ...tree, holding: [], steps: given.map((one) => ({ ...one, workflowId: root.id })) };
  };
  const colors = new Proxy({}, { get: () => String }) as never;
  const plain = (lines: ReturnType<typeof treeLines>) =>
    lines.map((line) => printLine(line, { ...style, colors }));

  it('shows the steps that have no attempt at work, with the reason', () => {
    const tree = view(
      steps([
        { name: 'again', state: 'backsOff', tries: 1, retryAt: '2026-12-01T02:01:00.000Z' },
        { name: 'plan', state: 'skipped', reason: 'notChosen' },
        { name: 'kept', state: 'succeeded', reused: 'exe_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
        {},
      ]),
    );
    expect(plain(treeLines(tree, { now })).slice(1)).toEqual([
      '├─ ◐ step again · failed, tried again in 48s (attempt 2)',
      '├─ ⊘ step plan · skipped: its case was not chosen',
      '├─ ✓ step kept · succeeded before (exe_01ARZ3NDEKTSV4), not done again',
      '└─ ○ step s3 · waits for the steps that it needs',
    ]);
  });

  it('counts many that wait in one line, and tells what became of one in the log', () => {
    const many = view(steps(Array.from({ length: 30 }, () => ({}))));
    expect(plain(treeLines(many, { now })).slice(1)).toEqual(['└─ ○ 30 steps wait for others']);
    const [first, ...rest] = many.steps;
    const after = {
      ...many,
      steps: [{ ...(first as TreeStep), state: 'skipped' as const, reason: 'failFast' }, ...rest],
    };
    expect(plain(changeLines(many, after, { now, since: now }))).toEqual([
      '  +0.0s  ⊘ step s0 · skipped: another step failed',
    ]);
  });
});
