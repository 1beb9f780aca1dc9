import { z } from 'zod';
import { budget } from './budget.ts';
import { durationMs } from './durations.ts';
import { longText, textOf } from './text.ts';

/** How many messages one run may have. */
const largestSequence = 1_000;

/** How often something is tried again. */
export const retryInput = z
  .strictObject({
    max: z.int().min(0).max(100).meta({ description: 'Attempts beside the first one.' }),
    backoff: durationMs.optional().meta({
      description:
        'How long after the end of the first; twice as long each time, at most an hour. Default 1m.',
    }),
  })
  .meta({
    description:
      'How often a message that failed is sent again, as a new root; a step of a workflow is begun again.',
  });

/** What a message may say about itself besides its text. */
export const messageOptions = z.strictObject({
  timeout: durationMs.optional(),
  onFailure: z.enum(['stop', 'continue']).optional(),
  join: z.enum(['own', 'all']).optional(),
  check: textOf(100_000, 1)
    .optional()
    .meta({ description: 'A shell command; exit code 0 means that the message succeeded.' }),
  background: z.enum(['wait', 'cancel', 'detach']).optional(),
  budget: budget.optional(),
  retry: retryInput.optional(),
});

const fullMessage = z.strictObject({ text: longText, ...messageOptions.shape });

/** One message of a sequence, parsed: `timeout` in milliseconds, `check` a command for the shell. */
export type SequenceMessage = z.output<typeof fullMessage>;

/** One message as written: a text, or a text with options. */
export const sequenceMessage = z
  .union([longText, fullMessage])
  .transform((message): SequenceMessage => (typeof message === 'string' ? { text: message } : message));

/** Messages in their order; at least one. */
export const messageList = z
  .array(sequenceMessage)
  .min(1, 'needs at least one message')
  .max(largestSequence, `has more than ${largestSequence} messages`);
