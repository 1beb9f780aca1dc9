import { linesOf, outcomeOf, workflow } from './made-workflows.ts';
import type { Scenarios } from './scenario.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';

/** What a workflow is begun with: where it works, its groups, and who scores it. */
export function workflowBeginningCases({ scenario }: Scenarios): void {
  describe.concurrent('a workflow', () => {
    scenario('within another one works where it would if it were launched by itself', async (s) => {
      for (const place of ['sub', 'sub/deep', 'other']) mkdirSync(join(s.directory, place));
      const where = (name: string): object => ({ run: `echo ${name} $PWD >> ${s.directory}/places` });
      const plain = workflow(s, { work: where('plain') });
      const same = workflow(s, { work: { ...where('same'), cwd: 'deep' } }, { cwd: 'sub' });
      const grouped = workflow(
        s,
        { work: where('grouped') },
        { cwd: '{{group.dir}}', groups: { one: { dir: 'sub' }, two: { dir: 'other' } } },
      );
      const nested = [plain, same, grouped].map((name) => [`in-${name}`, { workflow: name }]);
      const outer = workflow(s, { outer: where('outer'), ...Object.fromEntries(nested) }, { cwd: 'sub' });
      expect(await outcomeOf(s, outer)).toBe('succeeded');
      const { directory } = s;
      expect(linesOf(s, 'places')).toEqual([
        `grouped ${directory}/other`,
        `grouped ${directory}/sub`,
        `outer ${directory}/sub`,
        `plain ${directory}`,
        `same ${directory}/sub/deep`,
      ]);
    });

    scenario('of a file that is sent runs all its groups, or the one that is named', async (s) => {
      const text = JSON.stringify({
        inputs: { day: { default: '{{date}}' } },
        groups: { eu: { region: 'e' }, us: { region: 'u' } },
        steps: { work: { run: 'echo $GROUP_REGION $INPUT_DAY >> ran' } },
      });
      const file = { path: join(s.directory, 'sent.yaml'), text };
      expect(await outcomeOf(s, 'sent', { file, inputs: { day: '{{x}}' } })).toBe('succeeded');
      expect(linesOf(s, 'ran')).toEqual(['e {{x}}', 'u {{x}}']);
      expect(await outcomeOf(s, 'sent', { file, group: 'us', inputs: { day: 'now' } })).toBe('succeeded');
      expect(linesOf(s, 'ran')).toEqual(['e {{x}}', 'u now', 'u {{x}}']);
    });
  });
}
