import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Run } from '../../src/contract/run.ts';
import type { WorkflowStep } from '../../src/contract/workflow.ts';
import { Bench } from './bench.ts';
import { callTool } from './raw-requests.ts';
import type { Scene } from './scene.ts';
import { gate } from './script-words.ts';

/* What waits while its server is killed waits on for the same thing, and goes on when that is there. */

const did = (name: string, rest = 'true'): string => `echo ${name} >> ran; ${rest}`;

const workflows = {
  target: { steps: { work: { run: did('work', gate('go')) } } },
  score: {
    of: 'run',
    steps: { read: { run: ['sh', '-c', did('read', 'echo "$1"'), '-', '{{of.outcome}}'] } },
  },
  asks: {
    steps: {
      ask: { question: 'Publish it?', choices: ['yes', 'no'], declines: ['no'], timeout: '1h' },
      publish: { needs: ['ask'], run: did('publish') },
    },
  },
  tries: {
    steps: {
      flaky: {
        run: did('flaky', '[ -e second ] || { touch second; exit 1; }'),
        retry: { max: 1, backoff: '8s' },
      },
    },
  },
};

let bench: Bench;
let scene: Scene;

beforeEach(async () => {
  bench = await Bench.open({}, workflows);
  scene = bench.scene(true);
}, 120_000);
afterEach(() => bench.close(), 60_000);

const stepOf = (run: Run, name: string): WorkflowStep | undefined =>
  run.workflow?.steps.find((step) => step.name === name);

async function begun(id: string): Promise<string> {
  const body = { cwd: scene.directory };
  return (await bench.client.call('runWorkflow', { id, body })).runId;
}

/** An agent that launches a workflow and, while that runs, what scores it. Answers the root and both executions. */
async function evaluated(): Promise<Readonly<Record<'root' | 'target' | 'evaluation', string>>> {
  const { queryId: root } = await scene.send('shell', `echo "$STEMMA_TOKEN" > token; ${gate('done')}`);
  const token = await scene.file('token');
  const call = async (tool: string, args: Record<string, unknown>): Promise<string> => {
    const answer = await callTool(bench.client.connection.url, token, tool, args);
    expect(answer.isError, answer.text).toBe(false);
    return String(answer.data['executionId']);
  };
  const target = await call('run_full_workflow', { workflow: 'target' });
  return { root, target, evaluation: await call('run_full_evaluation', { workflow: 'score', run: target }) };
}

test('an evaluation, a question and a back-off outlast their server', { timeout: 180_000 }, async () => {
  const { root, target, evaluation } = await evaluated();
  const asks = await begun('asks');
  const tries = await begun('tries');
  const asking = await scene.runThat('it asks', asks, (run) =>
    Boolean(stepOf(run, 'ask')?.attempts[0]?.waiting),
  );
  const backsOff = await scene.runThat(
    'it backs off',
    tries,
    (run) => stepOf(run, 'flaky')?.state === 'backsOff',
  );
  const waits = (await scene.execution(evaluation)).waiting;
  expect(waits).toMatchObject({ for: 'dependency', text: expect.stringContaining(target) });

  await bench.kill();
  await bench.start();

  expect((await scene.execution(evaluation)).waiting).toEqual(waits);
  const [question] = stepOf(asking, 'ask')?.attempts ?? [];
  const asked = await bench.client.call('getRun', { id: asks });
  expect(stepOf(asked, 'ask')?.attempts).toEqual([question]);
  // The back-off may be over by now.
  const still = stepOf(await bench.client.call('getRun', { id: tries }), 'flaky');
  const { retryAt = '' } = stepOf(backsOff, 'flaky') ?? {};
  expect(still?.attempts[0]).toEqual(stepOf(backsOff, 'flaky')?.attempts[0]);

  const { executionId = '' } = asked.workflow ?? {};
  await bench.client.call('answerExecution', { id: executionId, body: { choice: 'yes' } });
  scene.open('go');
  scene.open('done');
  expect(await scene.ended(asks)).toMatchObject({ outcome: 'succeeded' });
  const tried = await scene.ended(tries);
  expect(tried).toMatchObject({ outcome: 'succeeded' });
  const [first, second] = stepOf(tried, 'flaky')?.attempts ?? [];
  expect([first?.state, second?.state]).toEqual(['failed', 'succeeded']);
  expect(Date.parse(second?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(retryAt));
  const tree = await scene.closed(root);
  expect(tree.executions.find(({ id }) => id === evaluation)).toMatchObject({ state: 'succeeded' });
  expect(tree.executions.find(({ parentId }) => parentId === evaluation)?.result).toBe('succeeded');
  expect(ran()).toEqual(['flaky', 'flaky', 'publish', 'read', 'work']);
});

function ran(): string[] {
  const file = join(scene.directory, 'ran');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').sort() : [];
}
