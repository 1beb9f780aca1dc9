import { z } from 'zod';

/** The shapes of opencode 1.18.33 that this driver reads; everything else in them is left alone. */

/** An error of a message or a session. */
export const errorShape = z.object({
  name: z.string(),
  data: z
    .object({
      message: z.string().optional(),
      statusCode: z.number().optional(),
      responseHeaders: z.record(z.string(), z.string()).optional(),
      responseBody: z.string().optional(),
    })
    .optional(),
});

const userInfo = z.object({
  role: z.literal('user'),
  id: z.string(),
  sessionID: z.string(),
  time: z.object({ created: z.number() }),
});

const assistantInfo = z.object({
  role: z.literal('assistant'),
  id: z.string(),
  sessionID: z.string(),
  parentID: z.string(),
  time: z.object({ created: z.number(), completed: z.number().optional() }),
  finish: z.string().optional(),
  error: errorShape.optional(),
  cost: z.number().optional(),
  summary: z.boolean().optional(),
  tokens: z
    .object({
      input: z.number(),
      output: z.number(),
      reasoning: z.number().optional(),
      cache: z.object({ read: z.number(), write: z.number() }).optional(),
    })
    .optional(),
});

/** What is known of a message, without its parts. */
export const messageInfo = z.discriminatedUnion('role', [userInfo, assistantInfo]);

/** The state of a tool call. */
export const toolState = z.object({
  status: z.enum(['pending', 'running', 'completed', 'error']),
  input: z.unknown().optional(),
  output: z.string().optional(),
  error: z.string().optional(),
  metadata: z
    .looseObject({ sessionId: z.string().optional(), background: z.boolean().optional() })
    .optional(),
});

/** A part of a message; what else it has depends on its type. */
export const partShape = z.looseObject({
  id: z.string(),
  sessionID: z.string(),
  messageID: z.string(),
  type: z.string(),
  text: z.string().optional(),
  synthetic: z.boolean().optional(),
  time: z.object({ end: z.number().optional() }).optional(),
  tool: z.string().optional(),
  state: z.unknown().optional(),
});

/** A permission that is asked for. */
export const permissionShape = z.object({
  id: z.string(),
  sessionID: z.string(),
  permission: z.string(),
  patterns: z.array(z.string()),
  tool: z.object({ messageID: z.string(), callID: z.string() }).optional(),
});

/** Questions of the agent's own tool. */
export const questionShape = z.object({
  id: z.string(),
  sessionID: z.string(),
  questions: z.array(
    z.object({
      question: z.string(),
      options: z.array(z.object({ label: z.string() })),
      multiple: z.boolean().optional(),
    }),
  ),
  tool: z.object({ messageID: z.string(), callID: z.string() }).optional(),
});

/** What a session does. */
export const statusShape = z.object({
  type: z.enum(['idle', 'busy', 'retry']),
  message: z.string().optional(),
  next: z.number().optional(),
});

/** A session: in events, and as the answer of `POST /session` and of reading one. */
export const sessionInfo = z.object({
  id: z.string(),
  parentID: z.string().optional(),
  title: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** One event of the stream. */
export const eventShape = z.object({ type: z.string(), properties: z.looseObject({}) });

/** Answer of `GET /session/:id/message`: oldest first. */
export const messageList = z.array(z.object({ info: messageInfo, parts: z.array(partShape) }));
/** The same as it came, for whoever passes over what has no known shape. */
export const rawMessageList = z.array(z.unknown());
/** One entry, of which no part was read yet. */
export const rawMessage = z.object({ info: messageInfo, parts: z.array(z.unknown()) });
/** One entry of that list. */
export type Recorded = z.infer<typeof messageList>[number];
/** Answer of `GET /session/status`: who is not in it is idle. */
export const statusMap = z.record(z.string(), statusShape);

/** Answer of `GET /session/:id/children`. */
export const sessionList = z.array(sessionInfo);
/** Answers of `GET /permission` and `GET /question`: some are void, since opencode forgets to remove what an abort ended. */
export const permissionList = z.array(permissionShape);
export const questionList = z.array(questionShape);
/** Answer of `GET /mcp`. */
export const toolStatus = z.record(
  z.string(),
  z.object({ status: z.string(), error: z.string().optional() }),
);

/** The tool servers of the configuration that opencode has read. */
export const configuredTools = z.object({ mcp: z.record(z.string(), z.unknown()).optional() });
