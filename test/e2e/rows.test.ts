import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Execution } from '../../src/contract/execution.ts';
import { Bench } from './bench.ts';
import type { Scene } from './scene.ts';
import { on, say, until } from './script-words.ts';

/* A sequence that goes through rows: strictly one after the other, what a gate refuses is mended in the same conversation. */

/** Counts its calls in a file, each with the row that it is for, and says no to the third. */
const noToTheThird = 'echo "$ROW_TITLE" >> calls; test $(wc -l < calls) -ne 3';
const mend = String.raw`Mend {{row.title}}, \{{row.title}} and all.`;
const rows = (more: object): object => ({
  type: 'sequence',
  agent: 'writer',
  foreach: { csv: 'rows.csv' },
  ...more,
});
const writer = {
  rules: [
    on('^Workflow (\\w+)', { call: 'run_full_workflow', with: { workflow: '{{1}}' } }, say('Started.')),
    on('^Write hold', say('Begun.'), until('go'), say('Held.')),
    on('^Write broken', say('I looked.\n[stemma failed] there is no such thing as {{0}}')),
  ],
};
const workflows = {
  mended: {
    steps: {
      write: rows({ messages: ['Write {{row.title}}.', { validate: noToTheThird, repairs: 2, say: mend }] }),
    },
  },
  plain: { steps: { write: rows({ messages: ['Write {{row.title}}.'] }) } },
};

let bench: Bench;
let scene: Scene;

beforeEach(() => {
  bench = Bench.prepare({ writer }, workflows);
  scene = bench.scene(true);
});
afterEach(() => bench.close(), 60_000);

/** An agent begins a workflow over rows with these titles; answers the root of it all. */
async function begin(name: string, titles: readonly string[]): Promise<string> {
  writeFileSync(join(scene.directory, 'rows.csv'), `title\r\n${titles.join('\r\n')}\r\n`);
  return (await scene.send('writer', `Workflow ${name}`)).queryId;
}

interface Ended {
  readonly workflow: Execution;
  readonly messages: readonly Execution[];
  /** What the agent of the step was told, first lines only. */
  readonly told: readonly string[];
}

async function ended(root: string): Promise<Ended> {
  await scene.closed(root);
  const { executions } = await scene.tree(root);
  const workflow = executions.find(({ kind }) => kind === 'workflow');
  const step = executions.find(({ kind }) => kind === 'step');
  if (!workflow || !step) throw new Error('there is no workflow with a step');
  const messages = executions.filter(({ kind, parentId }) => kind === 'message' && parentId === step.id);
  const prompts = await scene.prompts(messages[0]?.runsIn ?? '');
  const told = prompts.map((prompt) => prompt.split('\n', 1)[0]?.replace(/\].*/, ']') ?? '');
  return { workflow, messages, told };
}

const whole = ['Write a.', 'Write b, c.', 'Write d.', '[stemma repair 1 of 2]', 'Write e.', 'Write f.'];
const callsOfWhole = 'a\nb, c\nd\nd\ne\nf\n';
const titles = ['a', '"b, c"', 'd', 'e', 'f'];

test('what the gate of the third of five rows refuses is mended in the same conversation, and it goes on', async () => {
  await bench.start();
  const { workflow, messages, told } = await ended(await begin('mended', titles));
  expect(told).toEqual(whole);
  expect(workflow.state).toBe('succeeded');
  expect(readFileSync(join(scene.directory, 'calls'), 'utf8')).toBe(callsOfWhole);
  expect(new Set(messages.map(({ runsIn }) => runsIn)).size).toBe(1);
  const record = join(bench.dataDir, 'records', workflow.id);
  expect(JSON.parse(readFileSync(join(record, 'result.json'), 'utf8'))).toMatchObject({
    outcome: 'succeeded',
  });
  const attempt = join(record, 'steps', 'write', '1');
  expect(readFileSync(join(attempt, 'prompt.md'), 'utf8')).toContain(
    '[stemma repair 1 of 2] Mend d, {{row.title}} and all.',
  );
  for (const name of ['transcript.jsonl', 'answer.md', 'result.json'])
    expect([name, existsSync(join(attempt, name))]).toEqual([name, true]);
});

test('an agent that says that it failed stops the rows behind', async () => {
  await bench.start();
  const { workflow, told } = await ended(await begin('plain', ['a', 'broken', 'c']));
  expect(told).toEqual(['Write a.', 'Write broken.']);
  expect(workflow).toMatchObject({ state: 'failed' });
});

test('after a cancel between two rows nothing more is sent', async () => {
  await bench.start();
  const root = await begin('plain', ['a', 'hold', 'c']);
  await scene.named(root, 'Write hold.', (row) => row.state === 'running');
  const workflow = await scene.named(root, 'plain');
  await bench.client.call('cancelExecution', { id: workflow.id, body: { scope: 'tree' } });
  scene.open('go');
  const { told, workflow: row } = await ended(root);
  expect(told).toEqual(['Write a.', 'Write hold.']);
  expect(row.state).toBe('cancelled');
});

// Between two rows, while a command of a gate runs, when it has ended, and when its end is written.
test.each(['check.ran:2', 'check.found:3', 'check.settled:4'])(
  'a server that dies at %s loses no row and sends none twice',
  { timeout: 120_000 },
  async (fault) => {
    await bench.start({ STEMMA_FAULT: fault });
    const root = await begin('mended', titles);
    await bench.server.process.ended;
    await bench.kill();
    await bench.start();
    const { workflow, told } = await ended(root);
    expect(told).toEqual(whole);
    expect(workflow.state).toBe('succeeded');
    expect(readFileSync(join(scene.directory, 'calls'), 'utf8')).toBe(callsOfWhole);
  },
);
