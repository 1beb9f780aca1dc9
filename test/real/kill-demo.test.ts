import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { demoMessages } from '../../src/cli/verbs/demo.ts';
import { Bench } from '../e2e/bench.ts';
import { type Kill, playWithKills } from '../e2e/kill-runs.ts';
import { on, type ScriptedAgent, until } from '../e2e/script-words.ts';
import { waitFor } from '../e2e/wait-for.ts';

/*
 * The sequence of `stemma demo`, with the server killed at every fault point that a run comes by, at many moments, and
 * again and again. `test/e2e/restart.cases.ts` is the short form.
 */

const example = new URL('../../examples/demo/background-work.json', import.meta.url);
const demo = JSON.parse(readFileSync(example, 'utf8')) as ScriptedAgent;

const points = [
  'send.before',
  'send.written',
  'turn.ended',
  'commit.before',
  'commit.after',
  'wakeup.before',
  'call.received',
  'call.registered',
  'advance.before',
];
/** `STEMMA_KILLS=all` tries every moment, which takes minutes; two of each kind, spread over the run, are tried otherwise. */
const isWhole = process.env['STEMMA_KILLS'] === 'all';
const times = isWhole ? [1, 2, 3] : [1];
/** Beyond the first ones, commits of every part of the run. */
const laterCommits = isWhole ? [5, 8, 12, 17, 23, 30, 38, 47, 57] : [12, 57];
const everyMs = isWhole ? 400 : 3200;

const cases: [string, Kill[]][] = [
  ...points.flatMap((point) =>
    times.map((n): [string, Kill[]] => [`${point}, time ${n}`, [{ fault: `${point}:${n}` }]]),
  ),
  ...laterCommits.flatMap((n): [string, Kill[]][] => [
    [`commit.before, time ${n}`, [{ fault: `commit.before:${n}` }]],
    [`commit.after, time ${n}`, [{ fault: `commit.after:${n}` }]],
  ]),
  ...times.map((n): [string, Kill[]] => [
    `recover.step, time ${n}`,
    [{ afterMs: 1200 }, ...Array.from({ length: n }, () => ({ fault: 'recover.step:1' }))],
  ]),
  ...Array.from({ length: 6400 / everyMs }, (_, i): [string, Kill[]] => [
    `${i * everyMs} ms into it`,
    [{ afterMs: i * everyMs }],
  ]),
  ['every 300 ms, eight times', Array.from({ length: 8 }, () => ({ afterMs: 300 }))],
  ['every 700 ms, six times', Array.from({ length: 6 }, () => ({ afterMs: 700 }))],
];

describe.concurrent('the demo finishes, and each text reaches its agent once, with the server killed at', () => {
  for (const [when, kills] of cases) {
    test.concurrent(when, { timeout: 240_000 }, async () => {
      const bench = Bench.prepare({ demo });
      try {
        const body = { agent: 'demo', cwd: bench.scene().directory, messages: [...demoMessages] };
        const played = await playWithKills(bench, body, kills);
        expect(played).toMatchObject({ faults: [], isAdopted: true, runs: 1, deaths: kills.length });
        expect(played.run).toMatchObject({ outcome: 'succeeded', messages: [{}, {}, {}] });
        const texts = played.prompts.filter((prompt) => !prompt.startsWith('[stemma'));
        expect(texts).toEqual([...demoMessages]);
      } finally {
        await bench.close();
      }
    });
  }
});

describe.concurrent('a run ends, and nothing is sent twice unmarked, with server and agents killed at once at', () => {
  for (const afterMs of [0, 600, 1200, 1800, 2400, 3000, 3600, 4200, 4800, 5400].filter(
    (_, i) => isWhole || i % 5 === 2,
  )) {
    test.concurrent(`${afterMs} ms into it`, { timeout: 240_000 }, async () => {
      const bench = Bench.prepare({ demo });
      try {
        const body = { agent: 'demo', cwd: bench.scene().directory, messages: [...demoMessages] };
        const played = await playWithKills(bench, body, [{ afterMs, withAgents: true }]);
        expect(played).toMatchObject({ faults: [], runs: 1, deaths: 1 });
        const { state, outcome, outcomeCode } = played.run;
        // Whoever was at work is lost with its process; a message that was not, goes on in the next one.
        expect({ state, outcome }).toEqual({
          state: 'ended',
          outcome: expect.stringMatching(/succeeded|failed/),
        });
        if (outcome === 'failed') expect(outcomeCode).toBe('LOST');
      } finally {
        await bench.close();
      }
    });
  }
});

test('a server is ready, and serves others, while a dead agent hangs in its second start', {
  timeout: 120_000,
}, async () => {
  const slow = { rules: [on('^Stay', until('hold'))], onLoad: [{ hang: true }] };
  const bench = await Bench.open({ slow });
  try {
    const scene = bench.scene();
    const { queryId } = await scene.send('slow', 'Stay with me.');
    await waitFor(
      'the prompt is with the agent',
      () => existsSync(bench.home) && readdirSync(bench.home).length > 0,
    );
    await scene.named(queryId, 'Stay with me.', (row) => row.state === 'running');
    await bench.kill();
    for (const pid of bench.agentProcesses()) process.kill(pid, 'SIGKILL');
    // An agent may take a minute to open; this fails after half of that.
    expect(await bench.start()).toBeUndefined();
    const other = await scene.send('shell', 'echo hello');
    expect(await scene.closed(other.queryId)).toMatchObject({ outcome: 'succeeded' });
    expect((await scene.tree(queryId)).closed).toBe(false);
  } finally {
    // A stop would wait for that agent.
    await bench.kill();
    for (const pid of bench.agentProcesses()) process.kill(pid, 'SIGKILL');
    await bench.close();
  }
});
