import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAgentOffline } from '../../src/main/check-agent.ts';
import { packageFile } from '../../src/main/version.ts';
import { type ModelServer, startModelServer } from '../model/model-server.ts';
import { findCodex, writeCodexHome } from './codex-kit.ts';

const program = findCodex();

// A model that understands the plain words in which any agent is asked.
const rules = [
  { when: '^Answer with the single word', steps: '[[say ready]]' },
  { when: '^Call the tool "echo"', steps: '[[tool echo {"text":"check"}]] [[say done]]' },
  { when: '^Count from 1 to 400', steps: '[[slow 4 one two three four five six seven eight]]' },
];

describe.skipIf(!program)('stemma agent check, with the real Codex', () => {
  let root = '';
  let model: ModelServer;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'stemma-codex-check-'));
    model = await startModelServer({ rules });
    writeCodexHome(join(root, 'home'), model.url);
    const profile = { driver: 'codex', command: [program], home: join(root, 'home'), sandbox: 'full' };
    const env = { HOME: root, SCRIPTED_KEY: 'x' };
    writeFileSync(
      join(root, 'stemma.yaml'),
      JSON.stringify({ agents: { codex: { ...profile, env } } }, undefined, 2),
    );
  });
  afterAll(async () => {
    await model.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it('proves what plain words can ask for, and makes Codex forget it', async () => {
    const report = await checkAgentOffline(
      { name: 'codex', turn: true, cwd: root, configFile: join(root, 'stemma.yaml') },
      { self: [], examplesDirectory: packageFile('examples'), pageDirectory: '' },
    );
    expect(report.cases.filter(({ outcome }) => outcome.state === 'failed')).toEqual([]);
    const proved = report.capabilities.filter(({ proof }) => proof === 'proved').map(({ name }) => name);
    // Only a text that Codex happens not to take up can prove that; the tests of the driver make it happen.
    const certain = proved.filter((name) => name !== 'negativeProof');
    expect(certain).toEqual(['steer', 'turnEnd', 'resume', 'locatesCalls', 'usage']);
    expect(existsSync(join(root, 'home', 'stemma'))).toBe(false);
    expect(filesIn(join(root, 'home', 'sessions'))).toEqual([]);
  }, 120_000);
});

function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
