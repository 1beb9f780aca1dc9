import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import type { Execution, TreeView } from '../../src/contract/execution.ts';
import { builtProgram } from './built-program.ts';
import { isAlive } from './living-processes.ts';
import { callTool, sendAndHangUp, toolCall } from './raw-requests.ts';
import type { Scenarios } from './scenario.ts';
import { ofKind } from './scene.ts';
import { gate } from './script-words.ts';

const tellToken = (file: string): string => `echo "$STEMMA_TOKEN" > token; ${gate(file)}`;

/** The one execution of this kind and name. */
function only(tree: TreeView, kind: Execution['kind'], name: string): Execution {
  const [row, ...rest] = tree.executions.filter((each) => each.kind === kind && each.name === name);
  if (!row || rest.length > 0) throw new Error(`there are ${rest.length + (row ? 1 : 0)} ${kind} ${name}`);
  return row;
}

const time = (instant: string | undefined): number => Date.parse(instant ?? '');

/** A workflow that an agent launches is work of its message, wherever the call that launched it has gone. */
export function workflowCases({ scenario, alone }: Scenarios): void {
  describe.concurrent('workflows that agents launch', () => {
    scenario(
      'the next message goes out when the whole workflow is closed and its result handled',
      async (s) => {
        const { runId, sessionId } = await s.run('worker', ['Workflow chain', 'And now the next one.']);
        const root = await s.message(runId, 0);
        await s.named(root, 'helper', (row) => row.state === 'running');
        const begun = await s.tree(root);
        expect(begun).toMatchObject({ closed: false });
        expect(only(begun, 'workflow', 'chain')).toMatchObject({
          parentId: root,
          parentSource: 'turn',
          reportsTo: { sessionId, mode: 'each' },
        });
        s.open('help');
        await s.named(root, 'last', (row) => row.state === 'running');
        expect(await s.client.call('getRun', { id: runId })).toMatchObject({
          messages: [{}, { attempts: [] }],
        });
        s.open('go');
        const run = await s.ended(runId);
        expect(run.outcome).toBe('succeeded');
        const tree = await s.tree(root);
        const chain = only(tree, 'workflow', 'chain');
        expect(tree.executions.filter(({ parentId }) => parentId === chain.id)).toMatchObject([
          { kind: 'step', name: 'fetch', key: 'step:fetch', state: 'succeeded' },
          { kind: 'step', name: 'fix', state: 'succeeded', result: 'Handled the helper.' },
          { kind: 'workflow', name: 'again', state: 'succeeded' },
        ]);
        expect(only(tree, 'step', 'last').parentId).toBe(only(tree, 'workflow', 'again').id);
        const second = await s.execution(await s.message(runId, 1));
        const ends = tree.executions.map(({ closedAt }) => time(closedAt));
        expect(time(second.createdAt)).toBeGreaterThanOrEqual(Math.max(...ends));
        expect(tree.notices.map(({ state }) => state)).toEqual(tree.notices.map(() => 'handled'));
        const [, told = ''] = await s.prompts(sessionId);
        expect(told).toMatch(/^\[stemma ntc_\S+ #1\] chain succeeded \(exe_\w+\)$/m);
        expect(told).toMatch(/Record: \S+/);
      },
    );

    scenario('its client hangs up, and the workflow lives', async (s) => {
      const { queryId } = await s.send('shell', tellToken('done'));
      const call = {
        path: '/mcp',
        token: await s.file('token'),
        body: toolCall('run_full_workflow', { workflow: 'inner' }),
      };
      await sendAndHangUp(s.client.connection.url, call);
      expect(await s.named(queryId, 'inner')).toMatchObject({ parentId: queryId, key: 'workflow:inner' });
      s.open('done');
      await s.seen('the turn has ended', queryId, ({ executions }) => executions[0]?.state === 'succeeded');
      expect(await s.tree(queryId)).toMatchObject({ closed: false });
      s.open('go');
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
    });

    scenario('two who ask for a step at once get one execution, which holds the tree', async (s) => {
      const { queryId } = await s.send('shell', tellToken('done'));
      const token = await s.file('token');
      const ask = () =>
        callTool(s.client.connection.url, token, 'execute_step', { workflow: 'inner', step: 'last' });
      const [one, two] = await Promise.all([ask(), ask()]);
      expect(one.isError, one.text).toBe(false);
      expect(one.data).toMatchObject({ parentId: queryId, rootId: queryId, state: 'running' });
      expect(two.data).toEqual(one.data);
      s.open('done');
      await s.seen('the turn has ended', queryId, ({ executions }) => executions[0]?.state === 'succeeded');
      expect((await ask()).isError).toBe(true);
      expect(await s.tree(queryId)).toMatchObject({ closed: false });
      s.open('go');
      const tree = await s.closed(queryId);
      expect(
        tree.executions.filter(({ kind, name }) => kind === 'step' && name === 'inner/last'),
      ).toHaveLength(1);
    });

    scenario(
      'a step that runs within a workflow is the one that is answered; later it is another attempt',
      async (s) => {
        const { queryId } = await s.send('shell', tellToken('done'));
        const token = await s.file('token');
        const { url } = s.client.connection;
        await callTool(url, token, 'run_full_workflow', { workflow: 'inner' });
        const last = await s.named(queryId, 'last', (row) => row.state === 'running');
        const step = { workflow: 'inner', step: 'last' };
        expect((await callTool(url, token, 'execute_step', step)).data['executionId']).toBe(last.id);
        s.open('go');
        await s.named(queryId, 'inner', (row) => row.closed);
        const again = await callTool(url, token, 'execute_step', step);
        expect(again.data['executionId']).not.toBe(last.id);
        const whole = await callTool(url, token, 'run_full_workflow', { workflow: 'inner' });
        s.open('done');
        await s.closed(queryId);
        expect(await s.execution(String(whole.data['executionId']))).toMatchObject({
          attempt: 2,
          key: 'workflow:inner',
        });
      },
    );

    scenario('a step that fails fails the workflow, typed, and says why; a text is no failure', async (s) => {
      const failed = await s.send('worker', 'Workflow broken', { join: 'all' });
      const tree = await s.closed(failed.queryId);
      expect(tree).toMatchObject({ outcome: 'failed', outcomeCode: 'DESCENDANT_FAILED' });
      expect(only(tree, 'workflow', 'broken')).toMatchObject({
        state: 'failed',
        error: { code: 'STEP_FAILED' },
      });
      const [, told = ''] = await s.prompts(failed.sessionId);
      expect(told).toMatch(/broken failed \(exe_\w+\)\nSTEP_FAILED: .*"one"/);
      expect(told).toContain('this is why');
      const talk = await s.send('worker', 'Workflow talk', { join: 'all' });
      expect(await s.closed(talk.queryId)).toMatchObject({ outcome: 'succeeded' });
    });

    scenario(
      'a file with mistakes, and what is not there, begin nothing and say what to write',
      async (s) => {
        s.bench.writeWorkflow(
          'wrong',
          'apiVersion: stemma/v1\nsteps: { one: { typ: script, run: "true" } }\n',
        );
        const { queryId } = await s.send('shell', tellToken('go'));
        const token = await s.file('token');
        const call = (name: string, args: object) =>
          callTool(s.client.connection.url, token, name, args as Record<string, unknown>);
        for (const [name, args, says] of [
          ['run_full_workflow', { workflow: 'chian' }, /NOT_FOUND: .*"chain"/],
          ['run_full_workflow', { workflow: 'wrong' }, /INVALID_CONFIG: .*"typ".*"type"/s],
          ['run_full_workflow', { workflow: 'groups', group: 'eus' }, /INVALID_INPUT: group: .*"eu"/],
          ['run_full_workflow', { workflow: 'chain', inputs: { day: 'x' } }, /INVALID_INPUT: inputs\.day/],
          ['run_full_workflow', { workflow: 'score' }, /INVALID_INPUT: workflow: .*of: run/],
          ['execute_step', { workflow: 'chain', step: 'fech' }, /INVALID_INPUT: step: .*"fetch"/],
          ['run_full_evaluation', { workflow: 'chain' }, /INVALID_INPUT: workflow: .*evaluation: NAME/],
          ['run_full_evaluation', { workflow: 'score' }, /NOT_FOUND: run: /],
          ['run_full_evaluation', { workflow: 'score', run: queryId }, /ILLEGAL_STATE: run: .*no workflow/],
          ['start_review', { kind: 'genral' }, /NOT_FOUND: run: |INVALID_INPUT: kind: .*"general"/],
        ] as const) {
          const answer = await call(name, args);
          expect([answer.isError, answer.text]).toEqual([true, expect.stringMatching(says)]);
        }
        s.open('go');
        expect((await s.closed(queryId)).executions).toHaveLength(1);
      },
    );

    scenario(
      'what scores a workflow begins when that is closed, beside it, and is told of its own',
      async (s) => {
        const { queryId, sessionId } = await s.send('worker', 'Workflow scored');
        const scored = await s.named(queryId, 'scored', (row) => row.state === 'running');
        expect(ofKind(await s.tree(queryId), 'evaluation')).toEqual([]);
        s.open('go');
        const tree = await s.closed(queryId);
        const [evaluation, ...others] = ofKind(tree, 'evaluation');
        expect(others).toEqual([]);
        const { closedAt } = await s.execution(scored.id);
        expect(evaluation).toMatchObject({ parentId: queryId, state: 'succeeded' });
        const told = (await s.prompts(sessionId)).join('\n');
        expect(told).toContain('scored succeeded');
        expect(told).toContain('score of scored succeeded');
        const read = tree.executions.find(({ parentId }) => parentId === evaluation?.id);
        // It is there no later than that is closed, and nothing of it begins before.
        const order = [evaluation?.createdAt, closedAt, read?.createdAt];
        expect([...order].sort()).toEqual(order);
        expect(read?.result).toMatch(new RegExp(`^of succeeded ${scored.id} in /.*${scored.id}`));
      },
    );

    scenario('an evaluation of what is open waits for its closing, and says so', async (s) => {
      const { queryId } = await s.send('shell', tellToken('done'));
      const token = await s.file('token');
      const { url } = s.client.connection;
      const args = { workflow: 'scored', disable_evaluation: true };
      const target = String((await callTool(url, token, 'run_full_workflow', args)).data['executionId']);
      const asked = await callTool(url, token, 'run_full_evaluation', { workflow: 'score', run: target });
      expect(asked.isError, asked.text).toBe(false);
      const id = String(asked.data['executionId']);
      expect(await s.execution(id)).toMatchObject({
        kind: 'evaluation',
        waiting: { for: 'dependency', text: expect.stringContaining(target) },
      });
      const { holding } = await s.tree(queryId);
      expect(holding.find(({ executionId }) => executionId === id)).toMatchObject({ why: 'waiting' });
      s.open('go');
      s.open('done');
      const tree = await s.closed(queryId);
      const evaluation = await s.execution(id);
      expect(evaluation.state).toBe('succeeded');
      expect(time(evaluation.startedAt)).toBeGreaterThanOrEqual(time((await s.execution(target)).closedAt));
      expect(ofKind(tree, 'evaluation')).toHaveLength(1);
    });

    alone(
      'an agent of a workflow that would evaluate it is told that it would wait for itself',
      async (s) => {
        const { queryId } = await s.send('worker', 'Workflow open');
        const workflow = await s.named(queryId, 'open');
        const inside = await s.file('inside');
        const args = { workflow: 'score', run: workflow.id };
        const answer = await callTool(s.client.connection.url, inside, 'run_full_evaluation', args);
        expect([answer.isError, answer.text]).toEqual([true, expect.stringMatching(/^WAIT_ON_SELF: /)]);
        s.open('go');
        expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
      },
    );

    scenario('a review is an agent of its own that is told of the record and what the run did', async (s) => {
      const first = await s.send('worker', 'Workflow broken');
      await s.closed(first.queryId);
      const { queryId } = await s.send(first.sessionId, 'Review general');
      const tree = await s.closed(queryId);
      const [review] = ofKind(tree, 'review');
      expect(review).toMatchObject({ state: 'succeeded', result: 'Well done.', key: 'review:general' });
      const [told = ''] = await s.prompts(review?.runsIn ?? '');
      const directory = /^Record: (\S+)$/m.exec(told)?.[1] ?? '';
      expect(existsSync(directory)).toBe(true);
      expect(told).toMatch(/^broken: failed \(STEP_FAILED\), \d+\.\d s$/m);
      expect(told).toMatch(/^- one \(script\): failed \(\w+\), \d+\.\d s, exe_\w+, /m);
    });

    scenario('a person cancels the workflow: whoever launched it is told who did', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Workflow slow');
      const slow = await s.named(queryId, 'slow', (row) => row.state === 'running');
      await s.client.call('cancelExecution', { id: slow.id, body: { reason: 'no longer wanted' } });
      expect(await s.closed(queryId)).toMatchObject({
        outcome: 'succeeded',
        notices: [{ state: 'handled' }],
      });
      expect(await s.execution(slow.id)).toMatchObject({ state: 'cancelled' });
      expect(existsSync(`${s.directory}/leaf`)).toBe(false);
      const [, told = ''] = await s.prompts(sessionId);
      expect(told).toContain('slow cancelled');
      expect(told).toContain('cancelled by person admin');
    });

    alone('stopping the session ends all of it, joined, and no process is left', async (s) => {
      const { runId, sessionId } = await s.run('worker', ['Workflow ends', 'And now the next one.']);
      const root = await s.message(runId, 0);
      const leaf = Number(await s.file('leaf'));
      await s.named(root, 'agent', (row) => row.state === 'running');
      await s.seen('its agent is at work', root, ({ executions }) =>
        executions.some((row) => row.kind === 'message' && row.parentId !== null && row.state === 'running'),
      );
      await s.client.call('stopSession', { id: sessionId, body: { reason: 'going home' } });
      const tree = await s.tree(root);
      expect(tree).toMatchObject({ closed: true, outcome: 'cancelled', holding: [] });
      expect(tree.executions.filter(({ closed }) => !closed)).toEqual([]);
      expect(isAlive(leaf)).toBe(false);
      expect(s.processes()).toEqual([]);
      expect(await s.ended(runId)).toMatchObject({ outcome: 'cancelled', messages: [{}, { attempts: [] }] });
    });

    alone(
      'the third of five sub-agents below it fails: the others are ended and joined, and it is told why',
      async (s) => {
        const { queryId } = await s.send('worker', 'In the background.');
        const others = ['one', 'two', 'four', 'five'];
        const leaves = await Promise.all(others.map(async (name) => Number(await s.file(`leaf-${name}`))));
        await s.named(queryId, 'three', (row) => row.state === 'running');
        s.open('fail');
        const failed = await s.named(queryId, 'three', (row) => row.state === 'failed');
        const tree = await s.closed(queryId);
        expect(leaves.filter(isAlive)).toEqual([]);
        expect(tree).toMatchObject({ outcome: 'succeeded', holding: [] });
        const hands = others.map((name) => only(tree, 'agent', name));
        expect(hands.map(({ state }) => state)).toEqual(others.map(() => 'cancelled'));
        for (const hand of hands) expect(time(hand.closedAt) - time(failed.endedAt)).toBeLessThan(30_000);
        expect(only(tree, 'step', 'plan')).toMatchObject({
          state: 'failed',
          error: { code: 'SELF_REPORTED' },
        });
        expect(only(tree, 'workflow', 'five')).toMatchObject({ state: 'failed' });
        const bg = only(tree, 'agent', 'bg');
        expect(only(tree, 'workflow', 'five').parentId).toBe(
          tree.executions.find(({ kind, parentId }) => kind === 'message' && parentId === bg.id)?.id,
        );
        const { url, token = '' } = s.client.connection;
        const env = { ...process.env, STEMMA_URL: url, STEMMA_TOKEN: token, NO_COLOR: '1' };
        const { stdout: said } = await promisify(execFile)(
          process.execPath,
          [builtProgram(), 'tree', queryId],
          { env },
        );
        expect(said).toContain('the disk is full');
        expect(said).toContain('three of five could not be done');
      },
    );

    scenario('the steps of a workflow are shown to its agent in brief', async (s) => {
      const { queryId } = await s.send('shell', tellToken('done'));
      const token = await s.file('token');
      const { url } = s.client.connection;
      await callTool(url, token, 'run_full_workflow', { workflow: 'slow' });
      const slow = await s.named(queryId, 'slow');
      const one = await s.named(queryId, 'one', (row) => row.state === 'running');
      const shown = await callTool(url, token, 'get_execution', { id: slow.id });
      expect(shown.data['steps']).toEqual([
        { name: 'one', state: 'running', executionId: one.id },
        { name: 'two', state: 'blocked' },
      ]);
      await s.client.call('cancelExecution', { id: queryId });
      expect(await s.tree(queryId)).toMatchObject({ closed: true, outcome: 'cancelled' });
    });
  });
}
