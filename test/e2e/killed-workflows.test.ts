import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { FaultPoint } from '../../src/base/faults.ts';
import type { ExecutionId } from '../../src/base/ids.ts';
import { Ids } from '../../src/base/ids.ts';
import type { Execution } from '../../src/contract/execution.ts';
import { launch } from '../../src/ledger/launch.ts';
import type { StepPlan } from '../../src/ledger/step-plan.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { graphOf, stepOf } from '../ledger/workflow.ts';
import { Bench } from './bench.ts';
import type { Scene } from './scene.ts';
import { gate, on, say, until } from './script-words.ts';
import { startServer } from './server-process.ts';

/* Workflows whose server is killed: each step runs once, and the whole comes to its end. */

const worker = { rules: [on('^Work', say('Worked.')), on('^Stay', until('go'), say('Stayed.'))] };

let bench: Bench;
let scene: Scene;

beforeEach(() => {
  bench = Bench.prepare({ worker });
  scene = bench.scene(true);
});
afterEach(() => bench.close(), 60_000);

const script = (name: string, run: string, given: Partial<StepPlan> = {}): StepPlan =>
  stepOf(name, {
    does: { type: 'script', run: `echo ${name} >> ran; ${run}`, env: {}, cwd: null },
    ...given,
  });

const agent = (name: string, prompt: string, given: Partial<StepPlan> = {}): StepPlan =>
  stepOf(name, { does: { type: 'agent', prompt, agent: 'worker', cwd: null }, ...given });

/** A script, an agent, things beside each other, one that is tried again, one that fails, and what needs it. */
const steps: readonly StepPlan[] = [
  script('fetch', 'echo fetched'),
  agent('work', 'Work on {{steps.fetch.result}}', { needs: ['fetch'] }),
  script('left', 'true', { needs: ['fetch'] }),
  script('flaky', '[ -e second ] || { touch second; exit 1; }', {
    needs: ['fetch'],
    retry: { max: 1, backoffMs: 10 },
  }),
  script('bad', 'echo no room; exit 3', { needs: ['left'] }),
  script('never', 'true', { needs: ['bad'] }),
  stepOf('tell', {
    needs: ['work', 'left', 'flaky'],
    does: {
      type: 'script',
      run: ['sh', '-c', 'echo tell >> ran; echo "$1"', '-', '{{steps.work.result}}'],
      env: {},
      cwd: null,
    },
  }),
];

/** Every point in the life of a step, and of the whole, at which the server is killed, in the order of one history. */
const deaths: readonly FaultPoint[] = [
  'step.before',
  'step.begun',
  'script.before',
  'script.ended',
  'step.closed',
  'step.decided',
  'graph.ended',
  'graph.settled',
];

test('each step of a workflow runs once though its server dies at every point of their lives', {
  timeout: 240_000,
}, async () => {
  const id = await launched(steps);
  for (const point of deaths) {
    const { dataDir, configFile } = bench;
    const server = await startServer({ dataDir, configFile, env: { STEMMA_FAULT: `${point}:1` } });
    // It may be dead before it says that it is ready.
    if ('ready' in server) await server.process.ended;
  }
  await bench.start();
  const whole = await closed(id);
  expect(ran()).toEqual(['bad', 'fetch', 'flaky', 'flaky', 'left', 'tell']);
  expect(whole).toMatchObject({
    outcome: 'failed',
    outcomeCode: 'STEP_FAILED',
    error: { message: 'step "bad" failed (SCRIPT_FAILED): exit code 3: no room' },
  });
  expect(whole.result?.split('\n')).toEqual([
    'fetch: succeeded',
    'work: succeeded',
    'left: succeeded',
    'flaky: succeeded after 2 attempts',
    'bad: failed (SCRIPT_FAILED): exit code 3: no room',
    'never: skipped (upstream)',
    'tell: succeeded',
    expect.stringMatching(/^Record: /),
  ]);
  const { executions } = await scene.tree(id);
  const work = executions.find(({ name }) => name === 'work');
  expect(await scene.prompts(work?.runsIn ?? '')).toHaveLength(1);
  expect(executions.find(({ name }) => name === 'tell')?.result).toContain('Worked.');
});

test('a script and an agent that run while their server is killed go on, and are not begun again', {
  timeout: 180_000,
}, async () => {
  const id = await launched([
    script('wait', gate('go')),
    agent('stay', 'Stay here.'),
    script('end', 'true', { needs: ['wait', 'stay'] }),
  ]);
  await bench.start();
  await scene.file('ran');
  const stay = await scene.named(id, 'stay', ({ runsIn }) => runsIn !== undefined);
  await scene.until(
    'the agent has its prompt',
    async () => (await scene.prompts(stay.runsIn ?? '')).length > 0,
  );
  await bench.kill();
  await bench.start();
  expect((await scene.execution(id)).closed).toBe(false);
  scene.open('go');
  expect(await closed(id)).toMatchObject({ outcome: 'succeeded' });
  expect(ran()).toEqual(['end', 'wait']);
  expect(await scene.prompts(stay.runsIn ?? '')).toHaveLength(1);
});

/** A workflow in the database of a server that is not there yet, as a launch leaves it. */
async function launched(plan: readonly StepPlan[]): Promise<ExecutionId> {
  const file = join(bench.dataDir, 'stemma.db');
  const store = await openSqliteStore({ file, clock: systemClock, random: Math.random });
  const id = new Ids(systemClock.now, Math.random).make('execution');
  const graph = graphOf(plan, { agent: 'worker', cwd: scene.directory });
  const caller = { by: 'person' } as const;
  const command = { now: systemClock.now(), id, caller, kind: 'workflow', name: 'nightly', graph } as const;
  await store.decide(() => launch(command));
  await store.close();
  return id;
}

function closed(id: string): Promise<Execution> {
  return scene.until(
    `${id} is closed`,
    async () => {
      const row = await scene.execution(id);
      return row.closed && row;
    },
    () => scene.tree(id),
  );
}

/** What scripts have run, by name. */
function ran(): string[] {
  const file = join(scene.directory, 'ran');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').sort() : [];
}
