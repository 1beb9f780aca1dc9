import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock as clock } from '../../base/clock.ts';
import { acpDriver } from '../acp/driver.ts';
import { demoCheck } from '../demo/conformance-script.ts';
import { demoProgramFromSource } from '../demo/demo-from-source.ts';
import type { AgentProfile, Driver, DriverEvent } from '../port.ts';
import { checkDriver, conformanceCases } from './check-driver.ts';
import type { ConformanceReport } from './report.ts';
import { startTestTools } from './test-tools.ts';

vi.setConfig({ testTimeout: 300_000 });

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stemma-check-'));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function profileFor(script: string): AgentProfile {
  return {
    name: 'demo',
    driver: 'acp',
    command: demoProgramFromSource('--script', script),
    env: { STEMMA_DEMO_HOME: root },
  };
}

function outcomes(report: ConformanceReport): Record<string, string> {
  return Object.fromEntries(
    report.cases.map(({ name, outcome }) => [
      name,
      outcome.state === 'passed' ? 'passed' : `${outcome.state}: ${outcome.reason}`,
    ]),
  );
}

test('the ACP driver passes every case with an agent that can be told everything', async () => {
  const tools = await startTestTools();
  try {
    const report = await checkDriver({
      driver: acpDriver({ clock, openingMs: 10_000 }),
      ...demoCheck(root, profileFor),
      clock,
      directory: join(root, 'cases'),
      tools,
      patienceMs: 30_000,
    });
    const expected = Object.fromEntries(conformanceCases.map(({ name }) => [name, 'passed']));
    const never = 'skipped: the driver declares that it never steers';
    expect(outcomes(report)).toEqual({
      ...expected,
      steerHeard: never,
      steerUncertain: never,
      withdraw: never,
      task: 'skipped: the driver declares that it does not see background work',
    });
    expect(report.passed).toBe(true);
    expect(
      report.cases.every(({ outcome, evidence }) => outcome.state === 'skipped' || evidence.length > 0),
    ).toBe(true);
  } finally {
    await tools.close();
  }
});

test('what an agent cannot be told is skipped with the reason', async () => {
  const { profile } = demoCheck(root, profileFor);
  const driver = acpDriver({ clock });
  const directory = join(root, 'cases');
  const report = await checkDriver({
    driver,
    profile,
    clock,
    directory,
    only: ['open', 'toolCall', 'twoEnds', 'diesAtStart'],
  });
  expect(outcomes(report)).toEqual({
    open: 'passed',
    toolCall: 'skipped: no tools were given to the check',
    twoEnds: 'skipped: this agent cannot be told to do it: no prompt was given for twoEnds',
    diesAtStart: 'skipped: no profile with this fault was given',
  });
});

test('a check that is stopped skips the rest', async () => {
  const { profile } = demoCheck(root, profileFor);
  const signal = AbortSignal.abort();
  const report = await checkDriver({ driver: acpDriver({ clock }), profile, clock, directory: root, signal });
  expect(new Set(Object.values(outcomes(report)))).toEqual(new Set(['skipped: the check was stopped']));
});

/** A driver that is right except for what `spoil` does to its events and calls. */
function spoiled(spoil: (event: DriverEvent) => DriverEvent[]): Driver {
  const driver = acpDriver({ clock });
  return {
    ...driver,
    open: (request) =>
      driver.open({ ...request, emit: (event) => spoil(event).forEach((other) => request.emit(other)) }),
  };
}

test.each<[string, (event: DriverEvent) => DriverEvent[], RegExp]>([
  ['ends turns twice', (event) => (event.type === 'turnEnded' ? [event, event] : [event]), /ended twice/],
  ['forgets starts', (event) => (event.type === 'turnStarted' ? [] : [event]), /waited .* to start/],
  [
    'goes back',
    (event) => [{ ...event, position: event.type === 'turnEnded' ? 1 : event.position }],
    /the position fell/,
  ],
  [
    'claims texts',
    (event) => (event.type === 'turnStarted' ? [{ ...event, deliveryId: 'other' }] : [event]),
    /started on other, which was never sent/,
  ],
])('a driver that %s fails', async (_, spoil, reason) => {
  const { profile, prompts } = demoCheck(root, profileFor);
  const report = await checkDriver({
    driver: spoiled(spoil),
    profile,
    prompts,
    clock,
    directory: join(root, 'cases'),
    only: ['simpleTurn'],
    patienceMs: 6000,
  });
  expect(report.passed).toBe(false);
  expect(outcomes(report)['simpleTurn']).toMatch(reason);
});

test('a driver that throws fails, and the check goes on', async () => {
  const { profile } = demoCheck(root, profileFor);
  const driver: Driver = { ...acpDriver({ clock }), probe: () => Promise.reject(new Error('oops')) };
  const report = await checkDriver({
    driver,
    profile,
    clock,
    directory: join(root, 'cases'),
    only: ['probe', 'open'],
  });
  expect(outcomes(report)).toEqual({ probe: 'failed: probe threw: Error: oops', open: 'passed' });
});
