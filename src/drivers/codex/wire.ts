import { z } from 'zod';

/*
 * What is read from Codex, and nothing else. Schemas are loose about what they do not name, because the protocol grows
 * with every version, and strict about what a decision hangs on.
 */

const itemSchema = z.object({
  type: z.string(),
  id: z.string(),
  clientId: z.string().nullish(),
  content: z.unknown().optional(),
  text: z.string().nullish(),
  phase: z.string().nullish(),
  summary: z.array(z.string()).nullish(),
  command: z.string().nullish(),
  status: z.string().nullish(),
  exitCode: z.number().nullish(),
  aggregatedOutput: z.string().nullish(),
  server: z.string().nullish(),
  tool: z.string().nullish(),
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  query: z.string().nullish(),
  changes: z.array(z.object({ path: z.string() })).nullish(),
  prompt: z.string().nullish(),
  receiverThreadIds: z.array(z.string()).nullish(),
});

/** A piece of a turn: a text of the user or the agent, a command, a tool call, a change of files, a sub-agent's launch. */
export type CodexItem = z.infer<typeof itemSchema>;

const errorSchema = z.object({ message: z.string(), codexErrorInfo: z.unknown().optional() });

/** Why a turn failed, in Codex's words. */
export type CodexError = z.infer<typeof errorSchema>;

const turnStatus = z.enum(['completed', 'interrupted', 'failed', 'inProgress']);
const turnSchema = z.object({
  id: z.string(),
  rootTurnId: z.string().nullish(),
  status: turnStatus,
  error: errorSchema.nullish(),
  completedAt: z.number().nullish(),
});

/** A turn as Codex lists it. An `interrupted` one without `completedAt` was cut off by the death of its process. */
export type CodexTurn = z.infer<typeof turnSchema>;

const tokens = z.object({ inputTokens: z.number(), outputTokens: z.number() });
const limitWindow = z.object({ usedPercent: z.number(), resetsAt: z.number().nullish() }).nullish();

/** One thing that happened in a thread, as it is told to the reducer, live or from the record. */
export type Signal =
  | {
      readonly type: 'turnStarted';
      readonly threadId: string;
      readonly turnId: string;
      readonly rootTurnId?: string;
    }
  | {
      readonly type: 'itemStarted' | 'itemCompleted';
      readonly threadId: string;
      readonly turnId: string;
      readonly item: CodexItem;
    }
  | {
      readonly type: 'turnCompleted';
      readonly threadId: string;
      readonly turnId: string;
      /** `died`: the process ended before the turn did. */
      readonly status: 'completed' | 'interrupted' | 'failed' | 'died';
      readonly error?: CodexError;
    }
  | {
      readonly type: 'turnError';
      readonly threadId: string;
      readonly turnId: string;
      readonly error: CodexError;
      readonly willRetry: boolean;
    }
  | {
      readonly type: 'usage';
      readonly threadId: string;
      readonly turnId: string;
      readonly total: z.infer<typeof tokens>;
      readonly last: z.infer<typeof tokens>;
    }
  /** A command that runs and was not heard of before: found when looking, after something was missed. */
  | {
      readonly type: 'commandFound';
      readonly threadId: string;
      readonly turnId: string;
      readonly itemId: string;
      readonly command: string;
    }
  /** The account's limits; without `resetsAt` (UTC milliseconds) nothing is used up. */
  | { readonly type: 'limits'; readonly resetsAt?: number }
  /** The settings of the thread have changed: everything that was submitted to it before has begun. */
  | { readonly type: 'settings'; readonly threadId: string; readonly disabledPlugins: readonly string[] }
  /** The thread's own word for idle. It decides nothing: it only makes us look where an end is missing. */
  | { readonly type: 'idle'; readonly threadId: string }
  | { readonly type: 'requestResolved'; readonly threadId: string; readonly requestId: string | number };

const inTurn = { threadId: z.string(), turnId: z.string() };
const itemParams = z.object({ ...inTurn, item: itemSchema });
const turnParams = z.object({ threadId: z.string(), turn: turnSchema });

