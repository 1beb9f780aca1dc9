import { expect, test } from 'vitest';
import { Bench } from './bench.ts';
import { type Kill, playWithKills } from './kill-runs.ts';
import { launch, noticeOf, on, say, type ScriptedAgent } from './script-words.ts';

/* A part of `test/real/kill-demo.test.ts`, which kills at every fault point: enough to notice what broke. */

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

/** One server after the other dies: each with something of the run in its hands. */
const kills: readonly Kill[] = [
  // A text was written, and nobody has recorded that.
  { fault: 'send.written:1' },
  // A launch is registered, and its answer was not sent.
  { fault: 'call.registered:1' },
  // A turn has ended, and nobody has recorded that.
  { fault: 'turn.ended:1' },
  { fault: 'recover.step:1' },
];

test('a sequence finishes and each text reaches the agent once, though four servers are killed meanwhile', {
  timeout: 90_000,
}, async () => {
  const bench = Bench.prepare({ nightly });
  try {
    const scene = bench.scene();
    const messages = ['Run the checks.', 'Publish the report.'];
    const played = await playWithKills(bench, { agent: 'nightly', cwd: scene.directory, messages }, kills);
    expect(played).toMatchObject({ faults: [], runs: 1, deaths: kills.length });
    expect(played.run.outcome).toBe('succeeded');
    // What was launched ran once, though the agent may have been cut off before it could launch it all.
    expect((await scene.lines('ran')).sort()).toEqual(played.launched);
  } finally {
    await bench.close();
  }
});

test('a key finds what its request made, also when the server died before or after its answer', {
  timeout: 90_000,
}, async () => {
  const bench = Bench.prepare({});
  try {
    const cwd = bench.scene().directory;
    const body = { agent: 'shell', cwd, messages: ['echo done'] };
    const createRun = (): Promise<{ runId: string }> =>
      bench.client.call('createRun', { body, idempotencyKey: 'run' });
    // The first commits of a server are its own; the sixth is the one that writes the run.
    await bench.start({ STEMMA_FAULT: 'commit.after:6' });
    await expect(createRun()).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await bench.server.process.ended;
    await bench.start();
    await createRun();
    expect((await bench.client.call('listRuns')).items).toHaveLength(1);

    const message = { message: 'echo hello', agent: 'shell', cwd };
    const query = (text = message.message): Promise<{ queryId: string }> =>
      bench.client.call('query', { body: { ...message, message: text }, idempotencyKey: 'message' });
    const register = (): Promise<{ id: string }> =>
      bench.client.call('registerExecution', { body: { name: 'outside' }, idempotencyKey: 'outside' });
    const before = [await query(), await register()];
    await bench.kill();
    await bench.start();
    expect([await query(), await register()]).toEqual(before);
    await expect(query('echo something else')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect((await bench.client.call('listSessions')).items).toHaveLength(2);
  } finally {
    await bench.close();
  }
});
