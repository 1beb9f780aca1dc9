import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAgentOffline } from '../../src/main/check-agent.ts';
import { packageFile } from '../../src/main/version.ts';
import { type ModelServer, startModelServer } from '../model/model-server.ts';
import { findPi, piKit } from './pi-kit.ts';

const program = findPi();

// A model that understands the plain words in which any agent is asked.
const rules = [
  { when: '^Answer with the single word', steps: '[[say ready]]' },
  { when: '^Call the tool "echo"', steps: '[[tool echo {"text":"check"}]] [[say done]]' },
  { when: '^Count from 1 to 400', steps: '[[slow 6 one two three four five six seven eight]]' },
];

describe.skipIf(!program)('stemma agent check, with the real pi', () => {
  let root = '';
  let model: ModelServer;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'stemma-pi-check-'));
    model = await startModelServer({ rules });
    const profile = piKit.profile(program ?? '', root, model);
    writeFileSync(join(root, 'stemma.yaml'), JSON.stringify({ agents: { pi: profile } }, undefined, 2));
  });
  afterAll(async () => {
    await model.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it('proves what plain words can ask for', async () => {
    const report = await checkAgentOffline(
      { name: 'pi', turn: true, cwd: root, configFile: join(root, 'stemma.yaml') },
      { self: [], examplesDirectory: packageFile('examples'), pageDirectory: '' },
    );
    expect(report.cases.filter(({ outcome }) => outcome.state === 'failed')).toEqual([]);
    const proved = report.capabilities.filter(({ proof }) => proof === 'proved').map(({ name }) => name);
    expect(proved).toEqual(expect.arrayContaining(['steer', 'turnEnd', 'resume', 'locatesCalls']));
  }, 400_000);
});
