import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TreeView } from '../../src/contract/execution.ts';
import { Bench } from './bench.ts';
import { isAlive, processesIn } from './living-processes.ts';
import type { Scene } from './scene.ts';
import { type Action, gate, noticeOf, on, parallel, say } from './script-words.ts';
import { stemma } from './server-process.ts';
import { waitFor } from './wait-for.ts';

/*
 * The third of five parallel children of an orchestrator fails, in a workflow that a background agent has launched. What the others do
 * hears no SIGTERM, and what they started leads groups of its own.
 */

const others = ['one', 'two', 'four', 'five'];
const within = 30_000;

/** A process that hears no SIGTERM, with a child in its group and one in a session of its own that do not either. */
const stubborn = (name: string): string =>
  `trap '' TERM HUP INT; sh -c 'echo $$ >> leaves; while :; do sleep 1; done' & ` +
  `setsid sh -c 'echo $$ >> leaves; while :; do sleep 1; done' & ` +
  `echo $$ >> leaves; echo ${name} > leaf-${name}; while :; do sleep 1; done`;

const give = (name: string, instruction: string): Action => ({
  call: 'call_sub_agent',
  with: { agent: 'hand', name, instruction },
});

const worker = {
  rules: [
    on(
      '^In the background',
      { call: 'run_in_background', with: { name: 'bg', instruction: 'Workflow five' } },
      say('Started.'),
    ),
    on('^Workflow (\\w+)', { call: 'run_full_workflow', with: { workflow: '{{1}}' } }, say('Started.')),
    on(
      '^Five at once',
      parallel(
        ...others.map((name) => give(name, stubborn(name))),
        give('three', `${gate('fail')}; echo the disk is full >&2; exit 7`),
      ),
      say('Given out.'),
    ),
    on(noticeOf('three', 'failed'), say('[stemma failed] three of five could not be done')),
    on('^\\[stemma', say('Noted.')),
  ],
};

const workflows = {
  five: {
    steps: {
      plan: {
        type: 'todo',
        agent: 'worker',
        prompt: 'Five at once.',
        agents: { hand: { agent: 'shell', description: 'does what it is told' } },
        onChildFailure: 'cancel',
      },
    },
  },
};

let bench: Bench;
let scene: Scene;

beforeEach(async () => {
  bench = await Bench.open({ worker }, workflows);
  scene = bench.scene(true);
}, 120_000);
afterEach(() => bench.close(), 60_000);

const named = (tree: TreeView, name: string, kind = 'agent') =>
  tree.executions.find((row) => row.name === name && row.kind === kind);

test.each(['goes on', 'is killed in the middle of the cancelling'])(
  'the others and all that they started are ended and joined; the server %s',
  { timeout: 180_000 },
  async (what) => {
    const { queryId } = await scene.send('worker', 'In the background.');
    for (const name of others) await scene.file(`leaf-${name}`);
    await waitFor('all are at work', async () => (await scene.lines('leaves')).length === 12);
    const leaves = (await scene.lines('leaves')).map(Number);
    await scene.named(queryId, 'three', (row) => row.state === 'running');
    scene.open('fail');
    if (what !== 'goes on') {
      await scene.seen('some are being ended', queryId, ({ executions }) =>
        executions.some(({ name, cancelReason }) => others.includes(name) && cancelReason !== undefined),
      );
      await bench.kill();
      expect(leaves.filter(isAlive)).not.toEqual([]);
      await bench.start();
    }
    const tree = await scene.closed(queryId);
    expect(leaves.filter(isAlive)).toEqual([]);
    expect(tree).toMatchObject({ outcome: 'succeeded', holding: [] });
    expect(tree.executions.filter(({ closed }) => !closed)).toEqual([]);
    const failedAt = Date.parse(named(tree, 'three')?.endedAt ?? '');
    for (const name of others) {
      const row = named(tree, name);
      expect([name, row?.state]).toEqual([name, 'cancelled']);
      expect(Date.parse(row?.closedAt ?? '') - failedAt).toBeLessThan(within);
    }
    // The workflow is work of the background agent, which is work of the message.
    const message = tree.executions.find(({ id }) => id === named(tree, 'five', 'workflow')?.parentId);
    expect(message?.parentId).toBe(named(tree, 'bg')?.id);
    expect(named(tree, 'bg')).toMatchObject({ parentId: queryId, state: 'succeeded' });
    expect(named(tree, 'plan', 'step')).toMatchObject({ state: 'failed', error: { code: 'SELF_REPORTED' } });
    expect(named(tree, 'five', 'workflow')).toMatchObject({ state: 'failed' });
    const { stdout } = await stemma(['tree', queryId, '--data', bench.dataDir]);
    for (const why of ['the disk is full', '"three" failed', 'three of five could not be done'])
      expect(stdout).toContain(why);
    await bench.client.call('stopSession', { id: tree.executions[0]?.runsIn ?? '' });
    await waitFor('no process is left', () => processesIn(scene.directory).length === 0);
  },
);
