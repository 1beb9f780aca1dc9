import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Execution, TreeView } from '../../src/contract/execution.ts';
import type { Run } from '../../src/contract/run.ts';
import { userTexts } from '../model/model-request.ts';
import type { Rule } from '../model/prompt-script.ts';
import { AgentServer } from './agent-server.ts';
import { codexKit } from './codex-kit.ts';
import { findProgram } from './kit.ts';
import { firstHeard, toldWith, turnsWith, unansweredAt } from './model-log.ts';

const program = findProgram(codexKit.name);
const patienceMs = 90_000;
const examples = join(import.meta.dirname, '../../examples');

const tool = (name: string, args: object): string => `[[tool ${name} ${JSON.stringify(args)}]]`;
const background = (name: string, instruction: string): string =>
  tool('run_in_background', { name, instruction });
const repair = (agent: string): string =>
  tool('call_sub_agent', {
    agent,
    name: agent,
    instruction: `REPAIR as ${agent}. [[slow 1 repaired by ${agent}]]`,
  });
const notice = (what: string): string => `^\\[stemma ntc_\\S+ #\\d+\\] ${what} `;

/** What the model does with the messages of the examples, which are those of people and carry no directives. */
const rules: Rule[] = [
  { when: notice('formatter \\w+'), steps: '[[say all three repairs are done]]' },
  { when: '^Look over the repository', steps: '[[say three things need repair]]' },
  {
    when: '^Give out the repairs',
    steps: `${repair('formatter')} ${repair('tester')} ${repair('writer')} [[say given out]]`,
  },
  { when: '^Review the night of (\\S+)', steps: '[[say reviewed $1]]' },
  {
    when: '^Write the chapter (\\w+) in',
    steps: `${background('facts', 'FACTS of $1. [[slow 1 they are right]]')} [[say wrote $1]]`,
  },
  { when: notice('facts \\w+'), steps: '[[say checked]]' },
  { when: '^Read the chapter again', steps: '[[say shortened]]' },
  { when: '^Put the chapters together', steps: '[[say one document]]' },
  {
    when: notice('tests failed'),
    steps: `${background('tests', 'TEST again. [[slow 1 all pass]]')} [[say once more]]`,
  },
  {
    when: '^Run the nightly checks',
    steps: `${background('lint', 'LINT. [[slow 1 clean]]')} ${background('tests', 'TEST. [[fail 400]]')} [[shell until test -e told; do sleep 0.1; done]] [[say both have begun]]`,
  },
  { when: notice('(\\w+) succeeded'), steps: '[[say noted $1]]' },
  { when: '^Summarise what the checks found', steps: '[[say all is well]]' },
];

