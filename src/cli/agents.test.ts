import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bench, until } from '../../test/cli/bench.ts';
import { capabilityLines, caseLines } from './agent-report.ts';
import type { AgentCase, AgentCheckReport, AgentCheckRequest } from './ports.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const passed: AgentCase = {
  name: 'open',
  title: 'an idle conversation is idle',
  outcome: { state: 'passed' },
  evidence: ['open → {"ok":true}', 'answer → false', 'end → dead'],
  tookMs: 120,
};
const failed: AgentCase = {
  name: 'simpleTurn',
  title: 'two turns',
  outcome: { state: 'failed', reason: 'the answer is \x1b[31mempty' },
  evidence: ['@1 turnStarted {}', '@2 turnEnded {}'],
  tookMs: 1500,
};
const skipped: AgentCase = {
  name: 'toolCall',
  title: 'a tool call',
  outcome: { state: 'skipped', reason: 'no tools' },
  evidence: [],
  tookMs: 0,
};

function reportOf(cases: readonly AgentCase[]): AgentCheckReport {
  return {
    name: 'mine',
    driver: 'codex',
    found: true,
    version: '9.9.9',
    warnings: ['this version was never proved'],
    passed: cases.every(({ outcome }) => outcome.state !== 'failed'),
    cases,
    capabilities: [
      { name: 'steer', value: 'proven', meaning: 'it can', proof: 'proved', cases: ['steerTaken'] },
      { name: 'limits', value: true, meaning: 'it tells', proof: 'declared', cases: ['usageLimit'] },
    ],
  };
}

function check(cases: readonly AgentCase[], argv: readonly string[], seen: AgentCheckRequest[] = []) {
  return bench.command(['agent', 'check', 'mine', ...argv], {
    checkAgentOffline: async (request) => {
      seen.push(request);
      const report = reportOf(cases);
      request.onFound?.(report);
      for (const one of cases) request.onCase?.(one);
      return report;
    },
  }).result;
}

it('a check prints what was found, each case and what is proved, with exit code 0', async () => {
  const seen: AgentCheckRequest[] = [];
  const { code, out, err } = await check([passed, skipped], [], seen);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.split('\n')).toEqual([
    'mine (codex): found, version 9.9.9',
    'warning: this version was never proved',
    '',
    expect.stringMatching(/^CASE +RESULT +TIME +WHAT$/),
    expect.stringMatching(/^open +passed +0\.1s +an idle conversation is idle$/),
    expect.stringMatching(/^toolCall +skipped +no tools$/),
    '',
    expect.stringMatching(/^CAPABILITY +DECLARED +PROOF +MEANING$/),
    expect.stringMatching(/^steer +proven +proved +it can \(steerTaken\)$/),
    expect.stringMatching(/^limits +yes +not shown +it tells$/),
    '',
    '1 passed, 0 failed, 1 skipped',
    '',
  ]);
  expect(seen).toMatchObject([{ name: 'mine', turn: false, cwd: bench.directory }]);
});

it('a case that failed shows its evidence, and the exit code is 1', async () => {
  const { code, out } = await check([passed, failed], ['--turn', '--case', 'simpleTurn']);
  expect(code).toBe(1);
  expect(out).toMatch(
    /simpleTurn +failed +1\.5s +the answer is empty\n {4}@1 turnStarted \{\}\n {4}@2 turnEnded \{\}\n/,
  );
  expect(out).toContain('1 passed, 1 failed, 0 skipped');
});

it('a check is broken to the width of the screen, with nothing cut off', () => {
  const long = { ...passed, title: 'a conversation that is idle says so, and goes on saying so' };
  const capability = {
    name: 'steer',
    value: true,
    proof: 'declared',
    cases: [],
    meaning: 'it can take a text in',
  };
  const lines = [
    ...caseLines(long, 60),
    ...capabilityLines([{ ...capability, proof: 'declared' }], 60).slice(1),
  ];
  expect(
    lines.map((line) =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    ),
  ).toEqual([
    'open               passed   0.1s   a conversation that is',
    '                                   idle says so, and goes on',
    '                                   saying so',
    'steer              yes           no case',
    '    it can take a text in',
  ]);
});

it('with --json a check is one document', async () => {
  const { code, out } = await check([failed], ['--json']);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual(JSON.parse(JSON.stringify(reportOf([failed]))));
});

