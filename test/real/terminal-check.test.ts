import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAgentOffline } from '../../src/main/check-agent.ts';
import { packageFile } from '../../src/main/version.ts';
import { type ModelServer, startModelServer } from '../model/model-server.ts';
import { claudeScreenKit } from './claude-screen-kit.ts';
import { findProgram } from './kit.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('\n  SKIPPED: tmux is missing. Install the package tmux.\n');
const program = hasTmux ? findProgram('claude') : undefined;

// A model that understands the plain words in which any agent is asked.
const rules = [
  { when: '^Answer with the single word', steps: '[[say ready]]' },
  { when: '^Call the tool "echo"', steps: '[[tool echo {"text":"check"}]] [[say done]]' },
];

describe.skipIf(!program)('stemma agent check, with the real Claude Code at its own screen', () => {
  let root = '';
  let model: ModelServer;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'stemma-screen-check-'));
    mkdirSync(join(root, 'work'));
    model = await startModelServer({ rules });
    const profile = claudeScreenKit.profile(program ?? '', root, model);
    writeFileSync(join(root, 'stemma.yaml'), JSON.stringify({ agents: { screen: profile } }));
  });
  afterAll(async () => {
    await model.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it.each(['toolCall', 'adopt'])(
    'proves %s where the person is, and leaves nothing behind',
    async (only) => {
      const cwd = join(root, 'work');
      const report = await checkAgentOffline(
        { name: 'screen', turn: true, only, cwd, configFile: join(root, 'stemma.yaml') },
        { self: [], examplesDirectory: packageFile('examples'), pageDirectory: '' },
      );
      expect(report.cases.map(({ name, outcome }) => [name, outcome.state])).toEqual([[only, 'passed']]);
      expect(readdirSync(cwd)).toEqual([]);
      expect(readdirSync(join(root, 'home', 'projects'))).toEqual([]);
    },
    90_000,
  );
});
