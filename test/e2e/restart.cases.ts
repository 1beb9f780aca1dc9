import { expect, test } from 'vitest';
import { Bench } from './bench.ts';
import { type Kill, playWithKills } from './kill-runs.ts';
import { isAlive } from './living-processes.ts';
import { launch, noticeOf, on, say, type ScriptedAgent, until } from './script-words.ts';

/* A short form of `test/real/kill-demo.test.ts`, which kills at every fault point: enough to notice what broke. */

/** Says that it ran, so that work that ran twice shows. */
const work = (name: string, command: string): string => `echo ${name} >> ran; sleep 0.2; ${command}`;

const nightly: ScriptedAgent = {
  rules: [
    on(noticeOf('tests', 'failed'), launch('tests', work('tests', 'echo fine')), say('Once more.')),
    on(
      '^Run the checks',
      launch('lint', work('lint', 'echo fine')),
      launch('tests', work('tests', 'exit 1')),
      say('Started.'),
    ),
    on('^Publish', launch('publish', work('publish', 'echo online')), say('Started.')),
  ],
};

/** One server after the other dies, each with something in its hands. */
const kills: readonly Kill[] = [
  // The run is written, and its client was not answered. (The first commits of a server are its own.)
  { fault: 'commit.after:6' },
  // A text was written, and nobody has recorded that.
  { fault: 'send.written:1' },
  // A launch is registered, and its agent was not answered.
  { fault: 'call.registered:1' },
  { fault: 'recover.step:1' },
];

/** What a killed server's successor does. */
export function restartCases(): void {
  stoppedSessionCase();
  test.concurrent('a sequence finishes and each text reaches the agent once, though four servers are killed meanwhile', {
    timeout: 240_000,
  }, async () => {
    const bench = Bench.prepare({ nightly });
    try {
      const scene = bench.scene();
      const messages = ['Run the checks.', 'Publish the report.'];
      const played = await playWithKills(bench, { agent: 'nightly', cwd: scene.directory, messages }, kills);
      expect(played).toMatchObject({ faults: [], isAdopted: true, runs: 1, deaths: kills.length });
      expect(played.run.outcome).toBe('succeeded');
      // What was launched ran once, though the agent may have been cut off before it could launch it all.
      expect((await scene.lines('ran')).sort()).toEqual(played.launched);
      await expectKeysKept(bench, scene.directory);
    } finally {
      await bench.close();
    }
  });
}

/** An agent that a server was about to end when it died is ended by the next one. */
function stoppedSessionCase(): void {
  test.concurrent('a session that was being stopped when the server was killed loses its agent all the same', {
    timeout: 180_000,
  }, async () => {
    const bench = await Bench.open({
      deaf: { rules: [on('^Hang on', { ignoreCancel: true }, until('go'))] },
    });
    try {
      const scene = bench.scene();
      const { queryId, sessionId } = await scene.send('deaf', 'Hang on.');
      await scene.until(
        'the prompt is with the agent',
        async () => (await scene.prompts(sessionId)).length === 1,
      );
      const [agent = 0] = scene.processes();
      const stopping = bench.client.call('stopSession', { id: sessionId }).catch(() => undefined);
      await scene.until('the stop is written', async () => {
        const { state } = await bench.client.call('getSession', { id: sessionId });
        return state === 'stopped';
      });
      await bench.kill();
      await stopping;
      expect(isAlive(agent)).toBe(true);
      await bench.start();
      scene.open('go');
      await scene.until('the agent is dead', () => Promise.resolve(!isAlive(agent)));
      expect(await scene.closed(queryId)).toMatchObject({ outcome: 'cancelled' });
    } finally {
      await bench.close();
    }
  });
}

/** A request that is repeated with its key finds what it made, also after a kill; another with the key is refused. */
async function expectKeysKept(bench: Bench, cwd: string): Promise<void> {
  const query = (message: string): Promise<{ queryId: string; sessionId: string }> =>
    bench.client.call('query', { body: { message, agent: 'shell', cwd }, idempotencyKey: 'message' });
  const register = (): Promise<{ id: string; token?: string | undefined }> =>
    bench.client.call('registerExecution', { body: { name: 'outside' }, idempotencyKey: 'outside' });
  const before = [await query('echo hello'), await register()];
  expect([await query('echo hello'), await register()]).toEqual(before);
  await bench.kill();
  await bench.start();
  expect([await query('echo hello'), await register()]).toEqual(before);
  await expect(query('echo something else')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
}
