import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Execution, TreeView } from '../../src/contract/execution.ts';
import type { Run } from '../../src/contract/run.ts';
import { processesWithEnvironment } from '../e2e/living-processes.ts';
import { toolResults, userTexts } from '../model/model-request.ts';
import { AgentServer } from './agent-server.ts';
import { codexKit } from './codex-kit.ts';
import { findProgram } from './kit.ts';
import { firstHeard } from './model-log.ts';

const program = findProgram(codexKit.name);
const patienceMs = 120_000;
const mark = `workflow-${process.pid}`;

const tool = (name: string, args: object): string => `[[tool ${name} ${JSON.stringify(args)}]]`;
const subAgent = (name: string, instruction: string): string =>
  tool('call_sub_agent', { agent: 'coder', name, instruction });
const notice = (what: string): string => `^\\[stemma ntc_\\S+ #\\d+\\] ${what} `;

const rules = [
  {
    when: notice('tests failed'),
    steps: `${subAgent('tests', 'TEST again. [[slow 1 all green]]')} [[say once more]]`,
  },
  { when: notice('tests succeeded'), steps: '[[say the plan is done]]' },
  { when: notice('(nightly|endless) \\w+'), steps: '[[say handled $1]]' },
];

const agents = { coder: { agent: 'codex', description: 'writes code', prompt: 'You write code.' } };
const sleeps = `[[shell STEMMA_MARK=${mark} sleep 600]]`;
const workflows: Readonly<Record<string, object>> = {
  nightly: {
    agent: 'codex',
    steps: {
      fetch: { type: 'script', run: 'echo fetched' },
      fix: { type: 'agent', needs: ['fetch'], prompt: 'FIX it. [[slow 1 it is fixed]]' },
      plan: {
        type: 'todo',
        needs: ['fix'],
        prompt: `PLAN. ${subAgent('lint', 'LINT. [[slow 1 clean]]')} ${subAgent('tests', 'TEST. [[fail 400]]')} [[say given out]]`,
        agents,
        onChildFailure: 'wait',
      },
      again: { type: 'workflow', needs: ['plan'], workflow: 'inner' },
    },
  },
  inner: {
    agent: 'codex',
    steps: { last: { type: 'agent', prompt: 'INNER. [[slow 1 the inner one is done]]' } },
  },
  endless: {
    agent: 'codex',
    steps: {
      script: { type: 'script', run: `STEMMA_MARK=${mark} sleep 600` },
      plan: {
        type: 'todo',
        prompt: `ENDLESS. ${subAgent('one', sleeps)} ${subAgent('two', sleeps)} [[say given out]]`,
        agents,
      },
    },
  },
};

