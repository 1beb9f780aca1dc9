import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a minute and more, the longest first. Begun last, one of them would run on alone. */
const longest = [
  'opencode-kill',
  'opencode-death',
  'acp-check',
  'acp-driver',
  'codex-kill',
  'claude-kill',
  'kill-demo',
  'acp-kill',
  'pi-kill',
  'opencode-driver',
  'opencode-check',
  'pi-driver',
  'limits',
  'codex-faults',
  'opencode-sequence',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(basename(moduleId, '.test.ts'));
      return at < 0 ? longest.length : at;
    };
    return files.sort((a, b) => place(a) - place(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

/**
 * Tests against real agent programs. They are slow and load the machine by themselves, but for much of their time they wait
 * for those: two files run at once, each with its own servers, homes, terminals and free ports.
 */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // Programs of others on a shared machine: what fails three times is a fault, what fails once is told as a retry.
    retry: 2,
  },
});
