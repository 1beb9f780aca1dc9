import { z } from 'zod';
import { execution, executionKinds, monitorRow } from './execution.ts';
import { cursorText, queryNumber } from './page.ts';
import { scopes } from './route-spec.ts';
import { messageOptions } from './sequence.ts';
import { directoryPath, instant, longText, nameText, textOf } from './text.ts';

export const queryBody = z
  .strictObject({
    message: longText,
    sessionId: nameText.optional(),
    agent: nameText.optional(),
    cwd: directoryPath.optional(),
    title: nameText.optional(),
    whenBusy: z.enum(['queue', 'steer', 'reject']).optional(),
    join: messageOptions.shape.join,
    timeout: messageOptions.shape.timeout,
    background: messageOptions.shape.background,
    budget: messageOptions.shape.budget,
  })
  .meta({ id: 'QueryBody' });
/** A message for a session, new or existing; `timeout` in milliseconds. */
export type QueryBody = z.infer<typeof queryBody>;

export const queryAnswer = z
  .object({
    queryId: z.string(),
    sessionId: z.string(),
    agent: z.string().optional().meta({ description: 'The agent of the session.' }),
    disposition: z.enum(['started', 'queued', 'steering']),
  })
  .meta({ id: 'QueryAnswer' });
export type QueryAnswer = z.infer<typeof queryAnswer>;

// Messages, continuations and late activity are made by Stemma alone: from outside they would be forged.
const outsideKinds = z
  .enum(executionKinds)
  .exclude(['message', 'continuation', 'late', 'task'])
  .default('outside');

export const registerBody = z
  .strictObject({
    kind: outsideKinds,
    name: nameText,
    key: nameText.optional(),
    attempt: z.int().min(1).max(1_000_000).optional(),
    correlationId: nameText.optional(),
  })
  .meta({ id: 'RegisterBody' });
/** A child of the execution that the token names; with an API token, a root of its own. */
export type RegisterBody = z.infer<typeof registerBody>;

export const registerAnswer = execution
  .extend({
    token: z.string().optional().meta({
      description: 'The execution token of what was registered; give it to the work as STEMMA_TOKEN.',
    }),
  })
  .meta({ id: 'RegisterAnswer' });
/** What was registered, and the token with which it registers children of its own. */
export type RegisterAnswer = z.infer<typeof registerAnswer>;

