import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAgentOffline } from '../../src/main/check-agent.ts';
import { packageFile } from '../../src/main/version.ts';
import { type ModelServer, startModelServer } from '../model/model-server.ts';
import { claudeKit } from './claude-kit.ts';
import { findProgram } from './kit.ts';

const program = findProgram(claudeKit.name);

// A model that understands the plain words in which any agent is asked.
const rules = [
  { when: '^Answer with the single word', steps: '[[say ready]]' },
  { when: '^Call the tool "echo"', steps: '[[tool echo {"text":"check"}]] [[say done]]' },
  { when: '^Count from 1 to 400', steps: '[[slow 4 one two three four five six seven eight]]' },
];

describe.skipIf(!program)('stemma agent check, with the real Claude Code', () => {
  let root = '';
  let model: ModelServer;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'stemma-claude-check-'));
    model = await startModelServer({ rules });
    const profile = claudeKit.profile(program ?? '', root, model);
    writeFileSync(join(root, 'stemma.yaml'), JSON.stringify({ agents: { claude: profile } }));
  });
  afterAll(async () => {
    await model.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it('proves what plain words can ask for, and leaves no conversation behind', async () => {
    const report = await checkAgentOffline(
      { name: 'claude', turn: true, cwd: root, configFile: join(root, 'stemma.yaml') },
      { self: [], examplesDirectory: packageFile('examples'), pageDirectory: '' },
    );
    expect(report.cases.filter(({ outcome }) => outcome.state === 'failed')).toEqual([]);
    expect(report.version).toBe('2.1.332');
    const proved = report.capabilities.filter(({ proof }) => proof === 'proved').map(({ name }) => name);
    for (const name of ['negativeProof', 'turnEnd', 'resume', 'locatesCalls']) expect(proved).toContain(name);
    expect(conversationsIn(join(root, 'home', 'projects'))).toEqual([]);
  }, 120_000);
});

function conversationsIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.name.endsWith('.jsonl')).map(({ name }) => name);
}
