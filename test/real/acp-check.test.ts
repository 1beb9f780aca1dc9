import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkAgentOffline } from '../../src/main/check-agent.ts';
import { packageFile } from '../../src/main/version.ts';
import { startModelServer } from '../model/model-server.ts';
import { geminiKit } from './gemini-kit.ts';
import { type AgentKit, findProgram } from './kit.ts';
import { qwenKit } from './qwen-kit.ts';

// A model that understands the plain words in which any agent is asked.
const rules = [
  { when: '^Answer with the single word', steps: '[[say ready]]' },
  { when: '^Call the tool "echo"', steps: '[[tool echo {"text":"check"}]] [[say done]]' },
  { when: '^Count from 1 to 400', steps: '[[slow 6 one two three four five six seven eight]]' },
  { when: '^Count from 1 to 20', steps: '[[slow 1 one two three four]]' },
];

for (const kit of [geminiKit, qwenKit]) checkCase(kit);

function checkCase(kit: AgentKit): void {
  const program = findProgram(kit.name);
  describe.skipIf(!program)(`stemma agent check, with the real ${kit.name}`, () => {
    it('proves what plain words can ask for', async () => {
      const root = mkdtempSync(join(tmpdir(), `stemma-${kit.name}-check-`));
      const model = await startModelServer({ rules });
      try {
        const profile = kit.profile(program ?? '', root, model);
        const configFile = join(root, 'stemma.yaml');
        writeFileSync(configFile, JSON.stringify({ agents: { [kit.name]: profile } }));
        const report = await checkAgentOffline(
          { name: kit.name, turn: true, cwd: root, configFile },
          { self: [], examplesDirectory: packageFile('examples'), pageDirectory: '' },
        );
        expect(report.cases.filter(({ outcome }) => outcome.state === 'failed')).toEqual([]);
        const proved = report.capabilities.filter(({ proof }) => proof === 'proved').map(({ name }) => name);
        expect(proved).toEqual(['steer', 'turnEnd', 'resume', 'locatesCalls']);
      } finally {
        await model.stop();
        rmSync(root, { recursive: true, force: true, maxRetries: 5 });
      }
    }, 240_000);
  });
}
