import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Ids } from '../../src/base/ids.ts';
import type { TreeView } from '../../src/contract/execution.ts';
import { launch } from '../../src/ledger/launch.ts';
import { newSession } from '../../src/ledger/session.ts';
import type { Orchestration } from '../../src/ledger/step-plan.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { Bench } from './bench.ts';
import { ofKind } from './scene.ts';
import type { Scene } from './scene.ts';
import type { Action, ScriptedAgent } from './script-words.ts';
import { gate, noticesIn, on, parallel, say, until } from './script-words.ts';
import { stemma } from './server-process.ts';
import { waitFor } from './wait-for.ts';

/* An agent that gives out work: all that it started in a turn comes back at once, whatever happens to servers meanwhile. */

/** A sub-agent whose instruction is a shell command. */
const call = (name: string, instruction: string): Action => ({
  call: 'call_sub_agent',
  with: { agent: 'shell', name, instruction },
});
/** A call that is refused, and whose answer stands for this name then. */
const wrong = (why: string, tool: string, args: Action): Action => ({ call: tool, with: args, saveAs: why });
const forEver = 'echo $$ >> leaves; exec sleep 600';
const batch = (round: number): string => `^\\[stemma batch, round ${round} `;

const orchestrator: ScriptedAgent = {
  rules: [
    on(
      '^Build',
      parallel(
        call('part-1', 'echo one'),
        call('part-2', forEver),
        call('part-3', `${gate('fail')}; echo no such file >&2; exit 3`),
        call('part-4', forEver),
        call('part-5', forEver),
      ),
      wrong('unknown', 'call_sub_agent', { agent: 'shel', instruction: 'x' }),
      wrong('forbidden', 'call_generic_agent', { instruction: 'x' }),
      wrong('foreign', 'query_sub_agent', { id: 'exe_7' }),
      say('{{unknown}} {{forbidden}} {{foreign}}'),
    ),
    on('^Two', call('left', 'echo left'), call('right', `${gate('right')}; echo right`), say('Given out.')),
    on(`${batch(1)}[^]*part-3 failed`, call('part-3', 'echo mended'), say('Once more.')),
    on(batch(1), until('hold'), say('Both are there.')),
    on(batch(2), say('All is well.')),
  ],
};

const shell = { agent: 'shell', cwd: null, description: 'runs a command', prompt: null, todo: null };
const gives: Orchestration = {
  agents: { shell },
  generic: false,
  maxRounds: 5,
  onChildFailure: 'cancel',
};

let bench: Bench | undefined;
let scene: Scene;

afterEach(() => bench?.close(), 60_000);

/** A server that comes up to an orchestrator which was begun and never sent anything. Answers the root. */
async function begin(text: string): Promise<string> {
  bench = Bench.prepare({ orchestrator });
  scene = bench.scene(true);
  const file = join(bench.dataDir, 'stemma.db');
  const store = await openSqliteStore({ file, clock: systemClock, random: Math.random });
  const ids = new Ids(Date.now, Math.random);
  const id = ids.make('execution');
  const about = {
    project: 'default',
    agent: 'orchestrator',
    cwd: scene.directory,
    title: null,
    node: 'local',
  };
  const session = newSession({ ...about, id: ids.make('session'), createdAt: Date.now() });
  const rest = {
    timeoutMs: 600_000,
    onFailure: 'stop',
    join: 'own',
    check: null,
    background: 'wait',
  } as const;
  const hosts = {
    session,
    runId: ids.make('run'),
    plan: [{ ...rest, text }],
    todo: gives,
    tells: 'none',
  } as const;
  const caller = { by: 'person' } as const;
  const command = { now: Date.now(), id, caller, kind: 'agent', name: 'the work', hosts } as const;
  const launched = await store.decide(() => launch(command));
  expect(launched.ok).toBe(true);
  await store.close();
  chmodSync(file, 0o600);
  await bench.start();
  return id;
}

async function restart(): Promise<void> {
  await bench?.kill();
  await bench?.start();
}

/** What people see of it. */
async function shown(root: string): Promise<string> {
  const { stdout } = await stemma(['tree', root, '--data', bench?.dataDir ?? '']);
  return stdout;
}

