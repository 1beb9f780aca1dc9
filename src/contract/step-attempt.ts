import { z } from 'zod';
import { executionState, usage, waiting } from './execution.ts';
import { cursorText, queryNumber } from './page.ts';
import { stepType } from './step.ts';
import { instant } from './text.ts';

const failure = z.object({ code: z.string(), message: z.string() });

export const stepAttempt = z
  .object({
    executionId: z.string(),
    attempt: z.number(),
    state: executionState,
    closed: z.boolean(),
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    waiting: waiting.optional(),
    error: failure.optional(),
    usage: usage.optional().meta({ description: 'What was used at and below it.' }),
    sessionId: z.string().optional().meta({
      description: 'The conversation: GET /sessions/:id/transcript has what was said in it.',
    }),
    directory: z
      .string()
      .optional()
      .meta({ description: 'Where its prompt, its transcript and its outputs are kept.' }),
  })
  .meta({ id: 'StepAttempt', description: 'One try of a step: an execution below that of the workflow.' });

const attemptGate = z
  .object({
    says: z.string().meta({ description: 'Its command, or the outputs that it asks for.' }),
    executionId: z.string().optional(),
    state: executionState.optional().meta({ description: 'Absent before it was looked at.' }),
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    error: failure.optional().meta({ description: 'What it refused, and why.' }),
  })
  .meta({ id: 'AttemptGate', description: 'What has to hold before the next message is sent.' });

const attemptMessage = z
  .object({
    index: z.number(),
    row: z.number().optional().meta({ description: 'The row that it is for, from 0.' }),
    executionId: z.string(),
    attempt: z.number(),
    state: executionState,
    closed: z.boolean(),
    text: z.string().optional().meta({ description: 'As it was sent; absent before that.' }),
    textCut: z.boolean().optional().meta({ description: 'This is its beginning; the record has all of it.' }),
    result: z
      .string()
      .optional()
      .meta({ description: 'What was answered; its beginning, where it is long.' }),
    resultCut: z
      .boolean()
      .optional()
      .meta({ description: 'This is its beginning; the record has all of it.' }),
    error: failure.optional(),
    gate: attemptGate.optional(),
    usage: usage.optional(),
    startedAt: instant.optional(),
    endedAt: instant.optional(),
  })
  .meta({ id: 'AttemptMessage', description: 'What a step said to its agent.' });

export const stepAttemptView = stepAttempt
  .extend({
    workflowId: z.string().meta({ description: 'The execution of its workflow.' }),
    step: z.string(),
    type: stepType,
    command: z.string().optional().meta({
      description: 'Of a script: what it runs, templates filled in but those of the environment.',
    }),
    question: z.string().optional().meta({ description: 'Of a step that asks a person.' }),
    result: z.string().optional().meta({
      description:
        'What was answered last, what was printed, or the answer of a person; its beginning, if long.',
    }),
    resultCut: z.boolean().optional(),
    outputs: z.record(z.string(), z.unknown()).optional(),
    outputsCut: z.boolean().optional().meta({ description: 'They are too long; its directory has them.' }),
    messages: z
      .array(attemptMessage)
      .optional()
      .meta({ description: 'What its agent was told, and each time again that it was sent again.' }),
    messagesCount: z.number().optional().meta({ description: 'How many there are in its plan.' }),
    nextCursor: z.string().optional().meta({ description: 'There are more messages.' }),
    files: z
      .array(z.object({ path: z.string(), bytes: z.number() }))
      .meta({ description: 'What its directory holds, once it has ended; paths within it.' }),
  })
  .meta({ id: 'StepAttemptView', description: 'All that is known of one attempt of a step.' });
/** All that is known of one attempt of a step. */
export type StepAttemptView = z.infer<typeof stepAttemptView>;

/** How many messages one answer shows at most, and if not said. */
export const largestMessages = 200;
export const defaultMessages = 50;

export const stepAttemptQuery = z.strictObject({
  cursor: cursorText.optional(),
  limit: queryNumber(1, largestMessages).optional(),
});
/** Which messages of an attempt. */
export type StepAttemptQuery = z.infer<typeof stepAttemptQuery>;
