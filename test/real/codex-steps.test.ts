import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run } from '../../src/contract/run.ts';
import type { WorkflowStep } from '../../src/contract/workflow.ts';
import { waitFor } from '../e2e/wait-for.ts';
import { toolResults, userTexts } from '../model/model-request.ts';
import type { Rule } from '../model/prompt-script.ts';
import { AgentServer } from './agent-server.ts';
import { claudeKit } from './claude-kit.ts';
import { codexKit } from './codex-kit.ts';
import { findProgram } from './kit.ts';
import { firstHeard, toldWith, turnsWith } from './model-log.ts';

const program = findProgram(codexKit.name);
const claude = findProgram(claudeKit.name);
const patienceMs = 90_000;

const tool = (name: string, args: object): string => `[[tool ${name} ${JSON.stringify(args)}]]`;

const rules: Rule[] = [
  { when: '^\\[stemma repair 1 of 1\\] MEND', steps: '[[shell sed -i s/draft/final/ *.md]] [[say mended]]' },
  { when: '^\\[stemma repair 1 of 1\\]', steps: '[[say {"points": 3}]]' },
  { when: '^DO two', steps: '[[say I looked.\n[stemma failed] there is no such table]]', times: 1 },
  { when: '^Review what a run', steps: '[[say it went well]]' },
  { when: '^\\[stemma ntc_\\S+ #\\d+\\] hand succeeded', steps: '[[say from claude]]' },
  { when: '^\\[stemma ntc_\\S+ #\\d+\\] (\\S+)', steps: '[[say handled $1]]' },
];

const points = { type: 'object', required: ['points'], properties: { points: { type: 'integer' } } };
const rowsOf = (...names: string[]) => ({
  command: `echo '${JSON.stringify(names.map((name) => ({ name })))}'`,
});

const workflows = (directory: string): Readonly<Record<string, object>> => ({
  parts: {
    steps: {
      size: { prompt: 'SIZE. [[say big]]', cases: { big: ['plan'], small: ['never'] } },
      never: { needs: ['size'], run: 'touch never' },
      plan: {
        needs: ['size'],
        prompt: 'PLAN. [[say {"points": "many"}]]',
        outputs: { plan: { answer: true, schema: points } },
        repairs: 1,
      },
      write: {
        needs: ['plan'],
        foreach: rowsOf('one', 'two'),
        messages: [
          'WRITE {{row.name}} of {{steps.plan.outputs.plan.points}}. [[shell echo draft {{row.name}} > {{row.name}}.md]] [[say wrote {{row.name}}]]',
          { validate: '! grep draft "$ROW_NAME.md"', repairs: 1, say: 'MEND the draft.' },
        ],
      },
      ask: {
        needs: ['write'],
        question: 'Publish what has {{steps.plan.outputs.plan.points}} points?',
        choices: ['publish', 'discard'],
        declines: ['discard'],
      },
      publish: { needs: ['ask'], prompt: 'PUBLISH after {{steps.ask.result}}. [[say published]]' },
    },
  },
  rows: {
    steps: {
      all: {
        foreach: rowsOf('one', 'two', 'three'),
        messages: ['DO {{row.name}}. [[say did {{row.name}}]]'],
      },
    },
  },
  mixed: {
    steps: {
      first: { prompt: 'FIRST. [[say from codex]]' },
      second: {
        agent: claudeKit.name,
        needs: ['first'],
        prompt: `SECOND is told "{{steps.first.result}}". ${tool('call_sub_agent', { agent: 'hand', name: 'hand', instruction: 'HAND. [[slow 1 done by hand]]' })} [[say given out]]`,
        agents: { hand: { agent: codexKit.name, description: 'does it' } },
      },
      third: { needs: ['second'], prompt: 'THIRD is told "{{steps.second.result}}". [[say the end]]' },
    },
  },
  small: {
    evaluation: 'score',
    steps: {
      begin: { run: 'echo begun' },
      last: {
        needs: ['begin'],
        prompt: `LAST. [[shell until test -e ${join(directory, 'go')}; do sleep 0.1; done]] [[say done]]`,
      },
    },
  },
  score: {
    of: 'run',
    steps: {
      score: {
        prompt: 'SCORE what has {{of.outcome}}. [[say {"points": 7}]]',
        outputs: { score: { answer: true, schema: points } },
      },
    },
    outputs: { points: '{{steps.score.outputs.score.points}}' },
  },
});