/** What its agent was told, by its own record. */
function told(tree: TreeView): Promise<string[]> {
  const [host] = tree.executions;
  return scene.prompts(host?.runsIn ?? '');
}

function states(tree: TreeView): Record<string, string> {
  const rows = ofKind(tree, 'agent').filter(({ name }) => name !== 'the work');
  return Object.fromEntries(rows.map(({ name, attempt, state }) => [`${name}#${attempt}`, state]));
}

test('one of five fails: the others are ended, all comes back at once, and a retry makes it good', {
  timeout: 120_000,
}, async () => {
  const root = await begin('Build it.');
  await waitFor('three parts are at work', async () => (await scene.lines('leaves')).length === 3);
  await scene.named(root, 'part-1', ({ closed }) => closed);
  const waiting = await scene.seen('it waits', root, ({ holding }) =>
    holding.find(({ evidence }) => evidence.includes('of 5 sub-agents')),
  );
  expect(waiting.evidence).toMatch(/^waits for 4 of 5 sub-agents: part-\d, part-\d, part-\d, part-\d$/);
  expect(await shown(root)).toMatch(/for 4 of 5 sub-agents: part-\d, part-/);
  scene.open('fail');
  const tree = await scene.closed(root);
  expect(states(tree)).toEqual({
    'part-1#1': 'succeeded',
    'part-2#1': 'cancelled',
    'part-3#1': 'failed',
    'part-4#1': 'cancelled',
    'part-5#1': 'cancelled',
    'part-3#2': 'succeeded',
  });
  expect(await shown(root)).toContain('"part-3" failed');
  const said = ofKind(tree, 'message')[0]?.result;
  expect(said).toContain('INVALID_INPUT: agent: there is no sub-agent "shel". Did you mean "shell"?');
  expect(said).toContain('FORBIDDEN: This work has no call_generic_agent. call_sub_agent can call: shell.');
  expect(said).toContain('NOT_FOUND: id: this conversation started no sub-agent exe_7');
  const [first, all = '', last = '', ...others] = await told(tree);
  expect([first, others]).toEqual(['Build it.', []]);
  expect(noticesIn(all)).toHaveLength(5);
  expect(all).toMatch(/^\[stemma ntc_\S+ #1\] part-1 succeeded \(exe_\S+\)\none$/m);
  expect(all).toMatch(/part-3 failed \(exe_\S+\)\nAGENT_FAILED: /);
  expect(all).toMatch(/part-4 cancelled \(exe_\S+\)\ncancelled by system: "part-3" failed$/m);
  expect(last).toMatch(/^\[stemma batch, round 2 of 5\]/);
  expect(noticesIn(last)).toHaveLength(1);
  expect(tree).toMatchObject({ closed: true, outcome: 'succeeded', holding: [] });
  expect(tree.executions[0]).toMatchObject({ state: 'succeeded', result: 'All is well.' });
  const leaves = (await scene.lines('leaves')).map(Number);
  await waitFor('no part is at work', () => scene.processes().every((pid) => !leaves.includes(pid)));
});

test('a server is killed as the last result is there, and another in the turn that handles all: it is handed over once', {
  timeout: 120_000,
}, async () => {
  const root = await begin('Two things.');
  await scene.named(root, 'left', ({ state }) => state === 'succeeded');
  // It ends while nobody looks; the next server sees that, and dies between that and the hand-over or just behind it.
  await bench!.kill();
  scene.open('right');
  const early = await bench!.start({ STEMMA_FAULT: 'send.before:1' });
  const { signal } = early ?? (await bench!.server.process.ended);
  expect(signal).toBe('SIGKILL');
  await bench!.start();
  await scene.seen('the batch is at work', root, (tree) =>
    ofKind(tree, 'continuation').find(({ state }) => state === 'running'),
  );
  await waitFor('it is told', async () => (await told(await scene.tree(root))).length === 2);
  await restart();
  scene.open('hold');
  const tree = await scene.closed(root);
  const [, all = '', ...others] = await told(tree);
  expect(others).toEqual([]);
  expect(noticesIn(all)).toHaveLength(2);
  expect(all).not.toContain('delivered again');
  expect(tree.executions[0]).toMatchObject({ state: 'succeeded', result: 'Both are there.' });
});
