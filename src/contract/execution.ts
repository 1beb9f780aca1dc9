import { z } from 'zod';
import { budget } from './budget.ts';
import { treeStep } from './step.ts';
import { instant } from './text.ts';

/** What an execution can be (the words of the glossary). */
export const executionKinds = [
  'message',
  'continuation',
  'workflow',
  'evaluation',
  'step',
  'agent',
  'review',
  'task',
  'service',
  'late',
  'outside',
] as const;

/** Where an execution is. The last four are terminal and never change. */
export const executionStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'lost'] as const;

/** How a root ended, decided when it closed. */
const outcomes = ['succeeded', 'failed', 'cancelled'] as const;

/** What a thing can wait for. */
const waitingFor = ['input', 'capacity', 'login', 'lane', 'slot', 'workspace', 'dependency'] as const;

/**
 * Which rule found the parent: the execution token of the caller (`explicit`), the running `turn` of its session, the
 * live background `task`s of that session, or nothing (`none`: a person or an API key, hence a root).
 */
const parentSources = ['explicit', 'turn', 'task', 'none'] as const;

export const executionState = z.enum(executionStates).meta({ id: 'ExecutionState' });
export const outcome = z.enum(outcomes).meta({ id: 'Outcome' });

export const waiting = z
  .object({
    for: z.enum(waitingFor),
    since: instant,
    until: instant.optional(),
    text: z
      .string()
      .optional()
      .meta({ description: 'The question, or what the agent said about the limit.' }),
    choices: z.array(z.string()).optional(),
    questionId: z.string().optional().meta({ description: 'Names the question, for its answer.' }),
  })
  .meta({
    id: 'Waiting',
    description: 'What a thing waits for, since when, and until when if that is known.',
  });
export type Waiting = z.infer<typeof waiting>;

export const usage = z
  .object({
    inputTokens: z.number().optional(),
    outputTokens: z.number().optional(),
    usd: z.number().optional(),
  })
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof usage>;

export const execution = z
  .object({
    id: z.string(),
    rootId: z.string(),
    parentId: z.string().nullable().meta({ description: 'null for a root.' }),
    parentSource: z.enum(parentSources),
    runsIn: z.string().optional().meta({ description: 'The session that it runs in.' }),
    reportsTo: z.object({ sessionId: z.string(), mode: z.enum(['each', 'batch', 'none']) }).optional(),
    kind: z.enum(executionKinds),
    name: z.string(),
    key: z.string().optional(),
    attempt: z.number(),
    state: executionState,
    waiting: waiting.optional(),
    open: z.number().meta({ description: 'The deficit: how much below it is not closed.' }),
    closed: z.boolean(),
    outcome: outcome.optional(),
    outcomeCode: z.string().optional(),
    correlationId: z.string().optional(),
    cancelledBy: z.string().optional().meta({ description: 'The session whose stop ends it.' }),
    runId: z.string().optional().meta({ description: 'The run that sent it.' }),
    runIndex: z.number().optional().meta({ description: 'Its place in the run.' }),
    deadlineAt: instant.optional().meta({ description: 'When its time is up, as its clock runs now.' }),
    createdAt: instant,
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    closedAt: instant.optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    result: z.string().optional(),
    resultCut: z
      .boolean()
      .optional()
      .meta({ description: 'Of a brief tree: this is its beginning; GET /executions/:id has all of it.' }),
    cancelReason: z
      .string()
      .optional()
      .meta({ description: 'Why it was asked to stop, where whoever asked said so.' }),
    usage: usage.optional().meta({
      description: 'What its own turn used. It grows while the turn runs, if the agent tells it then.',
    }),
    spent: usage.optional().meta({
      description:
        'Of a root, a workflow, a step, or a message with a budget: what was used at and below it, background agents included.',
    }),
    budget: budget.optional(),
  })
  .meta({ id: 'Execution', description: 'A node of the tree.' });
/** A node of the tree, as the wire shows it. */
export type Execution = z.infer<typeof execution>;

export const notice = z
  .object({
    id: z.string(),
    executionId: z.string(),
    attempt: z.number(),
    sessionId: z.string(),
    state: z.enum(['owed', 'claimed', 'handed', 'handled', 'waived']),
    continuationId: z.string().optional(),
    reason: z.string().optional(),
    actor: z.string().optional(),
    owedAt: instant,
    handedAt: instant.optional(),
    handledAt: instant.optional(),
  })
  .meta({ id: 'Notice', description: 'A result owed to the session it reports to.' });
/** A finished execution's result, owed to a session. */
export type Notice = z.infer<typeof notice>;

const holding = z
  .object({
    executionId: z.string().optional(),
    noticeId: z.string().optional(),
    name: z.string().optional().meta({ description: 'The name of the execution, for people.' }),
    why: z.string().meta({
      description:
        'running, queued, starting, waiting, cancelling, check_pending, notice_owed, notice_backing_off, steer_unresolved, shared_turn, unkillable, …',
    }),
    since: instant,
    evidence: z.string(),
    until: instant.optional(),
  })
  .meta({ id: 'Holding', description: 'One thing that keeps a root open: names an execution or a notice.' });
/** One thing that keeps a root open. */
export type Holding = z.infer<typeof holding>;

export const treeView = z
  .object({
    root: z.string(),
    closed: z.boolean(),
    outcome: outcome.optional(),
    outcomeCode: z.string().optional(),
    executions: z.array(execution),
    notices: z.array(notice),
    holding: z.array(holding),
    isCut: z
      .boolean()
      .optional()
      .meta({ description: 'There are more than 10,000 executions: the newest are not here.' }),
    steps: z.array(treeStep).optional().meta({
      description:
        'Of its workflows: the steps that wait, that are tried again later, and that were skipped. What runs or ran is an execution.',
    }),
    unseen: z.array(z.string()).optional().meta({
      description:
        'Agents of the tree that do not tell what they leave running in the background: it is no part of the tree, and does not hold it.',
    }),
  })
  .meta({ id: 'TreeView', description: 'A whole tree, in one consistent read.' });
/** A whole tree, in one consistent read. */
export type TreeView = z.infer<typeof treeView>;

export const waitAnswer = z
  .object({
    closed: z.boolean(),
    outcome: outcome.optional(),
    outcomeCode: z.string().optional(),
    holding: z.array(holding).optional(),
  })
  .meta({ id: 'WaitAnswer', description: 'Closed, or what still holds it when the time was up.' });
/** Closed, or what still holds it. */
export type WaitAnswer = z.infer<typeof waitAnswer>;

export const monitorRow = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(executionKinds),
    project: z.string().optional(),
    runId: z.string().optional().meta({ description: 'The run that sent it.' }),
    schedule: z.string().optional().meta({ description: 'project/name, where a schedule began its run.' }),
    labels: z.array(z.string()).optional().meta({ description: 'Those of its schedule.' }),
    sessionId: z.string().optional(),
    agent: z.string().optional(),
    state: executionState,
    createdAt: instant,
    ageMs: z.number(),
    open: z.object({ executions: z.number(), notices: z.number() }),
    holding: z.array(holding),
    waiting: waiting.optional(),
    costUsd: z.number().optional().meta({ description: 'The same as spent.usd.' }),
    spent: usage.optional().meta({ description: 'What was used at and below it.' }),
    budget: budget.optional(),
    activity: z.array(z.number()).optional().meta({
      description:
        'Events of its tree in each of the last 30 minutes, the present one last; what was before the server started is not counted.',
    }),
  })
  .meta({ id: 'MonitorRow', description: 'A live root.' });
/** A live root, with what holds it. */
export type MonitorRow = z.infer<typeof monitorRow>;