describe.skipIf(!program)('a workflow that the real Codex launches', () => {
  let server: AgentServer;
  beforeAll(async () => {
    server = await AgentServer.start(codexKit, program ?? '', rules);
    mkdirSync(join(server.directory, 'workflows'));
    for (const [name, file] of Object.entries(workflows)) {
      const path = join(server.directory, 'workflows', `${name}.yaml`);
      writeFileSync(path, JSON.stringify({ apiVersion: 'stemma/v1', ...file }));
    }
  }, 30_000);
  afterAll(() => server?.stop(), 30_000);

  const launch = (workflow: string): string => tool('run_full_workflow', { workflow });

  describe('and waits for', () => {
    let run: Run;
    let tree: TreeView;
    beforeAll(async () => {
      const id = await server.run([
        `LAUNCH. ${launch('nightly')} [[say it is launched]]`,
        'SECOND. [[say second]]',
        'THIRD. [[say third]]',
      ]);
      run = await server.ended(id, patienceMs);
      [tree] = (await server.trees(run)) as [TreeView];
    }, patienceMs + 10_000);

    const named = (name: string, kind: Execution['kind'], attempt = 1): Execution => {
      const row = tree.executions.find((e) => e.name === name && e.kind === kind && e.attempt === attempt);
      if (!row)
        throw new Error(`no ${kind} ${name} in ${JSON.stringify(tree.executions.map((e) => e.name))}`);
      return row;
    };

    test('all messages are sent, each once', async () => {
      expect(run.outcome, await server.describe(run)).toBe('succeeded');
      for (const text of ['LAUNCH.', 'SECOND.', 'THIRD.']) {
        const heard = new Set(
          server.model.log.flatMap((e) =>
            e.type === 'request' && e.userTexts.at(-1)?.startsWith(text) ? [e.turnId] : [],
          ),
        );
        expect(heard.size, text).toBe(1);
      }
    });

    test('everything is below the message: orchestrator, sub-agents, the retry, the nested workflow', () => {
      expect(new Set(tree.executions.map((row) => row.rootId))).toEqual(new Set([tree.root]));
      const nightly = named('nightly', 'workflow');
      expect(nightly).toMatchObject({ parentId: tree.root, parentSource: 'turn', state: 'succeeded' });
      for (const name of ['fetch', 'fix', 'plan'])
        expect(named(name, 'step')).toMatchObject({ parentId: nightly.id, state: 'succeeded' });
      expect(named('again', 'workflow').parentId).toBe(nightly.id);
      expect(named('last', 'step').parentId).toBe(named('again', 'workflow').id);
      const plan = named('plan', 'step');
      expect(plan.result).toBe('the plan is done');
      const isBelowPlan = (row: Execution | undefined): boolean =>
        row !== undefined &&
        (row.id === plan.id || isBelowPlan(tree.executions.find(({ id }) => id === row.parentId)));
      const states = [named('lint', 'agent'), named('tests', 'agent'), named('tests', 'agent', 2)];
      expect(states.map((row) => [row.state, isBelowPlan(row)])).toEqual([
        ['succeeded', true],
        ['failed', true],
        ['succeeded', true],
      ]);
    });

    test('the next message reaches the model when all of it is closed and every result was handled', async () => {
      expect(tree.executions.filter((row) => !row.closed)).toEqual([]);
      expect(tree.notices.map((row) => row.state)).toEqual(tree.notices.map(() => 'handled'));
      expect(tree.notices.length).toBe(4);
      const next = firstHeard(server.model, 'SECOND.');
      const before = server.model.log.slice(0, next);
      const opened = before.flatMap((e) => (e.type === 'request' ? [e.number] : []));
      const ended = before.flatMap((e) => (e.type === 'ended' ? [e.number] : []));
      expect(opened.filter((number) => !ended.includes(number))).toEqual([]);
      expect(firstHeard(server.model, 'INNER.')).toBeGreaterThan(firstHeard(server.model, 'TEST again.'));
      expect(next).toBeGreaterThan(firstHeard(server.model, 'nightly succeeded'));
      const [, second] = run.messages;
      const sent = await server.client.call('getExecution', { id: second?.attempts[0]?.executionId ?? '' });
      const closings = tree.executions.map((row) => Date.parse(row.closedAt ?? ''));
      expect(Date.parse(sent.createdAt)).toBeGreaterThanOrEqual(Math.max(...closings));
    });

    test('the call that launched it had been answered long before', () => {
      const turnEnd = Date.parse(tree.executions[0]?.endedAt ?? '');
      expect(turnEnd).toBeLessThan(Date.parse(named('plan', 'step').createdAt));
      const answered = server.model.requests.findIndex((r) => toolResults(r).join().includes('exe_'));
      const inner = server.model.requests.findIndex((r) => userTexts(r).join().includes('INNER.'));
      expect(answered).toBeGreaterThan(-1);
      expect(answered).toBeLessThan(inner);
    });
  });

  test(
    'stopping its session in the middle ends all of it, joined, and no process is left',
    async () => {
      const id = await server.run([`LAUNCH ${launch('endless')} [[say launched]]`, 'NEVER. [[say never]]']);
      await expect
        .poll(() => processesWithEnvironment(mark).length, { timeout: patienceMs })
        .toBeGreaterThanOrEqual(3);
      const { sessionId = '' } = await server.client.call('getRun', { id });
      await server.client.call('stopSession', { id: sessionId, body: { reason: 'enough' } });
      expect(processesWithEnvironment(mark)).toEqual([]);
      const run = await server.ended(id, patienceMs);
      const [tree] = await server.trees(run);
      expect(tree).toMatchObject({ closed: true, outcome: 'cancelled', holding: [] });
      expect(tree?.executions.filter((row) => !row.closed)).toEqual([]);
      expect(run).toMatchObject({ outcome: 'cancelled', messages: [{}, { attempts: [] }] });
      expect(firstHeard(server.model, 'NEVER.')).toBe(-1);
    },
    patienceMs + 20_000,
  );
});
