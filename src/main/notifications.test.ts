import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Receiver } from '../../test/notify/receiver.ts';
import { systemClock } from '../base/clock.ts';
import type { RunningServer } from '../cli/ports.ts';
import { StemmaClient } from '../client/stemma-client.ts';
import { startServer } from './server.ts';
import { packageFile } from './version.ts';

vi.setConfig({ testTimeout: 60_000 });

const installation = {
  self: [process.execPath],
  examplesDirectory: packageFile('examples'),
  pageDirectory: packageFile('dist', 'web'),
};

let root = '';
let receiver: Receiver;
let server: RunningServer | undefined;

async function start(config: object): Promise<StemmaClient> {
  const configFile = join(root, 'stemma.yaml');
  writeFileSync(configFile, JSON.stringify(config));
  server = await startServer({ dataDir: join(root, 'data'), port: 0, configFile }, installation);
  const token = readFileSync(server.tokenFile, 'utf8').trim();
  return new StemmaClient({ url: server.url, token }, systemClock);
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'stemma-notifications-'));
  receiver = await Receiver.listen();
});
afterEach(async () => {
  await server?.stop({ agents: true });
  server = undefined;
  await receiver.close();
  rmSync(root, { recursive: true, force: true });
});

const agents = { broken: { driver: 'script', command: ['/bin/sh', '-c', 'echo "no way" >&2; exit 3'] } };

test('whoever is to hear of everything is told of a run that failed, with the link to its tree', async () => {
  const notify = { ops: { webhook: receiver.url } };
  const client = await start({ agents, notify, notifyAlways: ['ops'], disk: { lowBytes: 0 } });
  const body = { agent: 'broken', cwd: root, name: 'nightly', messages: ['one'] };
  const { runId } = await client.call('createRun', { body });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 30_000 });
  const [event] = receiver.events;
  expect(event).toMatchObject({
    type: 'stemma.failed',
    data: { title: 'nightly failed', runId, code: 'AGENT_FAILED' },
  });
  const executionId = String(event?.data['executionId']);
  expect(event?.data['url']).toBe(`${server?.url}/roots/${executionId}`);
  expect(event?.data['command']).toBe(`stemma why ${executionId}`);
  await vi.waitFor(async () => {
    const { items } = await client.call('listNotifications', { query: { kind: 'failed' } });
    expect(items).toMatchObject([
      { title: 'nightly failed', runId, dispatches: [{ target: 'ops', state: 'sent', attempts: 0 }] },
    ]);
  });
  expect((await client.call('listNotifications', { query: { state: 'givenUp' } })).items).toEqual([]);
});

test('a target can be tried, and one that does not exist is named', async () => {
  const client = await start({ notify: { ops: { webhook: receiver.url } }, disk: { lowBytes: 0 } });
  const tried = await client.call('testTarget', { id: 'ops', body: {} });
  expect(tried).toEqual({ target: 'ops', sent: true });
  expect(receiver.events[0]).toMatchObject({ type: 'stemma.test', data: { title: 'A test: this arrives' } });
  receiver.reply = 500;
  const failed = await client.call('testTarget', { id: 'ops', body: {} });
  expect(failed).toMatchObject({ sent: false, message: expect.stringMatching(/answered 500$/) });
  const missing = client.call('testTarget', { id: 'opps', body: {} });
  await expect(missing).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(missing).rejects.toThrow('there are ops');
});

test('a name in notifyAlways that is no target keeps the server from starting, and says what there is', async () => {
  const config = { notify: { ops: { webhook: receiver.url } }, notifyAlways: ['opps'] };
  await expect(start(config)).rejects.toThrow(/notifyAlways names "opps".* there are ops/);
});