describe
  .skipIf(!program)
  .concurrent('the examples of workflows, on the real Codex', { timeout: patienceMs }, () => {
    let server: AgentServer;
    beforeAll(async () => {
      const configuration = parse(readFileSync(join(examples, 'stemma-workflows.yaml'), 'utf8')) as Readonly<
        Record<string, unknown>
      >;
      // The files say `agent: demo`: that name is Codex here, and nothing else of the examples is another.
      server = await AgentServer.start(codexKit, program ?? '', rules, (profile) => ({
        ...configuration,
        agents: { demo: profile },
      }));
      cpSync(join(examples, 'workflows'), join(server.directory, 'workflows'), { recursive: true });
    }, 30_000);
    afterAll(() => server?.stop(), 30_000);

    const begin = async (id: string, inputs: Record<string, string> = {}): Promise<string> =>
      (await server.client.call('runWorkflow', { id, body: { inputs } })).runId;

    const ended = async (id: string): Promise<{ run: Run; tree: TreeView }> => {
      const run = await server.ended(id, patienceMs);
      const [tree] = await server.trees(run);
      expect(run.outcome, await server.describe(run)).toBe('succeeded');
      expect(tree?.executions.filter((row) => !row.closed)).toEqual([]);
      expect(new Set(tree?.executions.map((row) => row.rootId))).toEqual(new Set([tree?.root]));
      expect(tree?.notices.map((row) => row.state)).toEqual(tree?.notices.map(() => 'handled'));
      return { run, tree: tree as TreeView };
    };

    const childrenOf = (tree: TreeView, parent: Execution | undefined): Execution[] =>
      tree.executions.filter((row) => row.parentId === parent?.id);
    const stepOf = (tree: TreeView, name: string): Execution | undefined =>
      tree.executions.find((row) => row.kind === 'step' && row.name === name);
    const belowOf = (tree: TreeView, row: Execution): Execution[] => [
      row,
      ...childrenOf(tree, row).flatMap((child) => belowOf(tree, child)),
    ];

    /** The messages of a step, each of which was sent when all below the one before it was closed. */
    const serialMessages = (tree: TreeView, step: string): Execution[] => {
      const messages = childrenOf(tree, stepOf(tree, step)).filter((row) => row.kind === 'message');
      for (const [index, next] of messages.entries()) {
        const before = index === 0 ? [] : belowOf(tree, messages[index - 1] as Execution);
        const closings = before.map((row) => Date.parse(row.closedAt ?? ''));
        expect(Date.parse(next.createdAt)).toBeGreaterThanOrEqual(Math.max(0, ...closings));
      }
      return messages;
    };

    test('nightly care: a script, an agent, three sub-agents told of at once, a check, a review', async () => {
      const { run, tree } = await ended(await begin('nightly-care', { day: '2027-03-28' }));
      const steps = run.workflow?.steps ?? [];
      expect(steps.map(({ name, type, state }) => `${name} ${type} ${state}`)).toEqual([
        'fetch script succeeded',
        'look agent succeeded',
        'repair todo succeeded',
        'validate script succeeded',
        'review agent succeeded',
      ]);
      expect(steps.at(-1)?.outputs).toEqual({ report: 'reviewed 2027-03-28' });
      expect(steps[0]?.result).toContain('workflows');
      const { model } = server;
      const told = (part: string) =>
        model.requests.flatMap(userTexts).find((text) => text.includes(part)) ?? '';
      expect(told('Look over the repository')).toContain(steps[0]?.result?.trim());
      expect(told('Give out the repairs')).toContain('three things need repair');
      expect(told('Review the night')).toContain('all three repairs are done');
      const hands = ['formatter', 'tester', 'writer'];
      const repaired = belowOf(tree, stepOf(tree, 'repair') as Execution);
      expect(
        repaired.flatMap((row) => (row.kind === 'agent' ? [`${row.name} ${row.state}`] : [])).sort(),
      ).toEqual(hands.map((hand) => `${hand} succeeded`));
      const ofNight = /Look over|Give out|REPAIR|Review/;
      const batch = told('formatter succeeded');
      for (const hand of hands) expect(batch).toContain(`repaired by ${hand}`);
      expect(turnsWith(model, 'formatter succeeded')).toHaveLength(1);
      const batchAt = firstHeard(model, 'formatter succeeded');
      for (const hand of hands) expect(firstHeard(model, `REPAIR as ${hand}`)).toBeLessThan(batchAt);
      expect(unansweredAt(model, batchAt, ofNight)).toEqual([]);
      const review = firstHeard(model, 'Review the night');
      expect(unansweredAt(model, review, ofNight)).toEqual([]);
      expect(review).toBeGreaterThan(batchAt);
    });

    test('documents: every row in one conversation, each message after the checks of the one before', async () => {
      const { run, tree } = await ended(await begin('documents', { language: 'Deutsch' }));
      expect(run.workflow?.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
        'table succeeded',
        'write succeeded',
        'publish succeeded',
      ]);
      expect(run.workflow?.steps.at(-1)?.outputs).toEqual({ document: 'one document' });
      const rows = { Sessions: 'everybody', Trees: 'those who want to know why', Schedules: 'everybody' };
      expect(serialMessages(tree, 'write')).toHaveLength(6);
      expect(toldWith(server.model, 'Write the chapter Sessions')).toEqual(
        Object.entries(rows).flatMap(([title, reader]) => [
          expect.stringContaining(`Write the chapter ${title} in Deutsch, for ${reader}.`),
          expect.stringMatching(/^\[stemma ntc_\S+ #1\] facts succeeded /),
          expect.stringContaining('Read the chapter again, and shorten it.'),
        ]),
      );
      const publish = firstHeard(server.model, 'Put the chapters together');
      expect(unansweredAt(server.model, publish, /chapter|FACTS/)).toEqual([]);
    });

    test('retry: a failure steered into the busy Codex, which begins again; the second message waits for all of it', async () => {
      const id = await begin('retry');
      await server.untilSteered(id, 'tests', patienceMs);
      writeFileSync(join(server.directory, 'told'), '');
      const { run, tree } = await ended(id);
      expect(run.workflow?.steps[0]).toMatchObject({ state: 'succeeded', result: 'all is well' });
      const [first, second, ...others] = serialMessages(tree, 'checks');
      expect(others).toEqual([]);
      const below = belowOf(tree, first as Execution);
      const agents = below.filter((row) => row.kind === 'agent');
      expect(agents.map((row) => `${row.name} ${row.attempt} ${row.state}`).sort()).toEqual([
        'lint 1 succeeded',
        'tests 1 failed',
        'tests 2 succeeded',
      ]);
      const { model } = server;
      // The proof of the steer: the model hears of the failure in the very turn of the message.
      expect(turnsWith(model, 'tests failed')).toEqual(turnsWith(model, 'Run the nightly checks.'));
      expect(turnsWith(model, 'Summarise what the checks found.')).toHaveLength(1);
      const next = firstHeard(model, 'Summarise what the checks found.');
      for (const told of ['tests failed', 'TEST again.', 'tests succeeded', 'lint succeeded'])
        expect(firstHeard(model, told), told).toBeGreaterThan(-1);
      expect(next).toBeGreaterThan(firstHeard(model, 'tests succeeded'));
      expect(next).toBeGreaterThan(firstHeard(model, 'lint succeeded'));
      expect(unansweredAt(model, next, /checks|LINT|TEST/)).toEqual([]);
      expect(second?.closed).toBe(true);
    });
  });