const readers: Readonly<Record<string, (params: unknown) => Signal | undefined>> = {
  'turn/started': (params) => {
    const { threadId, turn } = turnParams.parse(params);
    return started(threadId, turn);
  },
  'turn/completed': (params) => {
    const { threadId, turn } = turnParams.parse(params);
    return completed(threadId, turn);
  },
  'item/started': (params) => ({ type: 'itemStarted', ...itemParams.parse(params) }),
  'item/completed': (params) => ({ type: 'itemCompleted', ...itemParams.parse(params) }),
  error: (params) => ({
    type: 'turnError',
    ...z.object({ ...inTurn, error: errorSchema, willRetry: z.boolean() }).parse(params),
  }),
  'thread/tokenUsage/updated': (params) => {
    const schema = z.object({ ...inTurn, tokenUsage: z.object({ total: tokens, last: tokens }) });
    const { tokenUsage, ...turn } = schema.parse(params);
    return { type: 'usage', ...turn, ...tokenUsage };
  },
  'account/rateLimits/updated': readLimits,
  'thread/status/changed': (params) => {
    const read = z.object({ threadId: z.string(), status: z.object({ type: z.string() }) }).parse(params);
    return read.status.type === 'active' ? undefined : { type: 'idle', threadId: read.threadId };
  },
  'thread/settings/updated': (params) => {
    const plugins = z.object({ disabledPluginIds: z.array(z.string()).nullish() });
    const read = z.object({ threadId: z.string(), threadSettings: plugins }).parse(params);
    return {
      type: 'settings',
      threadId: read.threadId,
      disabledPlugins: read.threadSettings.disabledPluginIds ?? [],
    };
  },
  'serverRequest/resolved': (params) => ({
    type: 'requestResolved',
    ...z.object({ threadId: z.string(), requestId: z.union([z.string(), z.number()]) }).parse(params),
  }),
};

/** What a notification says. Undefined: nothing that matters here. Throws a ZodError when it has the wrong shape. */
export function readNotification(method: string, params: unknown): Signal | undefined {
  return readers[method]?.(params);
}

/** The start of a turn that the record or a notification names. */
export function started(threadId: string, turn: CodexTurn): Signal {
  const root = turn.rootTurnId;
  return { type: 'turnStarted', threadId, turnId: turn.id, ...(root == null ? {} : { rootTurnId: root }) };
}

/** The end of a turn that the record or a notification names; undefined while it runs. */
export function completed(
  threadId: string,
  turn: CodexTurn,
): Extract<Signal, { type: 'turnCompleted' }> | undefined {
  if (turn.status === 'inProgress') return undefined;
  const isCutOff = turn.status === 'interrupted' && turn.completedAt == null;
  return {
    type: 'turnCompleted',
    threadId,
    turnId: turn.id,
    status: isCutOff ? 'died' : turn.status,
    ...(turn.error == null ? {} : { error: turn.error }),
  };
}

function readLimits(params: unknown): Signal {
  const schema = z.object({ rateLimits: z.object({ primary: limitWindow, secondary: limitWindow }) });
  const { primary, secondary } = schema.parse(params).rateLimits;
  const resets = [primary, secondary].flatMap((w) =>
    w && w.usedPercent >= 100 && w.resetsAt ? [w.resetsAt * 1000] : [],
  );
  return resets.length === 0 ? { type: 'limits' } : { type: 'limits', resetsAt: Math.max(...resets) };
}

/** A page of `thread/turns/list`. */
export const turnsPage = z.object({ data: z.array(turnSchema), nextCursor: z.string().nullish() });
const itemEntry = z.object({
  turnId: z.string(),
  item: itemSchema,
  startedAtMs: z.number().nullish(),
  completedAtMs: z.number().nullish(),
});
/** A page of `thread/items/list` or `thread/items/read`. */
export const itemsPage = z.object({ data: z.array(itemEntry), nextCursor: z.string().nullish() });
/** An item of the record, with its times in UTC milliseconds where Codex kept them. */
export type ItemEntry = z.infer<typeof itemEntry>;
/** A page of `thread/backgroundTerminals/list`. */
export const terminalsPage = z.object({
  data: z.array(z.object({ itemId: z.string(), command: z.string() })),
  nextCursor: z.string().nullish(),
});
/** A page of `thread/queue/list`. */
export const queuePage = z.object({
  data: z.array(z.object({ id: z.string(), clientUserMessageId: z.string().nullish() })),
});
/** `thread/loaded/list`. */
export const loadedList = z.object({ data: z.array(z.string()) });
/** The answers of `thread/start`, `thread/resume` and `thread/read`. */
export const threadAnswer = z.object({
  thread: z.object({ id: z.string(), path: z.string().nullish(), status: z.object({ type: z.string() }) }),
  disabledPluginIds: z.array(z.string()).nullish(),
});
/** The answer of `turn/start`. */
export const turnStartAnswer = z.object({ turn: z.object({ id: z.string() }) });
/** The answer of `server/diagnostics`. */
export const diagnosticsAnswer = z.object({ process: z.object({ id: z.number() }) });
/** The part of `config/read` that says which names of MCP servers are taken. */
export const configAnswer = z.object({
  config: z.object({ mcp_servers: z.record(z.string(), z.unknown()).nullish() }),
});

/** The text of a user's message. */
export function userText(item: CodexItem): string {
  const parts = z.array(z.object({ text: z.string().optional() })).safeParse(item.content);
  return parts.success ? parts.data.map((part) => part.text ?? '').join('\n') : '';
}
