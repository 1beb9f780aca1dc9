import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock as clock } from '../base/clock.ts';
import { minimalEnvironment } from './command.ts';
import { endGroup } from './group.ts';
import { waitUntil } from '../base/pause.ts';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.ts';
import { launchRecorded, readRecord, revokeLaunches } from './recorded-launch.ts';

let directory = '';
let owner: ChildProcess | undefined;
const started: ProcessIdentity[] = [];

// The shell holds still just before its record until `go` appears; the program says that it ran.
const setUp = 'echo $$ >shell; while [ ! -e go ]; do sleep 0.02; done';
const body = 'echo $$ >ran; exec sleep 600';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-launch-'));
});

afterEach(async () => {
  owner?.kill('SIGKILL');
  for (const identity of started.splice(0)) await endGroup(identity, { graceMs: 0, clock });
  rmSync(directory, { recursive: true, force: true });
});

async function ownerDiesBeforeTheRecord(): Promise<ProcessIdentity> {
  const program = `
    import { launchRecorded } from ${JSON.stringify(new URL('./recorded-launch.ts', import.meta.url).href)};
    import { systemClock } from ${JSON.stringify(new URL('../base/clock.ts', import.meta.url).href)};
    const [directory, setUp, body] = process.argv.slice(1);
    setInterval(() => undefined, 1000);
    await launchRecorded({ directory, setUp, body, parameters: [], env: { PATH: process.env.PATH }, clock: systemClock });
  `;
  const args = ['--import', 'tsx', '--input-type=module', '-e', program, '--', directory, setUp, body];
  owner = spawn(process.execPath, args, { stdio: 'inherit' });
  const shellPid = (): number => Number(contentOf('shell') || 0);
  expect(await waitUntil(clock, () => contentOf('shell').endsWith('\n'), 10_000)).toBe(true);
  const shell = identityOf(shellPid());
  if (!shell) throw new Error('the shell is gone');
  started.push(shell);
  owner.kill('SIGKILL');
  await waitUntil(clock, () => owner?.signalCode === 'SIGKILL', 5000);
  return shell;
}

function contentOf(name: string): string {
  return existsSync(join(directory, name)) ? readFileSync(join(directory, name), 'utf8') : '';
}

test('a revoked launch never runs its program, however late its shell goes on', async () => {
  const shell = await ownerDiesBeforeTheRecord();
  await revokeLaunches(directory);
  expect(await readRecord(directory)).toBeUndefined();
  writeFileSync(join(directory, 'go'), '');
  expect(await waitUntil(clock, () => !isAlive(shell), 5000)).toBe(true);
  expect(readdirSync(directory).sort()).toEqual(['go', 'shell']);
});

test('a launch whose owner died publishes its record by itself', async () => {
  const shell = await ownerDiesBeforeTheRecord();
  writeFileSync(join(directory, 'go'), '');
  expect(await waitUntil(clock, () => contentOf('ran').endsWith('\n'), 5000)).toBe(true);
  await revokeLaunches(directory);
  expect(await readRecord(directory)).toEqual(shell);
  expect(isAlive(shell)).toBe(true);
});

test('the record names the program and is private, and the launch leaves nothing else behind', async () => {
  const parameters = ["it's", 'a "b" $c'];
  const launched = await launchRecorded({
    directory,
    setUp: '',
    body: 'printf "%s|" "$@" >arguments; umask >mask; exec sleep 600',
    parameters,
    env: minimalEnvironment(),
    clock,
  });
  if (!launched.ok) throw new Error(launched.message);
  started.push(launched.identity);
  expect(launched.identity).toEqual(identityOf(launched.child.pid ?? 0));
  expect(statSync(join(directory, 'process.json')).mode & 0o777).toBe(0o600);
  expect(await waitUntil(clock, () => contentOf('mask') !== '', 5000)).toBe(true);
  expect(contentOf('arguments')).toBe('it\'s|a "b" $c|');
  expect(Number.parseInt(contentOf('mask'), 8)).toBe(process.umask());
  expect(readdirSync(directory).sort()).toEqual(['arguments', 'mask', 'process.json']);
});

test('a launch that cannot begin says so', async () => {
  const launch = { directory, setUp: 'exit 3', body, parameters: [], env: minimalEnvironment(), clock };
  expect(await launchRecorded(launch)).toMatchObject({ ok: false });
  expect(await launchRecorded({ ...launch, directory: join(directory, 'missing') })).toMatchObject({
    ok: false,
  });
  expect(await launchRecorded({ ...launch, parameters: ['a\0b'] })).toMatchObject({ ok: false });
  expect(readdirSync(directory)).toEqual([]);
});
