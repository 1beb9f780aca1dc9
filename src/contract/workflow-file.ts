import { z } from 'zod';
import { budget } from './budget.ts';
import { scheduleName, timeZone } from './schedule-input.ts';
import { nameText, textOf } from './text.ts';
import { environment, templated, templatedPath, timeout, variableName, wordName } from './workflow-parts.ts';
import { anyStep } from './workflow-steps.ts';

/** How many steps one workflow may have. */
const mostSteps = 5_000;
const mostGroups = 500;

const scalar = z.union([textOf(100_000), z.number(), z.boolean()]);

const input = z
  .strictObject({
    description: textOf(2_000).optional(),
    type: z.enum(['string', 'number', 'boolean']).optional().meta({ description: 'Default: string.' }),
    required: z.boolean().optional().meta({
      description: 'Default: false; an input that is not given and has no default is absent.',
    }),
    default: scalar.optional().meta({ description: 'Texts may have templates: {{date}}, {{env.NAME}}.' }),
    enum: z.array(scalar).min(1, 'needs at least one value').max(1_000).optional(),
  })
  .meta({ id: 'WorkflowInput', description: 'What the workflow is told when it is launched.' });
/** An input as it is written. */
export type WorkflowInputSaid = z.output<typeof input>;

const groupVariable = z.union([textOf(10_000), z.number(), z.boolean()]).transform(String);

const apiVersion = z
  .string()
  .refine((version) => version === 'stemma/v1', 'must be stemma/v1; this version of Stemma reads no other')
  .meta({ const: 'stemma/v1', description: 'The form of this file.' });

/** What a workflow file says besides its steps. */
export const workflowHead = z.strictObject({
  apiVersion: apiVersion.optional(),
  description: textOf(2_000).optional(),
  agent: nameText.optional().meta({ description: 'The agent profile of steps that name none.' }),
  cwd: templatedPath.optional().meta({
    description: 'Where the steps work, relative to the directory of stemma.yaml, which is the default.',
  }),
  timezone: timeZone.optional(),
  timeout: timeout.optional().meta({ description: 'Of the whole; then everything below it is ended.' }),
  failFast: z.boolean().optional().meta({
    description:
      'When a step fails for good, everything else is cancelled. Default: what does not need it goes on.',
  }),
  inputs: z.record(variableName, input).optional(),
  groups: z
    .record(scheduleName, z.record(variableName, groupVariable))
    .refine((groups) => Object.keys(groups).length <= mostGroups, `must be at most ${mostGroups} groups`)
    .optional()
    .meta({
      description: 'Variables by group: without a group, the workflow runs once for each, side by side.',
    }),
  env: environment.optional(),
  evaluation: scheduleName.optional().meta({ description: 'The workflow that scores it when it is closed.' }),
  of: z.literal('run').optional().meta({
    description:
      'This is an evaluation: it scores a closed run, by {{of.directory}}, {{of.outcome}}, {{of.result}}.',
  }),
  budget: budget.optional(),
  outputs: z.record(wordName, templated).optional().meta({
    description: 'What it gives to whoever waits for it, as in "{{steps.publish.outputs.report}}".',
  }),
  steps: z
    .record(wordName, z.unknown())
    .refine((steps) => Object.keys(steps).length > 0, 'needs at least one step')
    .refine((steps) => Object.keys(steps).length <= mostSteps, `has more than ${mostSteps} steps`),
});
/** The head of a workflow file, parsed; its steps are not. */
export type WorkflowHead = z.output<typeof workflowHead>;

/** A workflow file as editors know it: the same as is parsed, with its steps. */
const workflowFile = workflowHead
  .extend({ steps: z.record(wordName, anyStep).meta({ description: 'By name.' }) })
  .meta({ id: 'Workflow', description: 'A workflow of Stemma.' });

/** The JSON Schema of workflow files, for editors. */
export function workflowJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(workflowFile, { io: 'input' }), title: 'workflow.yaml' };
}
