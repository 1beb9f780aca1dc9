import { z } from 'zod';
import { instant } from './text.ts';

/** What a step of a workflow can be. */
const stepTypes = ['script', 'agent', 'sequence', 'todo', 'route', 'human', 'workflow'] as const;

/** Where a step is. The last four are ends. */
const stepStates = [
  'blocked',
  'due',
  'running',
  'backsOff',
  'succeeded',
  'failed',
  'skipped',
  'cancelled',
] as const;

export const stepType = z.enum(stepTypes).meta({ id: 'StepType' });
export const stepState = z.enum(stepStates).meta({ id: 'StepState' });

export const stepReason = z.string().meta({
  description:
    'Why it failed or was skipped: upstream, condition, notChosen, failFast, or the code of an error.',
});

export const treeStep = z
  .object({
    workflowId: z.string().meta({ description: 'The execution of its workflow.' }),
    name: z.string(),
    type: stepType,
    state: stepState,
    tries: z.number(),
    reason: stepReason.optional(),
    retryAt: instant.optional().meta({ description: 'When it is tried again.' }),
    reused: z
      .string()
      .optional()
      .meta({ description: 'The attempt of an earlier execution that counts for it.' }),
  })
  .meta({ id: 'TreeStep', description: 'A step of a workflow of the tree that has no attempt at work.' });
/** A step that no execution of the tree shows. */
export type TreeStep = z.infer<typeof treeStep>;
