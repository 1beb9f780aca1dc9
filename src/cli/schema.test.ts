import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { schemaText, workflowSchemaText } from './verbs/schema.ts';

const committed = fileURLToPath(new URL('../../docs/stemma.schema.json', import.meta.url));

describe('the JSON Schema of stemma.yaml', () => {
  it('is the one that is published: "stemma schema" writes it', () => {
    expect(readFileSync(committed, 'utf8') === schemaText()).toBe(true);
  });

  it('knows the schedules, with a description of each key', () => {
    const { $defs } = JSON.parse(schemaText()) as {
      $defs: Record<string, { properties: Record<string, { description?: string }> }>;
    };
    expect(Object.keys($defs['Config']?.properties ?? {})).toEqual(
      expect.arrayContaining([
        'apiVersion',
        'project',
        'agents',
        'schedules',
        'limits',
        'notify',
        'notifyAlways',
      ]),
    );
    const schedule = $defs['Schedule']?.properties ?? {};
    expect(Object.keys(schedule)).toEqual(
      expect.arrayContaining(['cron', 'every', 'at', 'after', 'messages', 'catchUp', 'onlyIf', 'cwd']),
    );
    const silent = Object.entries(schedule).filter(
      ([, { description, ...rest }]) => description === undefined && !('$ref' in rest),
    );
    expect(silent.map(([key]) => key)).toEqual([]);
  });
});

describe('the JSON Schema of workflow files', () => {
  it('is the one that is published: "stemma schema workflow" writes it', () => {
    const path = fileURLToPath(new URL('../../docs/workflow.schema.json', import.meta.url));
    expect(readFileSync(path, 'utf8') === workflowSchemaText()).toBe(true);
  });

  it('knows the keys of each type of step, and sub-agents of sub-agents', () => {
    const { $defs } = JSON.parse(workflowSchemaText()) as { $defs: Record<string, object> };
    expect(Object.keys($defs)).toEqual(expect.arrayContaining(['Workflow', 'WorkflowStep', 'SubAgent']));
    const steps = JSON.stringify($defs['WorkflowStep']);
    for (const key of ['run', 'prompt', 'foreach', 'validate', 'cases', 'question', 'maxRounds', 'workflow'])
      expect(steps).toContain(`"${key}"`);
    expect(JSON.stringify($defs['SubAgent'])).toContain('#/$defs/SubAgents');
  });
});
