import { z } from 'zod';
import { executionState, outcome } from './execution.ts';
import { instant } from './text.ts';

/** Where a run is: waiting (for a slot, capacity, a login), running, ended. */
const runStates = ['waiting', 'running', 'ended'] as const;

const runAttempt = z
  .object({
    executionId: z.string(),
    attempt: z.number(),
    state: executionState,
    closed: z.boolean(),
    outcome: outcome.optional(),
  })
  .meta({ id: 'RunAttempt' });

export const run = z
  .object({
    id: z.string(),
    project: z.string(),
    name: z.string().optional(),
    agent: z.string().optional(),
    sessionId: z.string().optional(),
    schedule: z.string().optional(),
    instant: instant.optional(),
    state: z.enum(runStates),
    outcome: outcome.optional(),
    outcomeCode: z.string().optional(),
    createdAt: instant.optional(),
    endedAt: instant.optional(),
    messages: z.array(z.object({ index: z.number(), text: z.string(), attempts: z.array(runAttempt) })),
  })
  .meta({ id: 'Run', description: 'One execution of a message sequence.' });
/** One execution of a message sequence. */
export type Run = z.infer<typeof run>;
