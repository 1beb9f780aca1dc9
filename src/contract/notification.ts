import { z } from 'zod';
import { instant } from './text.ts';

const dispatch = z
  .object({
    target: z.string(),
    state: z.enum(['owed', 'sending', 'sent', 'givenUp']),
    attempts: z.number().meta({ description: 'How often the message that it is part of was tried in vain.' }),
    nextAttemptAt: instant.optional(),
    endedAt: instant.optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'Dispatch', description: 'One notification on its way to one target.' });

export const notification = z
  .object({
    id: z.string(),
    transition: z.string(),
    title: z.string(),
    project: z.string().optional(),
    name: z.string().optional(),
    code: z.string().optional(),
    text: z.string().optional(),
    executionId: z.string().optional(),
    sessionId: z.string().optional(),
    runId: z.string().optional(),
    scheduleId: z.string().optional(),
    at: instant,
    dispatches: z.array(dispatch),
  })
  .meta({ id: 'Notification', description: 'A transition that people are told of, once.' });
/** A transition that people are told of, and how far that is. */
export type Notification = z.infer<typeof notification>;

export const targetTest = z
  .object({ target: z.string(), sent: z.boolean(), message: z.string().optional() })
  .meta({ id: 'TargetTest', description: 'What came of a message that was sent to try a target.' });
/** What came of a test message. */
export type TargetTest = z.infer<typeof targetTest>;
