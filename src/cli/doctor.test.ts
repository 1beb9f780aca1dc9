import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../../test/cli/bench.ts';
import { nodeFinding } from './findings.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

describe('doctor', () => {
  it('says of each thing how it is and what to do, and fails where something must be mended', async () => {
    writeFileSync(join(bench.directory, 'stemma.yaml'), 'agents: {}\n');
    const listed = { name: 'mine', driver: 'acp', command: ['mine'] };
    const { code, out } = await bench.command(['doctor'], {
      checkWorkflows: async () => [{ name: 'nightly', steps: 2, problems: [] }],
      listAgentsOffline: async () => [
        { ...listed, check: { found: false, warnings: [] }, install: 'npm i -g mine' },
        {
          ...listed,
          name: 'built',
          isBuiltIn: true,
          check: { found: false, warnings: [] },
          install: 'npm i -g built',
        },
        {
          ...listed,
          name: 'out',
          check: { found: true, version: '1.2', signedIn: 'no', signIn: 'out login', warnings: [] },
        },
      ],
    }).result;
    expect(code).toBe(5);
    expect(out).toMatch(/^ok {4}node: \d+/);
    expect(out).toMatch(/^(ok|warn|fail) +disk: [\d.]+ GB free$/m);
    expect(out).toContain('ok    server: none runs; "stemma up" starts one');
    expect(out).toContain('ok    workflows: 1, no mistakes');
    expect(out).toContain('fail  agent mine: its program is not installed\n      -> npm i -g mine');
    expect(out).toContain(
      'ok    agent built: its program is not installed; if you want it: npm i -g built\n',
    );
    expect(out).toContain('warn  agent out: 1.2, nobody is signed in\n      -> out login');
  });

  it('tells a configuration that cannot be read, as JSON too', async () => {
    writeFileSync(join(bench.directory, 'stemma.yaml'), 'agnts: {}\n');
    const { code, out } = await bench.stemma('doctor', '--json');
    expect(code).toBe(5);
    const { isWell, items } = JSON.parse(out) as { isWell: boolean; items: { what: string; seen: string }[] };
    expect(isWell).toBe(false);
    expect(items.find(({ what }) => what === 'config')).toMatchObject({
      state: 'fail',
      seen: expect.stringContaining('agnts'),
    });
  });

  it.each([
    ['20.18.1', 'fail'],
    ['20.19.0', 'ok'],
    ['22.1.0', 'ok'],
  ])('of Node.js %s says %s', (version, state) => expect(nodeFinding(version).state).toBe(state));
});
