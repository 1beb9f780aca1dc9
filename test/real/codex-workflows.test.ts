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
import { firstHeard, turnsWith, unansweredAt } from './model-log.ts';

const program = findProgram(codexKit.name);
const patienceMs = 120_000;
const mark = `workflow-${process.pid}`;

const tool = (name: string, args: object): string => `[[tool ${name} ${JSON.stringify(args)}]]`;
const subAgent = (name: string, instruction: string): string =>
  tool('call_sub_agent', { agent: 'coder', name, instruction });
const notice = (what: string): string => `^\\[stemma ntc_\\S+ #\\d+\\] ${what} `;

const launch = (workflow: string): string => tool('run_full_workflow', { workflow });

const rules = [
  {
    when: notice('tests failed'),
    steps: `${subAgent('tests', 'TEST again. [[slow 1 all green]]')} [[say once more]]`,
  },
  { when: notice('tests succeeded'), steps: '[[say the plan is done]]' },
  { when: notice('flaky failed'), steps: `${launch('flaky')} [[say it is launched again]]` },
  { when: notice('(nightly|endless|deep|flaky) \\w+'), steps: '[[say handled $1]]' },
];

const coder = { agent: 'codex', description: 'writes code', prompt: 'You write code.' };
const agents = { coder, lead: { agent: 'codex', description: 'gives out work itself', agents: { coder } } };
const leading = tool('call_sub_agent', {
  agent: 'lead',
  name: 'lead',
  instruction: `LEAD. ${subAgent('deep', 'DEEP. [[slow 1 deep down]]')} [[say given on]]`,
});
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
        prompt: `PLAN. ${subAgent('lint', 'LINT. [[slow 1 clean]]')} ${subAgent('tests', 'TEST. [[fail 400]]')} ${leading} [[say given out]]`,
        agents,
        onChildFailure: 'wait',
      },
      write: { needs: ['fetch'], messages: ['WRITE. [[slow 1 written]]', 'READ. [[slow 1 read]]'] },
      again: { type: 'workflow', needs: ['plan', 'write'], workflow: 'inner' },
    },
  },
  inner: {
    agent: 'codex',
    steps: { last: { type: 'agent', prompt: 'INNER. [[slow 1 the inner one is done]]' } },
  },
  flaky: {
    agent: 'codex',
    steps: {
      look: { run: 'test -e tried || { touch tried; echo "no room" >&2; exit 3; }' },
      mend: { needs: ['look'], prompt: 'MEND. [[slow 1 mended]]' },
    },
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

const rare = { cron: '0 2 1 1 *', agent: 'codex', cwd: 'work', workspace: 'shared' };
const schedules = {
  nights: {
    ...rare,
    messages: [
      `LAUNCH. ${launch('nightly')} [[say it is launched]]`,
      'SECOND. [[say second]]',
      'THIRD. [[say third]]',
    ],
  },
  stopped: { ...rare, messages: [`LAUNCH ${launch('endless')} [[say launched]]`, 'NEVER. [[say never]]'] },
};

describe.skipIf(!program)('a workflow that the real Codex launches', () => {
  let server: AgentServer;
  beforeAll(async () => {
    server = await AgentServer.start(codexKit, program ?? '', rules, () => ({ schedules }));
    mkdirSync(join(server.directory, 'workflows'));
    for (const [name, file] of Object.entries(workflows)) {
      const path = join(server.directory, 'workflows', `${name}.yaml`);
      writeFileSync(path, JSON.stringify({ apiVersion: 'stemma/v1', ...file }));
    }
  }, 30_000);
  afterAll(() => server?.stop(), 30_000);

  const trigger = async (id: string): Promise<string> =>
    (await server.client.call('triggerSchedule', { id, body: {} })).runId;

  describe('and waits for, by a schedule', () => {
    let run: Run;
    let tree: TreeView;
    let answeredAt: number;
    beforeAll(async () => {
      const id = await trigger('nights');
      answeredAt = Date.now();
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
      expect(run.schedule).toContain('nights');
      for (const text of ['LAUNCH.', 'SECOND.', 'THIRD.'])
        expect(turnsWith(server.model, text), text).toHaveLength(1);
    });

    test('everything is below the message: orchestrators in orchestrators, sequence, retry, the nested workflow', () => {
      expect(new Set(tree.executions.map((row) => row.rootId))).toEqual(new Set([tree.root]));
      const nightly = named('nightly', 'workflow');
      expect(nightly).toMatchObject({ parentId: tree.root, parentSource: 'turn', state: 'succeeded' });
      for (const name of ['fetch', 'fix', 'plan', 'write'])
        expect(named(name, 'step')).toMatchObject({ parentId: nightly.id, state: 'succeeded' });
      expect(named('again', 'workflow').parentId).toBe(nightly.id);
      expect(named('last', 'step').parentId).toBe(named('again', 'workflow').id);
      const plan = named('plan', 'step');
      expect(plan.result).toBe('the plan is done');
      const isBelow = (row: Execution | undefined, above: Execution): boolean =>
        row !== undefined &&
        (row.id === above.id ||
          isBelow(
            tree.executions.find(({ id }) => id === row.parentId),
            above,
          ));
      const hands = [named('lint', 'agent'), named('tests', 'agent'), named('tests', 'agent', 2)];
      expect(hands.map((row) => row.state)).toEqual(['succeeded', 'failed', 'succeeded']);
      for (const row of [...hands, named('lead', 'agent')]) expect(isBelow(row, plan)).toBe(true);
      expect(isBelow(named('deep', 'agent'), named('lead', 'agent'))).toBe(true);
      const messages = tree.executions.filter((row) => row.parentId === named('write', 'step').id);
      expect(messages.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
        'message succeeded',
        'message succeeded',
      ]);
    });

    test('the next message reaches the model when all of it is closed and every result was handled', async () => {
      expect(tree.executions.filter((row) => !row.closed)).toEqual([]);
      expect(tree.notices.map((row) => row.state)).toEqual(tree.notices.map(() => 'handled'));
      expect(tree.notices.length).toBe(6);
      const next = firstHeard(server.model, 'SECOND.');
      expect(unansweredAt(server.model, next)).toEqual([]);
      expect(firstHeard(server.model, 'INNER.')).toBeGreaterThan(firstHeard(server.model, 'TEST again.'));
      expect(next).toBeGreaterThan(firstHeard(server.model, 'nightly succeeded'));
      const [, second] = run.messages;
      const sent = await server.client.call('getExecution', { id: second?.attempts[0]?.executionId ?? '' });
      const closings = tree.executions.map((row) => Date.parse(row.closedAt ?? ''));
      expect(Date.parse(sent.createdAt)).toBeGreaterThanOrEqual(Math.max(...closings));
    });

    test('the calls that triggered and launched it had been answered long before', () => {
      expect(answeredAt).toBeLessThan(Date.parse(named('nightly', 'workflow').createdAt));
      const turnEnd = Date.parse(tree.executions[0]?.endedAt ?? '');
      expect(turnEnd).toBeLessThan(Date.parse(named('plan', 'step').createdAt));
      const answered = server.model.requests.findIndex((r) => toolResults(r).join().includes('exe_'));
      const inner = server.model.requests.findIndex((r) => userTexts(r).join().includes('INNER.'));
      expect(answered).toBeGreaterThan(-1);
      expect(answered).toBeLessThan(inner);
    });
  });

  test(
    'its failure is steered into the busy agent, which launches it again: the next message waits for both',
    async () => {
      const id = await server.run([
        `AGAIN. ${launch('flaky')} [[shell until test -e told; do sleep 0.1; done]] [[say both are launched]]`,
        'AFTER. [[say after]]',
      ]);
      await server.untilSteered(id, 'flaky', patienceMs);
      writeFileSync(join(server.cwd, 'told'), '');
      const run = await server.ended(id, patienceMs);
      expect(run.outcome, await server.describe(run)).toBe('succeeded');
      const [tree] = (await server.trees(run)) as [TreeView];
      const { model } = server;
      // The proof: the model hears of the failure, typed and with its reason, in the very turn of the message.
      expect(turnsWith(model, 'flaky failed')).toEqual(turnsWith(model, 'AGAIN.'));
      expect(model.requests.flatMap(userTexts).find((text) => text.includes('flaky failed'))).toMatch(
        /STEP_FAILED: .*no room/s,
      );
      const both = tree.executions.filter(({ kind }) => kind === 'workflow');
      expect(both).toMatchObject([
        { attempt: 1, state: 'failed', error: { code: 'STEP_FAILED' }, parentId: tree.root },
        { attempt: 2, state: 'succeeded', parentId: tree.root, parentSource: 'turn' },
      ]);
      expect(tree.executions.filter((row) => !row.closed)).toEqual([]);
      expect(tree.notices.map((row) => row.state)).toEqual(['handled', 'handled']);
      const [root, ...rest] = tree.executions;
      const steered = rest.find((row) => row.id === tree.notices[0]?.continuationId);
      expect([steered?.kind, steered?.endedAt]).toEqual(['continuation', root?.endedAt]);
      const next = firstHeard(model, 'AFTER.');
      const order = ['flaky failed', 'MEND.', 'flaky succeeded', 'AFTER.'].map((text) =>
        firstHeard(model, text),
      );
      expect(order).toEqual([...order].sort((a, b) => a - b));
      expect(order[0]).toBeGreaterThan(-1);
      expect(unansweredAt(model, next)).toEqual([]);
      const sent = model.log[next];
      const closings = tree.executions.map((row) => Date.parse(row.closedAt ?? ''));
      expect(sent?.at).toBeGreaterThanOrEqual(Math.max(...closings));
    },
    patienceMs + 20_000,
  );

  test(
    'stopping its session in the middle ends all of it, joined, and no process is left',
    async () => {
      const id = await trigger('stopped');
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