it('a check that the user ends is no check', async () => {
  const command = bench.command(['agent', 'check', 'mine'], {
    checkAgentOffline: ({ signal }) =>
      new Promise((resolve) => signal?.addEventListener('abort', () => resolve(reportOf([passed])))),
  });
  await until(() => command.isListening('SIGINT'));
  command.send('SIGINT');
  expect(await command.result).toMatchObject({ code: 130, out: '' });
});

const profile = { name: 'mine', driver: 'acp', command: ['agent', '--acp'] };

it('a list asks the server for its profiles, and what each look found', async () => {
  const capabilities = {
    steer: 'proven',
    backgroundTasks: false,
    resume: 'always',
    limits: true,
    usage: 'tokens',
  };
  const checks = {
    mine: { found: true, version: '1.2', signedIn: 'no', warnings: ['a', 'b'] },
    gone: { found: false, warnings: [] },
    mute: { found: true, signedIn: 'unknown', signIn: 'mute login', warnings: [] },
    absent: { found: false, warnings: ['it is not there'] },
  };
  const items = Object.entries(checks).map(([name, check]) => ({ ...profile, name, check }));
  const [mine, gone, mute, absent] = items;
  const all = [{ ...mine, capabilities }, gone, mute, { ...absent, isBuiltIn: true, install: 'get absent' }];
  bench.server.routes['GET /agents'] = (_, url) => ({
    body: { items: url.searchParams.get('check') === 'true' ? all : [] },
  });
  const { code, out } = await bench.stemma('agent', 'ls');
  expect(code).toBe(0);
  const rows = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(rows[0]).toEqual(['NAME', 'DRIVER', 'PROGRAM', 'SIGNED IN', 'CAN', 'COMMAND']);
  expect(rows[1]).toEqual([
    'mine',
    'acp',
    'found 1.2',
    'no',
    'steers, unseen tasks, resumes, limits, tokens',
    'agent --acp',
  ]);
  expect(rows[2]).toEqual(['gone', 'acp', 'not found', 'agent --acp']);
  expect(rows[3]).toEqual(['mute', 'acp', 'found', 'unknown', 'agent --acp']);
  expect(rows[4]).toEqual(['absent', 'acp', 'not installed', 'get it: get absent']);
  expect(out).toContain('warning: mine: a\nwarning: mine: b\nhint: mute: sign in: mute login\n\nsteers: ');
  // What is merely possible is no reason to warn.
  expect(out).not.toContain('it is not there');
});

it('a column that says nothing is left out', async () => {
  bench.server.routes['GET /agents'] = () => ({
    body: { items: [{ ...profile, check: { found: true, warnings: [] } }] },
  });
  const { out } = await bench.stemma('agent', 'ls');
  expect(out.split('\n')[0]?.split(/ {2,}/)).toEqual(['NAME', 'DRIVER', 'PROGRAM', 'COMMAND']);
});

it('without a server, or for a file that is named, a list looks here', async () => {
  writeFileSync(join(bench.directory, 'stemma.yaml'), '');
  const asked: unknown[] = [];
  const more = {
    listAgentsOffline: async (request: unknown) => {
      asked.push(request);
      return [{ ...profile, check: { found: true, warnings: [] } }];
    },
  };
  const none = { STEMMA_DATA: join(bench.directory, 'none') };
  const first = await bench.command(['agent', 'ls', '--json'], { ...more, env: none }).result;
  expect(first).toMatchObject({ code: 0, err: expect.stringMatching(/No server runs/) });
  expect(JSON.parse(first.out)).toEqual({ items: [{ ...profile, check: { found: true, warnings: [] } }] });
  await bench.command(['agent', 'ls', '--config', 'other.yaml'], more).result;
  expect(asked).toEqual([
    { configFile: join(bench.directory, 'stemma.yaml') },
    { configFile: join(bench.directory, 'other.yaml') },
  ]);
  expect(bench.server.seen).toEqual([]);
});

it('a server that was named and does not answer is an error', async () => {
  const dead = { STEMMA_URL: 'http://127.0.0.1:1', STEMMA_TOKEN: 'x' };
  expect(await bench.command(['agent', 'ls'], { env: dead }).result).toMatchObject({ code: 6, out: '' });
});
