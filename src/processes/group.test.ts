import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock as clock } from '../base/clock.ts';
import { minimalEnvironment } from './command.ts';
import { endGroup } from './group.ts';
import { waitUntil } from '../base/pause.ts';
import { descendantsOf, identityOf, isAlive, type ProcessIdentity } from './process-identity.ts';
import { launchRecorded } from './recorded-launch.ts';

let directory = '';
const shells: ProcessIdentity[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-group-'));
});

afterEach(async () => {
  for (const identity of shells.splice(0)) await endGroup(identity, { graceMs: 0, clock });
  rmSync(directory, { recursive: true, force: true });
});

function shell(script: string): { child: ChildProcess; identity: ProcessIdentity } {
  const child = spawn('/bin/sh', ['-c', script], { cwd: directory, detached: true, stdio: 'ignore' });
  const identity = present(identityOf(child.pid ?? 0));
  shells.push(identity);
  return { child, identity };
}

async function pidIn(file: string): Promise<ProcessIdentity> {
  const read = (): number => {
    try {
      const text = readFileSync(join(directory, file), 'utf8');
      return text.endsWith('\n') ? Number(text) : 0;
    } catch {
      return 0;
    }
  };
  expect(await waitUntil(clock, () => read() > 0, 5000)).toBe(true);
  return present(identityOf(read()));
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('expected a process');
  return value;
}

test('a process is known by its start, not by its pid alone', () => {
  const ourselves = present(identityOf(process.pid));
  expect(isAlive(ourselves)).toBe(true);
  expect(isAlive({ ...ourselves, startedAt: 'another start' })).toBe(false);
  expect(identityOf(2 ** 22 + 1)).toBeUndefined();
});

test('a zombie is dead', async () => {
  // What the shell becomes does not collect the shell's child.
  const { identity } = shell('sh -c "echo \\$\\$ >zombie" & exec sleep 600');
  const isZombie = (): boolean => {
    try {
      const pid = readFileSync(join(directory, 'zombie'), 'utf8').trim();
      return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) && identityOf(Number(pid)) === undefined;
    } catch {
      return false;
    }
  };
  expect(await waitUntil(clock, isZombie, 5000)).toBe(true);
  expect(descendantsOf(identity.pid)).toEqual([]);
  expect(await endGroup(identity, { graceMs: 500, clock })).toBe('dead');
});

test('the end of a group reaches children that left for a session of their own', async () => {
  const { identity } = shell('setsid sh -c "echo \\$\\$ >far; sleep 600" & sleep 600 & wait');
  const far = await pidIn('far');
  expect(descendantsOf(identity.pid)).toContainEqual(far);
  expect(await endGroup(identity, { graceMs: 2000, clock })).toBe('dead');
  expect(isAlive(far)).toBe(false);
  expect(isAlive(identity)).toBe(false);
});

test('what ignores SIGTERM is killed after the grace, and not before', async () => {
  const { identity } = shell('trap "" TERM; echo $$ >ready; while :; do sleep 0.1; done');
  await pidIn('ready');
  const began = clock.monotonic();
  expect(await endGroup(identity, { graceMs: 300, clock })).toBe('dead');
  expect(clock.monotonic() - began).toBeGreaterThanOrEqual(300);
});

test('a stopped process is ended too', async () => {
  const { identity } = shell('echo $$ >ready; kill -STOP $$');
  const stopped = (): boolean => readFileSync(`/proc/${identity.pid}/stat`, 'utf8').includes(') T ');
  expect(await waitUntil(clock, stopped, 5000)).toBe(true);
  expect(await endGroup(identity, { graceMs: 50, clock })).toBe('dead');
});

test('a pid that was given to somebody else is never signalled', async () => {
  const { child, identity } = shell('sleep 600 & wait');
  expect(await endGroup({ ...identity, startedAt: 'long ago' }, { graceMs: 50, clock })).toBe('dead');
  expect(isAlive(identity)).toBe(true);
  expect(child.signalCode).toBeNull();
});

test('what a dead program left behind is found by its mark, in any group', async () => {
  const launched = await launchRecorded({
    directory,
    setUp: '',
    body: 'sh -c "echo \\$\\$ >near; exec sleep 600" & setsid sh -c "echo \\$\\$ >far; exec sleep 600" & exec sleep 600',
    parameters: [],
    env: minimalEnvironment(),
    clock,
  });
  if (!launched.ok) throw new Error(launched.message);
  const left = [await pidIn('near'), await pidIn('far')];
  process.kill(launched.identity.pid, 'SIGKILL');
  expect(await waitUntil(clock, () => !isAlive(launched.identity), 5000)).toBe(true);
  expect(left.every(isAlive)).toBe(true);
  expect(await endGroup(launched.identity, { graceMs: 1000, clock })).toBe('dead');
  expect(left.some(isAlive)).toBe(false);
});
