import { z } from 'zod';
import { budget } from './budget.ts';
import { durationMs } from './durations.ts';
import { outcome, usage } from './execution.ts';
import { cursorText, largestLimit, queryNumber } from './page.ts';
import { retryInput } from './sequence.ts';
import { stepAttempt } from './step-attempt.ts';
import { stepReason, stepState, stepType } from './step.ts';
import { directoryPath, instant, nameText, textOf } from './text.ts';
import { wordName } from './workflow-parts.ts';
import { workspaceMode } from './workspace-mode.ts';

export const workflowStep = z
  .object({
    index: z.number(),
    name: z.string(),
    type: stepType,
    needs: z.array(z.string()),
    waitsFor: z
      .array(z.string())
      .optional()
      .meta({ description: 'The first of the steps that it needs and that have not ended.' }),
    state: stepState,
    reason: stepReason.optional(),
    retryAt: instant.optional().meta({ description: 'When it is tried again.' }),
    attempts: z.array(stepAttempt).meta({ description: 'Oldest first; of very many the latest ones.' }),
    tries: z.number().meta({ description: 'How many attempts there were.' }),
    result: z.string().optional().meta({ description: 'Its beginning, where it is long.' }),
    resultCut: z
      .boolean()
      .optional()
      .meta({ description: 'This is its beginning; its directory has all of it.' }),
    outputs: z.record(z.string(), z.unknown()).optional(),
    outputsCut: z
      .boolean()
      .optional()
      .meta({ description: 'Its outputs are too long to be shown here; they are in its directory.' }),
    reused: z.string().optional().meta({
      description:
        'It had succeeded before, in this attempt of an earlier execution, and was not done again.',
    }),
  })
  .meta({ id: 'WorkflowStep', description: 'A step of a workflow that was launched, and how far it is.' });
/** A step of a workflow that was launched. */
export type WorkflowStep = z.infer<typeof workflowStep>;

const stepCounts = z
  .object({ total: z.number(), ended: z.number(), failed: z.number() })
  .meta({ id: 'StepCounts' });

export const workflowView = z
  .object({
    name: z.string().meta({ description: 'project/name.' }),
    group: z.string().optional(),
    inputs: z.record(z.string(), z.unknown()).optional(),
    executionId: z
      .string()
      .optional()
      .meta({ description: 'Of its latest attempt; absent before the first.' }),
    state: z.enum(['running', 'ended']).optional(),
    outcome: outcome.optional(),
    outcomeCode: z.string().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    result: z.string().optional().meta({ description: 'Its summary, and what it gives.' }),
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    usage: usage.optional().meta({ description: 'What was used at and below it.' }),
    of: z.string().optional().meta({ description: 'The execution that it evaluates.' }),
    resumes: z
      .string()
      .optional()
      .meta({ description: 'The execution whose succeeded steps it does not repeat.' }),
    evaluation: z.string().optional().meta({ description: 'The workflow that scores it when it is closed.' }),
    directory: z.string().optional().meta({ description: 'Its record: inputs, attempts, outputs.' }),
    counts: stepCounts,
    steps: z
      .array(workflowStep)
      .meta({ description: 'In the order of the file. In a list of runs there are none.' }),
    nextCursor: z.string().optional().meta({
      description: 'There are more steps: GET /executions/:id/workflow?cursor= of it.',
    }),
  })
  .meta({
    id: 'WorkflowView',
    description: 'A workflow that was launched, with its steps and their attempts.',
  });
/** A workflow that was launched, with its steps. */
export type WorkflowView = z.infer<typeof workflowView>;

/** How many steps one answer shows at most, and if not said. */
export const largestSteps = 1_000;

export const workflowViewQuery = z.strictObject({
  step: wordName.optional().meta({ description: 'This step alone.' }),
  cursor: cursorText.optional(),
  limit: queryNumber(1, largestSteps).optional(),
});
/** Which steps of a workflow. */
export type WorkflowViewQuery = z.infer<typeof workflowViewQuery>;

const workflowInput = z
  .object({
    description: z.string().optional(),
    type: z.string(),
    required: z.boolean(),
    default: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
  })
  .meta({ id: 'WorkflowInput' });

export const workflow = z
  .object({
    project: z.string(),
    name: z.string(),
    description: z.string().optional(),
    evaluates: z
      .boolean()
      .optional()
      .meta({ description: 'It scores a run of another workflow, and is not run by itself.' }),
    evaluation: z.string().optional(),
    groups: z.array(z.string()),
    inputs: z.record(z.string(), workflowInput),
    steps: z.array(z.object({ name: z.string(), type: stepType, needs: z.array(z.string()) })),
    problems: z
      .array(z.string())
      .optional()
      .meta({ description: 'Why it cannot be run, as "stemma workflow check" says it.' }),
  })
  .meta({ id: 'Workflow', description: 'A workflow file of the server.' });
/** A workflow file, as it is listed. */
export type Workflow = z.infer<typeof workflow>;

export const workflowsQuery = z.strictObject({
  project: nameText.optional(),
  cursor: cursorText.optional(),
  limit: queryNumber(1, largestLimit).optional(),
});
/** How many runs one answer shows at most with their steps, and how many steps of each. */
export const largestMatrix = { runs: 50, steps: 200 } as const;

export const workflowRunsQuery = workflowsQuery
  .extend({
    steps: queryNumber(1, largestMatrix.steps)
      .optional()
      .meta({
        description: `How many steps of each run are shown, and of its evaluation; with it at most ${largestMatrix.runs} runs.`,
      }),
  })
  .refine(({ steps, limit = 0 }) => steps === undefined || limit <= largestMatrix.runs, {
    path: ['limit'],
    message: `must be ${largestMatrix.runs} at most with "steps"`,
  });
/** Which runs of a workflow, and whether with their steps. */
export type WorkflowRunsQuery = z.infer<typeof workflowRunsQuery>;

/** Which workflows. */
export type WorkflowsQuery = z.infer<typeof workflowsQuery>;

const inputValue = z.union([textOf(100_000), z.number(), z.boolean()]);

/** The values of inputs, by name. */
export const workflowInputs = z.record(nameText, inputValue).meta({
  description: 'The values of its inputs, by name; those that have a default may be left out.',
});

export const workflowRunBody = z
  .strictObject({
    group: nameText.optional().meta({
      description: 'One of its groups of variables. Left out, it runs for each of them, side by side.',
    }),
    inputs: workflowInputs.optional(),
    evaluation: z
      .boolean()
      .optional()
      .meta({ description: 'false: without the evaluation that it declares.' }),
    cwd: directoryPath
      .optional()
      .meta({ description: "Where its steps work. Default: its project's directory." }),
    workspace: workspaceMode.optional().meta({
      description:
        'exclusive, worktree, scratch or shared. Left out, it works in its directory and waits for nobody.',
    }),
    timeout: durationMs.optional(),
    retry: retryInput.optional(),
    budget: budget.optional(),
    file: z
      .strictObject({ path: directoryPath, text: textOf(1_000_000, 1) })
      .optional()
      .meta({
        description: 'What a workflow file says, and where it lies, instead of one that the server has.',
      }),
  })
  .meta({ id: 'WorkflowRunBody' });
/** What a run of a workflow is to be. */
export type WorkflowRunBody = z.infer<typeof workflowRunBody>;