const resultText = z
  .json()
  .transform((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  .pipe(textOf(1_000_000))
  .meta({ description: 'The result: a text, or JSON that is kept as text.' });

export const settleBody = z
  .strictObject({
    state: z.enum(['succeeded', 'failed', 'cancelled']),
    result: resultText.optional(),
    error: z
      .union([textOf(100_000), z.strictObject({ code: nameText.optional(), message: textOf(100_000) })])
      .transform((error) => (typeof error === 'string' ? { message: error } : error))
      .optional(),
  })
  .meta({ id: 'SettleBody' });
export type SettleBody = z.infer<typeof settleBody>;

export const heartbeatBody = z.strictObject({ note: textOf(1_000).optional() }).meta({ id: 'HeartbeatBody' });
export type HeartbeatBody = z.infer<typeof heartbeatBody>;

export const heartbeatAnswer = z
  .object({ state: z.string(), closed: z.boolean(), cancelRequested: z.boolean() })
  .meta({ id: 'HeartbeatAnswer', description: '`cancelRequested`: stop the work and settle as cancelled.' });
export type HeartbeatAnswer = z.infer<typeof heartbeatAnswer>;

export const cancelBody = z
  .strictObject({ scope: z.enum(['execution', 'tree']).default('tree'), reason: textOf(2_000).optional() })
  .meta({ id: 'CancelBody' });
export type CancelBody = z.infer<typeof cancelBody>;

export const answerBody = z
  .strictObject({
    choice: textOf(10_000, 1).optional().meta({ description: 'One of the choices that it shows.' }),
    text: textOf(100_000, 1).optional().meta({ description: 'Where no choices are offered.' }),
    questionId: textOf(1_000, 1).optional().meta({
      description: 'Which question is meant, as `waiting` shows it: refused when another one is open.',
    }),
  })
  .refine((body) => (body.choice === undefined) !== (body.text === undefined), 'needs either choice or text')
  .meta({
    id: 'AnswerBody',
    description: 'For a usage limit or a sign-in the choices are `resume` and `giveUp`.',
  });
export type AnswerBody = z.infer<typeof answerBody>;

export const treeQuery = z.strictObject({
  brief: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Of each result and error only its beginning.' }),
});

export const reasonBody = z.strictObject({ reason: textOf(2_000, 1) }).meta({ id: 'ReasonBody' });
export const optionalReasonBody = z
  .strictObject({ reason: textOf(2_000).optional() })
  .meta({ id: 'OptionalReasonBody' });

export const sessionBody = z
  .strictObject({
    agent: nameText.optional(),
    cwd: directoryPath.optional(),
    title: nameText.optional(),
    project: nameText.optional(),
  })
  .meta({ id: 'SessionBody' });
export type SessionBody = z.infer<typeof sessionBody>;

export const capacityBody = z
  .strictObject({ action: z.enum(['resume', 'giveUp']) })
  .meta({ id: 'CapacityBody' });
export type CapacityBody = z.infer<typeof capacityBody>;

/** The longest that one wait call may last, in milliseconds; call again after it. */
const longestWaitMs = 86_400_000;
/** How long a wait lasts if the caller does not say, in milliseconds. */
export const defaultWaitMs = 30_000;

export const waitQuery = z.strictObject({ timeoutMs: queryNumber(0, longestWaitMs).optional() });
export const transcriptQuery = z
  .strictObject({
    after: cursorText.optional(),
    before: cursorText.optional().meta({
      description: 'The items before this one instead, the last of them; `end`: the last of all.',
    }),
    limit: queryNumber(1, 500).optional(),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, 'takes either after or before');
export const messagesQuery = z.strictObject({
  cursor: cursorText.optional(),
  limit: queryNumber(1, 100).optional(),
});
export const agentsQuery = z.strictObject({
  check: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Looks at every program, side by side; takes twelve seconds at most.' }),
});
export const eventsQuery = z.strictObject({
  root: nameText.optional(),
  session: nameText.optional(),
  after: cursorText.optional(),
});

export const runAnswer = z.object({ runId: z.string() }).meta({ id: 'RunAnswer' });
export type RunAnswer = z.infer<typeof runAnswer>;

export const monitorAnswer = z
  .object({
    items: z.array(monitorRow),
    nextCursor: z.string().optional(),
    eventCursor: z.string().meta({ description: 'Follow /events after this id: nothing is missed.' }),
  })
  .meta({ id: 'MonitorAnswer' });
/** The live roots, and the place on the event stream from which to follow them. */
export type MonitorAnswer = z.infer<typeof monitorAnswer>;

export const signInBody = z
  .strictObject({
    scope: z.enum(scopes).default('admin').meta({ description: 'What the browser may do; read: look only.' }),
  })
  .meta({ id: 'SignInBody' });
export const signInAnswer = z.object({ url: z.string(), expiresAt: instant }).meta({ id: 'SignInAnswer' });
export type SignInAnswer = z.infer<typeof signInAnswer>;

export const meAnswer = z
  .object({ name: z.string(), scope: z.enum(scopes) })
  .meta({ id: 'MeAnswer', description: 'Who calls, and what that one may do.' });
/** Who calls, and what that one may do. */
export type MeAnswer = z.infer<typeof meAnswer>;

export const versionAnswer = z
  .object({
    name: z.literal('stemma'),
    version: z.string(),
    configFile: z
      .string()
      .optional()
      .meta({ description: 'The configuration that the server was started with.' }),
  })
  .meta({ id: 'VersionAnswer' });
export type VersionAnswer = z.infer<typeof versionAnswer>;
