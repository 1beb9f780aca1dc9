import { z } from 'zod';
import { executionKinds, executionState, outcome, waiting } from './execution.ts';
import { instant } from './text.ts';

/** Where a session is: no process, a live process, or stopped by a person. */
const sessionStates = ['cold', 'live', 'stopped'] as const;

export const session = z
  .object({
    id: z.string(),
    project: z.string().optional(),
    agent: z.string(),
    cwd: z.string(),
    title: z.string().optional(),
    state: z.enum(sessionStates),
    turn: z
      .object({ id: z.string(), owners: z.array(z.string()) })
      .optional()
      .meta({ description: 'Who holds the lane. Absent: the session is free.' }),
    queued: z.number(),
    waiting: waiting
      .optional()
      .meta({ description: 'A usage limit or an expired sign-in: nothing is sent meanwhile.' }),
    nativeId: z.string().optional(),
    createdAt: instant,
    lastActivityAt: instant,
  })
  .meta({ id: 'Session', description: 'A durable conversation with one agent.' });
/** A durable conversation with one agent. */
export type Session = z.infer<typeof session>;

export const transcriptItem = z
  .object({
    id: z.string().meta({ description: 'The position; give it as `after` to read on.' }),
    at: instant,
    turnId: z.string().optional(),
    kind: z.enum(['text', 'thought', 'toolCall', 'toolResult', 'user']),
    text: z.string(),
  })
  .meta({ id: 'TranscriptItem' });
/** Something said or done in a session. */
export type TranscriptItem = z.infer<typeof transcriptItem>;

export const sessionMessage = z
  .object({
    executionId: z.string(),
    rootId: z.string(),
    kind: z.enum(executionKinds),
    name: z.string(),
    state: executionState,
    closed: z.boolean(),
    outcome: outcome.optional(),
    waiting: waiting.optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    createdAt: instant,
    endedAt: instant.optional(),
    text: z
      .string()
      .optional()
      .meta({ description: 'As it was sent, or will be; its beginning, where it is long.' }),
    textCut: z.boolean().optional(),
    delivery: z.enum(['queued', 'steering', 'sending', 'began', 'steered', 'joined', 'unsent']).meta({
      description:
        'queued: not sent yet; steering: on its way into the running turn, not proved; sending: its turn is beginning; began: it began a turn; steered: proved to be taken up within one; joined: its turn was already there; unsent: it ended before it was sent.',
    }),
    refused: z
      .number()
      .optional()
      .meta({ description: 'How often it could not be put into a running turn.' }),
    takenAt: instant.optional().meta({ description: 'When the agent took it up.' }),
    turnId: z.string().optional(),
  })
  .meta({
    id: 'SessionMessage',
    description: 'What a session was told, or will be: a message, a continuation; and what it did late.',
  });
/** What a session was told, or will be, and what became of that. */
export type SessionMessage = z.infer<typeof sessionMessage>;

const signIn = {
  signedIn: z.enum(['yes', 'no', 'unknown']).optional().meta({
    description:
      'Whether somebody is signed in, as far as that is seen without asking a provider; absent: it needs no sign-in.',
  }),
  signIn: z.string().optional().meta({ description: 'How to sign in.' }),
};

export const agentCheck = z
  .object({
    name: z.string(),
    found: z.boolean(),
    version: z.string().optional(),
    ...signIn,
    warnings: z.array(z.string()),
  })
  .meta({ id: 'AgentCheck', description: 'Whether the program of a profile can be started.' });
/** What a look at a profile's program found. */
export type AgentCheck = z.infer<typeof agentCheck>;

export const agentView = z
  .object({
    name: z.string(),
    driver: z.string(),
    command: z.array(z.string()),
    model: z.string().optional(),
    version: z.string().optional().meta({ description: 'The only version that may be launched.' }),
    effort: z.string().optional(),
    home: z.string().optional(),
    sandbox: z.string().optional(),
    network: z.string().optional(),
    onQuestion: z.string().optional(),
    usage: z.string().optional(),
    secrets: z
      .array(z.string())
      .optional()
      .meta({ description: 'Names of the variables that it gets by reference.' }),
    isBuiltIn: z.boolean().optional().meta({ description: 'Whether it is there without being configured.' }),
    install: z.string().optional().meta({ description: 'How to get its program: a command.' }),
    isDefault: z
      .boolean()
      .optional()
      .meta({ description: 'Whether a message that names no agent goes to it.' }),
    capabilities: z.record(z.string(), z.union([z.string(), z.boolean()])).optional(),
    declared: z
      .array(
        z.object({
          name: z.string(),
          value: z.union([z.string(), z.boolean()]),
          meaning: z.string(),
          cases: z.array(z.string()).meta({
            description: 'The cases of `stemma agent check NAME --turn` that show it; none: no case can.',
          }),
        }),
      )
      .optional()
      .meta({ description: 'The same capabilities, each with what it means and what proves it.' }),
    hasScreen: z.boolean().optional().meta({
      description: "Whether a session's terminal shows the agent's own screen.",
    }),
    check: agentCheck
      .omit({ name: true })
      .optional()
      .meta({ description: 'With ?check=true: what a look found.' }),
  })
  .meta({ id: 'AgentView', description: 'A named, complete description of an agent.' });
/** An agent profile as shown; its environment is not shown, it may hold secrets. */
export type AgentView = z.infer<typeof agentView>;