describe.skipIf(!program).concurrent('steps of workflows on the real Codex', { timeout: patienceMs }, () => {
  let server: AgentServer;
  beforeAll(async () => {
    server = await AgentServer.start(codexKit, program ?? '', rules, (_, { directory, model }) => ({
      agents: claude ? { [claudeKit.name]: claudeKit.profile(claude, directory, model) } : {},
    }));
    mkdirSync(join(server.directory, 'workflows'));
    for (const [name, file] of Object.entries(workflows(server.directory)))
      writeFileSync(
        join(server.directory, 'workflows', `${name}.yaml`),
        JSON.stringify({ apiVersion: 'stemma/v1', agent: codexKit.name, cwd: 'work', ...file }),
      );
  }, 30_000);
  afterAll(() => server?.stop(), 30_000);

  const begin = async (id: string): Promise<string> =>
    (await server.client.call('runWorkflow', { id, body: {} })).runId;
  const stepOf = (run: Run, name: string): WorkflowStep => {
    const step = run.workflow?.steps.find((one) => one.name === name);
    if (!step) throw new Error(`no step ${name}`);
    return step;
  };
  test('a route, an output that is mended, rows behind a gate, and a person who is asked', async () => {
    const id = await begin('parts');
    const asked = await waitFor(
      'a person is asked',
      async () => {
        const ask = stepOf(await server.client.call('getRun', { id }), 'ask').attempts[0];
        return ask?.waiting?.for === 'input' && ask;
      },
      { withinMs: patienceMs, everyMs: 100 },
    );
    expect(asked.waiting?.text).toBe('Publish what has 3 points?');
    expect(firstHeard(server.model, 'PUBLISH')).toBe(-1);
    await server.client.call('answerExecution', { id: asked.executionId, body: { choice: 'publish' } });
    const run = await server.ended(id, patienceMs);
    expect(run.outcome, await server.describe(run)).toBe('succeeded');
    expect(run.workflow?.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'size succeeded',
      'never skipped',
      'plan succeeded',
      'write succeeded',
      'ask succeeded',
      'publish succeeded',
    ]);
    expect(existsSync(join(server.cwd, 'never'))).toBe(false);
    expect(stepOf(run, 'plan').outputs).toEqual({ plan: { points: 3 } });
    expect(toldWith(server.model, 'PLAN.')).toEqual([
      expect.stringMatching(/^PLAN\./),
      expect.stringMatching(/^\[stemma repair 1 of 1\] .*points/s),
    ]);
    expect(toldWith(server.model, 'WRITE one')).toEqual([
      expect.stringMatching(/^WRITE one of 3\./),
      expect.stringMatching(/^\[stemma repair 1 of 1\] MEND the draft\..*draft one/s),
      expect.stringMatching(/^WRITE two of 3\./),
      expect.stringMatching(/^\[stemma repair 1 of 1\] MEND the draft\..*draft two/s),
    ]);
    expect(readFileSync(join(server.cwd, 'two.md'), 'utf8')).toBe('final two\n');
    expect(turnsWith(server.model, 'PUBLISH after publish.')).toHaveLength(1);
  });

  test('a failure that the agent reports stops the rows; resumed, they go on there in the same conversation', async () => {
    const id = await begin('rows');
    const failed = await server.ended(id, patienceMs);
    expect(failed).toMatchObject({ outcome: 'failed', outcomeCode: 'STEP_FAILED' });
    expect(stepOf(failed, 'all').attempts.at(-1)?.error).toEqual({
      code: 'SELF_REPORTED',
      message: 'there is no such table',
    });
    expect(firstHeard(server.model, 'DO three')).toBe(-1);
    await server.client.call('resumeRun', { id, body: {} });
    const run = await waitFor(
      'the resumed run ends',
      async () => {
        const now = await server.client.call('getRun', { id });
        return now.state === 'ended' && now.outcome === 'succeeded' && now;
      },
      { withinMs: patienceMs, everyMs: 100 },
    );
    expect(stepOf(run, 'all').state).toBe('succeeded');
    const told = toldWith(server.model, 'DO one').map((text) => text.split('.', 1)[0]);
    expect(told).toEqual(['DO one', 'DO two', 'DO two', 'DO three']);
  });

  test.skipIf(!claude)(
    'steps of Codex and of Claude, which gives out work to Codex, are told of each other in one workflow',
    async () => {
      const run = await server.ended(await begin('mixed'), patienceMs);
      expect(run.outcome, await server.describe(run)).toBe('succeeded');
      expect(turnsWith(server.model, 'SECOND is told "from codex".')).toHaveLength(1);
      expect(turnsWith(server.model, 'THIRD is told "from claude".')).toHaveLength(1);
      const askedBy = (text: RegExp): string | undefined =>
        server.model.requests.find((request) => text.test(userTexts(request).at(-1) ?? ''))?.model;
      expect(askedBy(/^SECOND is told/)).toContain('claude');
      expect(askedBy(/ hand succeeded/)).toBe(askedBy(/^SECOND is told/));
      expect([askedBy(/^HAND\./), askedBy(/^THIRD is told/)]).toEqual(['scripted', 'scripted']);
    },
  );

  test('a step, a review and an evaluation that the agent asks for hold its message until they are handled', async () => {
    const step = tool('execute_step', { workflow: 'small', step: 'last' });
    const id = await server.run([
      `WHOLE. ${tool('run_full_workflow', { workflow: 'small', disable_evaluation: true })} [[shell touch ../go]] [[say launched]]`,
      `ASK. [[shell rm ../go]] ${step} ${step} [[shell touch ../go]] ${tool('start_review', { kind: 'general' })} ${tool('run_full_evaluation', { workflow: 'small' })} [[say asked]]`,
      'END. [[say the end]]',
    ]);
    const run = await server.ended(id, patienceMs);
    expect(run.outcome, await server.describe(run)).toBe('succeeded');
    const [whole, asked] = await server.trees(run);
    expect(whole?.executions.filter(({ kind }) => kind === 'evaluation')).toEqual([]);
    const launched = asked?.executions.filter(({ parentId }) => parentId === asked.root) ?? [];
    const made = launched.filter(({ kind }) => kind !== 'continuation');
    expect(made.map(({ kind, name, state }) => `${kind} ${name} ${state}`)).toEqual([
      'step small/last succeeded',
      'review general review of small succeeded',
      'evaluation score of small succeeded',
    ]);
    expect(made.map(({ parentSource }) => parentSource)).toEqual(['turn', 'turn', 'turn']);
    // Asked for twice while it ran, it is one.
    const last = server.model.requests.findLast((request) =>
      userTexts(request).includes('END. [[say the end]]'),
    );
    const answers = toolResults(last ?? { conversation: [] });
    expect(answers.filter((text) => text.includes(made[0]?.id ?? 'none'))).toHaveLength(2);
    expect(asked?.notices.map((row) => row.state)).toEqual(['handled', 'handled', 'handled']);
    const end = firstHeard(server.model, 'END.');
    for (const told of [
      'small/last succeeded',
      'general review of small succeeded',
      'score of small succeeded',
    ]) {
      expect(firstHeard(server.model, told), told).toBeGreaterThan(-1);
      expect(firstHeard(server.model, told), told).toBeLessThan(end);
    }
    expect(firstHeard(server.model, 'SCORE what has succeeded.')).toBeGreaterThan(-1);
  });
});
