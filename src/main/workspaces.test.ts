import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import type { RunningServer } from '../cli/ports.ts';
import { StemmaClient } from '../client/stemma-client.ts';
import type { Run } from '../contract/run.ts';
import { startServer } from './server.ts';
import { packageFile } from './version.ts';

vi.setConfig({ testTimeout: 60_000 });

const installation = {
  self: [process.execPath],
  examplesDirectory: packageFile('examples'),
  pageDirectory: packageFile('dist', 'web'),
};

let root = '';
let repository = '';
let server: RunningServer;
let client: StemmaClient;

function git(...args: string[]): string {
  const who = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.test'];
  return execFileSync('git', [...who, ...args], { cwd: repository, encoding: 'utf8', stdio: 'pipe' }).trim();
}

async function start(): Promise<void> {
  server = await startServer({ dataDir: join(root, 'data'), port: 0 }, installation);
  const token = readFileSync(server.tokenFile, 'utf8').trim();
  client = new StemmaClient({ url: server.url, token }, systemClock);
}

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'stemma-main-workspaces-')));
  repository = join(root, 'repository');
  mkdirSync(repository);
  git('init', '-q');
  writeFileSync(join(repository, 'first'), '');
  git('add', '-A');
  git('commit', '-qm', 'first');
  await start();
});
afterEach(async () => {
  await server.stop({ agents: true });
  rmSync(root, { recursive: true, force: true });
});

/** The agent is a shell: each message is a command. */
const agents = { shell: { driver: 'script', command: ['/bin/sh'] } };

async function begin(workspace: 'exclusive' | 'worktree', command: string): Promise<string> {
  const body = { agent: 'shell', cwd: repository, messages: [command], agents, workspace, name: 'nightly' };
  return (await client.call('createRun', { body })).runId;
}

/** Waits until a run is as wanted. */
function until(id: string, isSo: (run: Run) => boolean): Promise<Run> {
  return vi.waitFor(
    async () => {
      const run = await client.call('getRun', { id });
      expect(isSo(run), JSON.stringify(run)).toBe(true);
      return run;
    },
    { timeout: 30_000 },
  );
}

test('two runs that want one repository alone work one after the other, and the second says for whom it waits', async () => {
  const go = join(root, 'go');
  const first = await begin('exclusive', `while [ ! -e ${go} ]; do sleep 0.05; done; echo 1 >> log`);
  await until(first, (run) => run.messages[0]?.attempts[0]?.state === 'running');
  const second = await begin('exclusive', 'echo 2 >> log');
  const waits = await until(second, (run) => run.state === 'waiting');
  expect(waits.waiting).toMatchObject({
    for: 'workspace',
    text: `the workspace ${repository} is held by ${first}`,
  });
  writeFileSync(go, '');
  const ended = await until(second, (run) => run.state === 'ended');
  expect(ended).toMatchObject({ outcome: 'succeeded', workspace: { how: 'exclusive', lock: repository } });
  expect(readFileSync(join(repository, 'log'), 'utf8')).toBe('1\n2\n');
});

test('a run in a worktree leaves the repository alone; what it made is kept and named, else the worktree goes', async () => {
  const [useful, idle] = [await begin('worktree', 'echo done > made'), await begin('worktree', 'ls')];
  const kept = await until(useful, (run) => run.workspace?.left !== undefined);
  expect(kept.workspace).toMatchObject({
    how: 'worktree',
    left: 'kept',
    leftWhy: '1 file is changed or new',
  });
  expect(kept.workspace?.branch).toMatch(/^stemma\/nightly\//);
  expect(readFileSync(join(kept.workspace?.path ?? '', 'made'), 'utf8')).toBe('done\n');
  const gone = await until(idle, (run) => run.workspace?.left !== undefined);
  expect(gone).toMatchObject({ outcome: 'succeeded', workspace: { left: 'removed' } });
  expect(existsSync(gone.workspace?.path ?? '')).toBe(false);
  expect(git('status', '--porcelain')).toBe('');
  // Begun again it has its directory again.
  await client.call('rerunRun', { id: idle, body: { from: 0 } });
  const again = await until(idle, (run) => run.state === 'ended' && run.messages[0]?.attempts.length === 2);
  expect(again.outcome).toBe('succeeded');
});

test('a directory in which no worktree can be made is refused at once, and nothing is begun', async () => {
  const body = { agent: 'shell', cwd: root, messages: ['ls'], agents, workspace: 'worktree' as const };
  await expect(client.call('createRun', { body })).rejects.toMatchObject({ code: 'INVALID_WORKSPACE' });
  expect((await client.call('listRuns')).items).toEqual([]);
});
