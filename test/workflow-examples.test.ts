import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfigFile } from '../src/cli/config-file.ts';
import { workflowProjectOf } from '../src/main/workflow-project.ts';
import { WorkflowReading } from '../src/main/workflow-reading.ts';

const file = join(import.meta.dirname, '../examples/stemma-workflows.yaml');

describe('the examples of workflows', async () => {
  const { workflows } = workflowProjectOf(await loadConfigFile(file), file);
  const reading = await WorkflowReading.of(workflows);

  it('are three, and nothing else lies there', () => {
    expect(reading.names).toEqual(['documents', 'nightly-care', 'retry']);
    expect(reading.odd).toEqual([]);
  });

  it.each(reading.names)('%s has no mistakes', async (name) => {
    const checked = await reading.check(name, { agents: ['demo'] });
    expect(checked?.problems).toEqual([]);
  });
});
