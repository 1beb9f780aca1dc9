import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { endGroup } from './group.ts';
import { hasLeftBehind, leftBehind } from './left-behind.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { launchRecorded } from './recorded-launch.ts';

let directory = '';
let program: ProcessIdentity | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-left-'));
});

afterEach(async () => {
  if (program) await endGroup(program, { graceMs: 100, clock: systemClock });
  rmSync(directory, { recursive: true, force: true });
});

async function launch(body: string): Promise<ProcessIdentity> {
  const env = { PATH: process.env['PATH'] ?? '' };
  const launched = await launchRecorded({
    directory,
    setUp: '',
    body,
    parameters: [],
    env,
    clock: systemClock,
  });
  if (!launched.ok) throw new Error(launched.message);
  program = launched.identity;
  return program;
}

it.runIf(process.platform === 'linux')(
  'is what a shell left with &, and not what the program still holds',
  async () => {
    // The first one is the program's own; the second was left by a shell that has ended, and has a child of its own.
    const identity = await launch(
      'sleep 100 & sh -c \'setsid sh -c "sleep 101; :" & exit 0\'; exec sleep 102',
    );
    await vi.waitFor(() => expect(leftBehind(identity)).toHaveLength(2), { timeout: 10_000 });
    const left = leftBehind(identity);
    expect(left.map(({ pid }) => pid)).not.toContain(identity.pid);
    expect(hasLeftBehind(identity)).toBe(true);
    expect(await endGroup(identity, { graceMs: 100, clock: systemClock })).toBe('dead');
    expect(left.some(isAlive)).toBe(false);
    expect(hasLeftBehind(identity)).toBe(false);
  },
);
