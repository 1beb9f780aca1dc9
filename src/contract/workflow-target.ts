import { z } from 'zod';
import { parseTemplate } from '../schedules/templates.ts';
import { durationMs } from './durations.ts';
import { retryInput } from './sequence.ts';
import { nameText } from './text.ts';
import { workflowInputs } from './workflow.ts';

const whole = z.strictObject({
  name: nameText.meta({ description: 'The workflow: its name, or project/name.' }),
  group: nameText
    .optional()
    .meta({ description: 'One of its groups. Left out, it runs for each of them, side by side.' }),
  inputs: workflowInputs.optional().meta({
    description: 'The values of its inputs, by name; texts may have templates such as {{date}}.',
  }),
  evaluation: z.boolean().optional().meta({ description: 'false: without the evaluation that it declares.' }),
  timeout: durationMs.optional().meta({
    description: 'What is not finished then is ended, and has failed. Default: what its file says.',
  }),
  retry: retryInput.optional(),
});

/** What a schedule runs instead of messages: the name of a workflow, or a mapping. */
export const workflowTarget = z
  .union([nameText, whole])
  .transform((said): z.output<typeof whole> => (typeof said === 'string' ? { name: said } : said))
  .superRefine(({ inputs = {} }, context) => {
    for (const [name, value] of Object.entries(inputs)) {
      const parsed = typeof value === 'string' ? parseTemplate(value) : undefined;
      if (parsed === undefined || parsed.ok) continue;
      for (const { message, nearest } of parsed.issues) {
        const params = nearest === undefined ? {} : { nearest };
        const text = message.replace(/\.$/, '');
        context.addIssue({ code: 'custom', path: ['inputs', name], message: text, params });
      }
    }
  })
  .meta({ description: 'The workflow that runs, instead of messages: its name, or a mapping.' });
/** What a schedule says of its workflow. */
export type WorkflowTarget = z.output<typeof workflowTarget>;
