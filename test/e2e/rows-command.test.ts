import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Bench } from './bench.ts';
import { isAlive } from './living-processes.ts';
import type { Scene } from './scene.ts';
import { gate, on, say } from './script-words.ts';

/* The command that a `foreach` takes its rows from: a process of its own, which outlives the server and is ended with its workflow. */

const writer = { rules: [on('^Write', say('Written.'))] };
const over = (command: string, more: object = {}): object => ({
  agent: 'writer',
  steps: { write: { foreach: { command, ...more }, messages: ['Write {{row.title}}.'] } },
});
const titles = `printf '{"title":"a"}\\n{"title":"b"}\\n'`;
const workflows = {
  twins: {
    agent: 'writer',
    steps: Object.fromEntries(
      ['c0', 'an'].map((name) => [
        name,
        { foreach: { command: `echo '{"title":"${name}"}'` }, messages: ['Write {{row.title}}.'] },
      ]),
    ),
  },
  gated: over(`echo $$ >> begun; ${gate('go')}; ${titles}`),
  endless: over('echo $$ >> begun; exec sleep 600'),
  late: over('echo $$ >> begun; exec sleep 600', { timeout: '1s' }),
  flood: over("echo $$ >> begun; head -c 1500000 /dev/zero | tr '\\0' 7"),
  binary: over("printf '\\377\\000\\001'"),
};

let bench: Bench;
let scene: Scene;

beforeEach(() => {
  bench = Bench.prepare({ writer }, workflows);
  scene = bench.scene(true);
});
afterEach(() => bench.close(), 60_000);

async function begin(workflow: string): Promise<string> {
  const { runId } = await bench.client.call('runWorkflow', { id: workflow, body: { cwd: scene.directory } });
  return runId;
}

interface Ended {
  readonly outcome: string | undefined;
  readonly told: readonly string[];
  readonly error: string | undefined;
}

/** How the run ended, and what its agent was told, first lines only. */
async function ended(runId: string): Promise<Ended> {
  const run = await scene.ended(runId);
  const root = run.messages[0]?.attempts.at(-1)?.executionId ?? '';
  const { executions } = await scene.closed(root).then(() => scene.tree(root));
  const session = executions.find(({ kind }) => kind === 'message')?.runsIn;
  const prompts = session === undefined ? [] : await scene.prompts(session);
  const told = prompts.map((prompt) => prompt.split('\n', 1)[0] ?? '');
  return {
    outcome: run.outcome,
    told,
    error: executions.find(({ kind }) => kind === 'step')?.error?.message,
  };
}

/** The processes of the command, one for each time that it was begun. */
async function begun(): Promise<number[]> {
  return (await scene.lines('begun')).map(Number);
}

/** Whose commands something is kept of. */
const kept = (): string[] => readdirSync(join(bench.dataDir, 'commands'));

test('a server that is told to stop does not wait for it, and the next one goes on listening', async () => {
  await bench.start();
  const runId = await begin('gated');
  const [pid = 0] = await begun();
  expect((await bench.server.process.signal('SIGTERM')).code).toBe(0);
  expect(isAlive(pid)).toBe(true);
  await bench.start();
  scene.open('go');
  expect(await ended(runId)).toMatchObject({ outcome: 'succeeded', told: ['Write a.', 'Write b.'] });
  expect(await begun()).toEqual([pid]);
  expect(kept()).toEqual([]);
});

test.each(['rows.before:1', 'rows.ran:1', 'step.before:1', 'step.begun:1'])(
  'a server that dies at %s runs it once, and gives every row once',
  { timeout: 120_000 },
  async (fault) => {
    await bench.start({ STEMMA_FAULT: fault });
    scene.open('go');
    const runId = await begin('gated').catch(() => undefined);
    await bench.server.process.ended;
    await bench.kill();
    await bench.start();
    const id =
      runId ?? (await bench.client.call('listWorkflowRuns', { id: 'gated', query: {} })).items[0]?.id;
    expect(await ended(id ?? '')).toMatchObject({ outcome: 'succeeded', told: ['Write a.', 'Write b.'] });
    expect(await begun()).toHaveLength(1);
  },
);

test('steps that begin together have rows of their own each', async () => {
  await bench.start();
  const run = await scene.ended(await begin('twins'));
  const { executions } = await scene.tree(run.messages[0]?.attempts[0]?.executionId ?? '');
  const sessions = executions.flatMap(({ kind, runsIn }) => (kind === 'message' && runsIn ? [runsIn] : []));
  const told = await Promise.all(sessions.map((session) => scene.prompts(session)));
  expect(told.flat().sort()).toEqual([
    expect.stringMatching(/^Write an\./),
    expect.stringMatching(/^Write c0\./),
  ]);
});

test('a cancel ends it, and the workflow is over with it', async () => {
  await bench.start();
  const runId = await begin('endless');
  const [pid = 0] = await begun();
  await bench.client.call('cancelRun', { id: runId, body: {} });
  expect((await ended(runId)).outcome).toBe('cancelled');
  expect(isAlive(pid)).toBe(false);
});

test('one that takes too long is ended, and the step says how to give it longer', async () => {
  await bench.start();
  const { outcome, error } = await ended(await begin('late'));
  expect(outcome).toBe('failed');
  expect(error).toMatch(
    /^foreach of step "write": echo .* was not over in 1 s, and was ended; a "timeout" beside it/,
  );
  expect((await begun()).map(isAlive)).toEqual([false]);
});

test('what it prints is bounded, and what is no JSON is told', async () => {
  await bench.start();
  const flood = await ended(await begin('flood'));
  expect(flood.error).toContain('prints more than 1000000 bytes; let a step before it write a file');
  const binary = await ended(await begin('binary'));
  expect([binary.outcome, binary.error]).toEqual(['failed', expect.stringContaining('is no JSON')]);
});
