import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentCase, AgentCheckReport } from '../cli/ports.ts';
import { conformanceCases } from '../drivers/conformance/check-driver.ts';
import { checkAgentOffline, listAgentsOffline } from './check-agent.ts';
import { packageFile } from './version.ts';

vi.setConfig({ testTimeout: 120_000 });

const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const installation = {
  self: [process.execPath, '--import', loader, packageFile('src', 'main', 'stemma.ts')],
  examplesDirectory: packageFile('examples'),
  pageDirectory: packageFile('dist', 'web'),
};

let root = '';
let before = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stemma-agents-'));
  before = process.env['TMPDIR'] ?? '';
  // What a check leaves behind can be seen here.
  process.env['TMPDIR'] = root;
});

afterEach(() => {
  if (before === '') delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  rmSync(root, { recursive: true, force: true });
});

function outcomes({ cases }: Pick<AgentCheckReport, 'cases'>): Record<string, string> {
  return Object.fromEntries(cases.map(({ name, outcome }) => [name, outcome.state]));
}

/** What of ours is in the temporary directory; loaders of TypeScript keep something there too. */
function left(): string[] {
  return readdirSync(root).filter((name) => name.startsWith('stemma-'));
}

function config(text: string): string {
  const file = join(root, 'stemma.yaml');
  writeFileSync(file, text);
  return file;
}

test('the profile that is always there proves the script driver, and leaves nothing', async () => {
  const told: AgentCase[] = [];
  const onCase = (result: AgentCase): void => void told.push(result);
  const report = await checkAgentOffline({ name: 'script', turn: true, cwd: root, onCase }, installation);
  expect(report.cases.filter(({ outcome }) => outcome.state === 'failed')).toEqual([]);
  expect(report).toMatchObject({ name: 'script', driver: 'script', found: true, passed: true });
  expect(outcomes(report)).toMatchObject({ adopt: 'passed', resumeAfterKill: 'passed', question: 'skipped' });
  expect(report.capabilities.find(({ name }) => name === 'resume')).toMatchObject({
    value: 'always',
    proof: 'proved',
    cases: ['resumeAfterKill'],
  });
  expect(told).toEqual(report.cases);
  expect(left()).toEqual([]);
});

test('the demo agent is checked with the prompts that it has for everything', async () => {
  const request = { name: 'demo', turn: false, cwd: root };
  const only = await checkAgentOffline({ ...request, only: 'garbage' }, installation);
  expect(outcomes(only)).toEqual({ garbage: 'passed' });
  const atStart = await checkAgentOffline({ ...request, only: 'diesAtStart' }, installation);
  expect(outcomes(atStart)).toEqual({ diesAtStart: 'passed' });
  expect(left()).toEqual([]);
});

test('without turns nothing is asked of an agent', async () => {
  const configFile = config('agents:\n  mine: {driver: script, command: [./agent.sh]}\n');
  writeFileSync(join(root, 'agent.sh'), '#!/bin/sh\ntouch "$0.was-run"\n', { mode: 0o755 });
  const report = await checkAgentOffline({ name: 'mine', turn: false, cwd: root, configFile }, installation);
  expect(outcomes(report)).toEqual({ probe: 'passed', open: 'passed' });
  expect(report.capabilities.every(({ proof }) => proof === 'declared')).toBe(true);
  expect(readdirSync(root).sort()).toEqual(['agent.sh', 'stemma.yaml']);
});

test('an agent that does not do what its driver promises fails', async () => {
  const configFile = config('agents:\n  broken: {driver: acp, command: [/bin/cat]}\n');
  const report = await checkAgentOffline(
    { name: 'broken', turn: false, cwd: root, configFile },
    installation,
  );
  expect(report).toMatchObject({ found: true, passed: false });
  expect(outcomes(report)).toEqual({ probe: 'passed', open: 'failed' });
  expect(readdirSync(root)).toEqual(['stemma.yaml']);
});

test('a program that is not there is a finding without cases', async () => {
  const configFile = config('agents:\n  gone: {driver: acp, command: [/nowhere/agent]}\n');
  const request = { name: 'gone', turn: true, cwd: root, configFile };
  expect(await checkAgentOffline(request, installation)).toMatchObject({
    found: false,
    passed: false,
    warnings: [expect.stringContaining('/nowhere/agent')],
    cases: [],
  });
  const listed = await listAgentsOffline({ configFile }, installation);
  expect(listed.find(({ name }) => name === 'gone')).toMatchObject({
    driver: 'acp',
    command: ['/nowhere/agent'],
    capabilities: { steer: 'none' },
    check: { found: false, warnings: [expect.stringContaining('/nowhere/agent')] },
  });
  expect(listed.find(({ name }) => name === 'codex')).toMatchObject({
    isBuiltIn: true,
    install: expect.stringContaining('@openai/codex'),
  });
});

test('a check that is stopped ends its agent and skips the rest', async () => {
  const controller = new AbortController();
  const report = await checkAgentOffline(
    {
      name: 'script',
      turn: true,
      cwd: root,
      signal: controller.signal,
      onCase: ({ name }) => name === 'simpleTurn' && controller.abort(),
    },
    installation,
  );
  expect(report.cases.at(-1)?.outcome).toEqual({ state: 'skipped', reason: 'the check was stopped' });
  expect(left()).toEqual([]);
});

test('names that nothing has are refused with those that there are', async () => {
  const request = { name: 'demo', turn: false, cwd: root };
  await expect(checkAgentOffline({ ...request, name: 'dmo' }, installation)).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining('demo, codex'),
  });
  await expect(checkAgentOffline({ ...request, only: 'steerTakn' }, installation)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('did you mean steerTaken?'),
  });
});

test('the documentation names every case that a check may print', () => {
  const text = readFileSync(packageFile('docs', 'drivers', 'README.md'), 'utf8');
  const unnamed = conformanceCases.map(({ name }) => name).filter((name) => !text.includes(`\`${name}\``));
  expect(unnamed).toEqual([]);
});

test('a driver that does not exist is named with its line, and the one that was meant', async () => {
  const configFile = config('agents:\n  fast:\n    driver: acpp\n    command: [fast]\n');
  await expect(listAgentsOffline({ configFile }, installation)).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringMatching(/stemma\.yaml:3:13: .*did you mean "acp"\?/),
    data: { line: 3, key: 'agents.fast.driver', nearest: 'acp' },
  });
});
