import { z } from 'zod';
import { budget } from './budget.ts';
import { executionState, outcome, usage, waiting } from './execution.ts';
import { queryNumber } from './page.ts';
import { instant } from './text.ts';
import { workflowView } from './workflow.ts';
import { workspaceMode } from './workspace-mode.ts';

/** How many messages of one run are shown at most, and if not said; and of each run in a list. */
export const largestPlaces = 1_000;
export const listedPlaces = 100;

export const runQuery = z.strictObject({
  from: queryNumber(0, 100_000_000).optional().meta({
    description: 'The index of the first message. Default: those about the one at which it stands.',
  }),
  limit: queryNumber(1, largestPlaces).optional(),
});
/** Which messages of a run. */
export type RunQuery = z.infer<typeof runQuery>;

/** Where a run is. `waiting`: nothing is done for it, and `waiting` says why and until when. */
export const runStates = ['waiting', 'running', 'ended'] as const;

const runWaiting = waiting
  .omit({ for: true })
  .extend({
    for: z.enum([...waiting.shape.for.options, 'retry']).meta({
      description: '`retry`: its message has failed, and is sent again at `until`.',
    }),
  })
  .meta({
    id: 'RunWaiting',
    description: 'What a run waits for, since when, and until when if that is known.',
  });

const runAttempt = z
  .object({
    executionId: z.string(),
    attempt: z.number(),
    state: executionState,
    closed: z.boolean(),
    outcome: outcome.optional(),
  })
  .meta({ id: 'RunAttempt' });

const runWorkspace = z
  .object({
    how: workspaceMode,
    path: z.string().meta({ description: 'The directory in which it works.' }),
    lock: z.string().optional().meta({ description: 'What it has alone while it runs.' }),
    branch: z.string().optional().meta({ description: 'Of a worktree.' }),
    left: z
      .enum(['removed', 'kept'])
      .optional()
      .meta({ description: 'What became of a worktree when the run had ended.' }),
    leftWhy: z.string().optional().meta({ description: 'Why it was kept: what is in it.' }),
  })
  .meta({ id: 'RunWorkspace', description: 'Where a run works.' });

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
    waiting: runWaiting.optional(),
    currentId: z.string().optional().meta({ description: 'The message at which it stands.' }),
    next: z.number().optional().meta({
      description:
        'Index of the message that follows; those behind it are sent again where it has begun again.',
    }),
    budget: budget.optional(),
    spent: usage
      .optional()
      .meta({ description: 'What all attempts of all messages have used, where that is counted.' }),
    workspace: runWorkspace.optional(),
    outcome: outcome.optional(),
    outcomeCode: z.string().optional(),
    createdAt: instant.optional(),
    endedAt: instant.optional(),
    workflow: workflowView.optional().meta({
      description:
        'Of a run of a workflow: its steps. Its messages are then the workflow, and the evaluation that follows it.',
    }),
    scoring: workflowView.optional().meta({
      description: 'In GET /workflows/:name/runs?steps=: the evaluation that followed, its latest attempt.',
    }),
    messagesCount: z.number().optional().meta({ description: 'How many messages there are.' }),
    messagesClosed: z.number().optional().meta({ description: 'How many of them are closed.' }),
    messages: z
      .array(
        z.object({
          index: z.number(),
          text: z.string(),
          attempts: z.array(runAttempt),
          row: z.number().optional().meta({ description: 'The row that it is for, from 0.' }),
        }),
      )
      .meta({
        description:
          'In order; of very many those about the one at which it stands. GET /runs/:id?from=INDEX&limit= shows others.',
      }),
  })
  .meta({ id: 'Run', description: 'One execution of a message sequence, or of a workflow.' });
/** One execution of a message sequence, or of a workflow. */
export type Run = z.infer<typeof run>;
