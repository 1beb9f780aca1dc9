import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import type { RunningServer } from '../cli/ports.ts';
import { StemmaClient } from '../client/stemma-client.ts';
import type { Execution } from '../contract/execution.ts';
import { startServer } from './server.ts';
import { packageFile } from './version.ts';

vi.setConfig({ testTimeout: 60_000 });

const installation = {
  self: [process.execPath],
  examplesDirectory: packageFile('examples'),
  pageDirectory: packageFile('dist', 'web'),
};

let root = '';
let server: RunningServer | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stemma-secrets-'));
});

afterEach(async () => {
  await server?.stop({ agents: true });
  server = undefined;
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

async function start(agents: object): Promise<StemmaClient> {
  const configFile = join(root, 'config', 'stemma.yaml');
  mkdirSync(join(root, 'config'), { recursive: true });
  writeFileSync(configFile, JSON.stringify({ agents }));
  server = await startServer({ dataDir: join(root, 'data'), port: 0, configFile }, installation);
  const token = readFileSync(server.tokenFile, 'utf8').trim();
  return new StemmaClient({ url: server.url, token }, systemClock);
}

async function ask(client: StemmaClient, message: string, sessionId?: string): Promise<Execution> {
  const body = sessionId === undefined ? { message, cwd: root } : { message, sessionId };
  const { queryId } = await client.call('query', { body });
  await client.call('waitExecution', { id: queryId, query: { timeoutMs: 20_000 } });
  return client.call('getExecution', { id: queryId });
}

/** Every file that the server wrote and that holds the text; what an agent itself prints is the agent's. */
function filesWith(text: string, directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'out' && entry.name !== 'err')
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

const shell = ['/bin/sh', '-c', 'eval "$(cat)"'];

test('secrets are in the environment of the agent, and in nothing that is kept or told', async () => {
  vi.stubEnv('STEMMA_TEST_KEY', 'key-of-the-environment');
  mkdirSync(join(root, 'config'));
  writeFileSync(join(root, 'config', 'token'), 'token-in-a-file\n');
  const secrets = {
    KEY: 'env:STEMMA_TEST_KEY',
    TOKEN: 'file:token',
    MADE: 'cmd:echo made-by-$((40 + 2))-a-command',
  };
  const client = await start({ mine: { driver: 'script', command: shell, secrets } });
  const said = await ask(client, 'echo "$KEY, $TOKEN and $MADE"; echo "$TOKEN" >&2');
  expect(said).toMatchObject({ state: 'succeeded' });
  expect(said.result?.trim()).toBe('[secret KEY], [secret TOKEN] and [secret MADE]');
  const failed = await ask(client, 'echo "$KEY" >&2; exit 1', said.runsIn);
  expect(failed.error?.message).toContain('[secret KEY]');
  const { items } = await client.call('getTranscript', { id: said.runsIn ?? '' });
  expect(items.map(({ text }) => text).join()).toContain('[secret TOKEN]');
  await server?.stop();
  for (const value of ['key-of-the-environment', 'token-in-a-file', 'made-by-42-a-command'])
    expect(filesWith(value, join(root, 'data'))).toEqual([]);
});

test('a secret is had anew for each launch', async () => {
  mkdirSync(join(root, 'config'));
  const file = join(root, 'config', 'token');
  writeFileSync(file, 'the first one');
  const secrets = { TOKEN: 'file:token' };
  const client = await start({ mine: { driver: 'script', command: shell, secrets } });
  const length = 'echo "${#TOKEN}"';
  const first = await ask(client, length);
  writeFileSync(file, 'the second one, which is longer');
  const second = await ask(client, length, first.runsIn);
  expect([first.result?.trim(), second.result?.trim()]).toEqual(['13', '31']);
  // One that was rotated may still be in something that is told.
  const told = await ask(client, 'echo "the first one, $TOKEN"', first.runsIn);
  expect(told.result?.trim()).toBe('[secret TOKEN], [secret TOKEN]');
});

test('a secret that cannot be had is named with its reference, and nothing is started', async () => {
  const secrets = { KEY: 'env:STEMMA_TEST_NONE' };
  const client = await start({ mine: { driver: 'script', command: shell, secrets } });
  const failed = await ask(client, 'touch started');
  expect(failed).toMatchObject({ state: 'failed' });
  expect(failed.error?.message).toBe(
    'The secret KEY of agent "mine" cannot be had from env:STEMMA_TEST_NONE: the environment of the server has no variable STEMMA_TEST_NONE.',
  );
  expect(readdirSync(root)).not.toContain('started');
});

test('secrets of a run are references from the start, and their files have absolute paths', async () => {
  const client = await start({});
  const run = (secrets: object) =>
    client.call('createRun', {
      body: {
        agent: 'mine',
        cwd: root,
        messages: ['echo "$TOKEN"'],
        agents: { mine: { driver: 'script', command: shell, secrets } as never },
      },
    });
  await expect(run({ TOKEN: 'sk-not-a-reference' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await expect(run({ TOKEN: 'file:token' })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('agents.mine.secrets.TOKEN'),
  });
});
