import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Bench } from './bench.ts';
import { compileProgram } from './compile-program.ts';
import { processesIn } from './living-processes.ts';
import type { Scene, Sent } from './scene.ts';
import { say } from './script-words.ts';
import { waitFor } from './wait-for.ts';

/*
 * Agents that mean harm, through the product's own path: the server stays up and bounded, other sessions go on meanwhile,
 * and it can be seen what happened. A generous bound: without one, each of these took gigabytes or for ever.
 */

const mega = 1024 * 1024;
/** How much more memory than at rest the server may take. Bytes. */
const mostGrowth = 400 * mega;

let bench: Bench;
let program: { readonly command: readonly string[]; readonly directory: string };
let restBytes = 0;

beforeAll(async () => {
  program = compileProgram(new URL('./hostile-agent.program.ts', import.meta.url));
  bench = await Bench.open({
    hostile: { rules: [], profile: { command: program.command } },
    good: { rules: [], otherwise: [say('Fine.')] },
  });
  const scene = bench.scene(true);
  await scene.closed((await scene.send('good', 'Warm up.')).queryId);
  restBytes = memoryOf();
}, 180_000);

afterAll(async () => {
  await bench?.close();
  if (program) rmSync(program.directory, { recursive: true, force: true });
}, 180_000);

function memoryOf(): number {
  const status = readFileSync(`/proc/${bench.server.ready.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

/** What the server's log says of this session's agent: each thing that made no sense on a line of its own. */
function noiseOf(sessionId: string): string {
  const lines = readFileSync(join(bench.dataDir, 'stemma.log'), 'utf8').split('\n');
  return lines
    .filter((line) => line.includes(sessionId) && line.includes('"agent.noise"'))
    .map((line) => (JSON.parse(line) as { what: string }).what)
    .join('\n');
}

/**
 * Sends this to a hostile agent, and while it does its worst: other sessions are answered, and the server takes no more
 * memory than it may. `until` says when it is over.
 */
async function endure(
  what: string,
  until: (sent: Sent, scene: Scene) => Promise<unknown>,
): Promise<Sent & { scene: Scene }> {
  const scene = bench.scene(true);
  const beside = bench.scene(true);
  const sent = await scene.send('hostile', what);
  let isOver = false;
  let peak = 0;
  const watch = (async () => {
    while (!isOver) {
      peak = Math.max(peak, memoryOf());
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const others = (async () => {
    for (let n = 0; n < 2 || !isOver; n++) {
      const { queryId } = await beside.send('good', `Message ${n}.`);
      expect(await beside.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  try {
    await until(sent, scene);
  } finally {
    isOver = true;
    await Promise.all([watch, others]);
  }
  expect(peak - restBytes, 'bytes more than at rest').toBeLessThan(mostGrowth);
  await beside.close({ keep: false });
  return { ...sent, scene };
}

const closed = ({ queryId }: Sent, scene: Scene): Promise<unknown> => scene.closed(queryId);
const options = { timeout: 120_000 };

test('200 MB on one line are skipped and told, and the turn goes on', options, async () => {
  const { queryId, sessionId, scene } = await endure('bigLine', closed);
  expect(await scene.execution(queryId)).toMatchObject({ state: 'succeeded', result: 'that was a line' });
  expect(noiseOf(sessionId)).toMatch(/is longer than \d+ bytes; skipped/);
  await scene.close({ keep: false });
});

test('bytes that are no UTF-8 are replaced, and what is no message is told', options, async () => {
  const { queryId, sessionId, scene } = await endure('notUtf8', closed);
  expect(await scene.execution(queryId)).toMatchObject({ state: 'succeeded', result: 'a\ufffdb' });
  expect(noiseOf(sessionId)).toMatch(/not JSON/);
  await scene.close({ keep: false });
});

test('events as fast as a file takes them are heard to their end', options, async () => {
  const { queryId, scene } = await endure('flood', closed);
  expect(await scene.execution(queryId)).toMatchObject({
    state: 'succeeded',
    result: expect.stringContaining('the end'),
  });
  await scene.close({ keep: false });
});

test(
  'an agent that reads nothing any more holds its message until that is cancelled, and can be stopped',
  options,
  async () => {
    const { queryId, sessionId, scene } = await endure('deaf', closed);
    expect(await scene.execution(queryId)).toMatchObject({ state: 'succeeded' });
    const next = await scene.send(sessionId, 'hello');
    await scene.until(
      'it is under way',
      async () => (await scene.execution(next.queryId)).state !== 'queued',
    );
    await scene.client.call('stopSession', { id: sessionId });
    await scene.closed(next.queryId);
    expect(processesIn(scene.directory)).toEqual([]);
  },
);

test('children that ignore SIGTERM end with their session', options, async () => {
  const { sessionId, scene } = await endure('fork', closed);
  expect(processesIn(scene.directory).length).toBeGreaterThanOrEqual(11);
  await scene.client.call('stopSession', { id: sessionId });
  await waitFor('every child is gone', () => processesIn(scene.directory).length === 0, { withinMs: 20_000 });
});

test(
  'an agent that exits in the middle of a frame fails its message with what happened',
  options,
  async () => {
    const { queryId, sessionId, scene } = await endure('torn', closed);
    const { state, error } = await scene.execution(queryId);
    expect(state).not.toBe('succeeded');
    expect(error?.message).toMatch(/the process of this one is dead/);
    expect(noiseOf(sessionId)).toMatch(/died within a line/);
    await scene.close({ keep: false });
  },
);

test('answers for ids that it was never given end nothing', options, async () => {
  const { queryId, sessionId, scene } = await endure('liar', closed);
  expect(await scene.execution(queryId)).toMatchObject({ state: 'succeeded', result: 'the truth' });
  expect(noiseOf(sessionId)).toMatch(/an answer to a request that was never made/);
  await scene.close({ keep: false });
});

test(
  'a stream without an end after the end is late activity, shown, and ended when nobody can read it any more',
  options,
  async () => {
    const { queryId, sessionId, scene } = await endure('endless', async (sent, s) => {
      await s.closed(sent.queryId);
      await s.until('late activity is shown', async () =>
        (await s.executionsIn(sent.sessionId)).some(({ kind }) => kind === 'late'),
      );
      await waitFor('it is ended', () => processesIn(s.directory).length === 0, {
        withinMs: 60_000,
        everyMs: 200,
      });
    });
    expect(await scene.execution(queryId)).toMatchObject({ state: 'succeeded', result: 'done' });
    expect(noiseOf(sessionId)).toMatch(/it writes faster than anybody can read/);
    await scene.close({ keep: false });
  },
);

test('an agent that closes its output and lives keeps its turn until its deadline', options, async () => {
  const { queryId, sessionId, scene } = await endure('silent', async (sent, s) => {
    await s.until('it has begun', async () => (await s.execution(sent.queryId)).state === 'running');
    await s.client.call('cancelExecution', { id: sent.queryId, body: {} });
    await s.client.call('stopSession', { id: sent.sessionId });
    await s.closed(sent.queryId);
  });
  expect((await scene.execution(queryId)).state).not.toBe('succeeded');
  expect(processesIn(scene.directory)).toEqual([]);
  expect(sessionId).not.toBe('');
});
