import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import type { RunningServer } from '../cli/ports.ts';
import { loadRunFile } from '../cli/run-file.ts';
import { StemmaClient } from '../client/stemma-client.ts';
import { startServer } from './server.ts';
import { packageFile } from './version.ts';

vi.setConfig({ testTimeout: 60_000 });

const installation = {
  self: [process.execPath],
  examplesDirectory: packageFile('examples'),
  pageDirectory: packageFile('dist', 'web'),
};

let dataDir = '';
let server: RunningServer;

async function start(): Promise<StemmaClient> {
  server = await startServer({ dataDir, port: 0 }, installation);
  const token = readFileSync(server.tokenFile, 'utf8').trim();
  return new StemmaClient({ url: server.url, token }, systemClock);
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'stemma-ad-hoc-'));
});

afterEach(async () => {
  await server.stop({ agents: true });
  rmSync(dataDir, { recursive: true, force: true });
});

const mine = { driver: 'script', command: ['/bin/sh', '-c', 'echo "mine: $(cat)"'] };

test('a run brings its agent with it, and the session has it after a restart too', async () => {
  const client = await start();
  const body = { agent: 'script', cwd: dataDir, messages: ['one'], agents: { script: mine } };
  const { runId } = await client.call('createRun', { body });
  await vi.waitFor(
    async () => expect(await client.call('getRun', { id: runId })).toMatchObject({ outcome: 'succeeded' }),
    { timeout: 20_000 },
  );
  const [session] = (await client.call('listSessions')).items;
  expect(session?.agent).toMatch(/^script~[0-9a-f]{8}$/);
  // A profile of the same name that is always there is another one.
  const names = (await client.call('listAgents')).items.map(({ name }) => name);
  expect(names.filter((name) => name.startsWith('script'))).toEqual(['script']);
  await server.stop();

  const again = await start();
  const query = { message: 'two', sessionId: session?.id ?? '' };
  const { queryId } = await again.call('query', { body: query });
  await vi.waitFor(
    async () =>
      expect(await again.call('getExecution', { id: queryId })).toMatchObject({
        state: 'succeeded',
        result: 'mine: two\n',
      }),
    { timeout: 20_000 },
  );
});

test('the example that brings a profile of its own is accepted', async () => {
  const client = await start();
  const body = await loadRunFile(packageFile('examples', 'run-codex.yaml'), dataDir);
  const { command: _, ...profile } = body.agents?.['careful-codex'] ?? { driver: 'codex' };
  const agents = { 'careful-codex': { ...profile, command: ['/nowhere/codex'] } };
  expect(await client.call('createRun', { body: { ...body, agents } })).toHaveProperty('runId');
});

test.each([
  [{ driver: 'acq', command: ['x'] }, /agents\.b\.driver: there is no driver "acq"/, 'agents.b.driver'],
  [{ driver: 'acp' }, /agents\.b\.command: .* needs a command/, 'agents.b.command'],
  [{ ...mine, env: { A: 'x'.repeat(70_000) } }, /65536 bytes/, 'agents.b'],
])(
  'a profile that cannot be is refused with its key, also when nothing uses it',
  async (profile, said, key) => {
    const client = await start();
    const body = { agent: 'a', messages: ['one'], agents: { a: mine, b: profile } };
    const refusal = client.call('createRun', { body });
    await expect(refusal).rejects.toMatchObject({ code: 'INVALID_CONFIG', data: { key } });
    await expect(refusal).rejects.toThrow(said);
    expect((await client.call('listSessions')).items).toEqual([]);
  },
);
