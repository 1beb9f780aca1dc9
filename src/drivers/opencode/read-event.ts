import { z } from 'zod';
import type { AskedSignal, AssistantSignal, OpencodeError, Signal, ToolSignal } from './signal.ts';
import { bounded } from './transcript.ts';
import {
  errorShape,
  eventShape,
  messageInfo,
  partShape,
  permissionShape,
  questionShape,
  type Recorded,
  sessionInfo,
  statusShape,
  toolState,
} from './wire.ts';

type Part = z.infer<typeof partShape>;

/** A question as opencode asks it: what must be known to answer it, besides what is shown. */
export interface AskedQuestion {
  readonly kind: 'permission' | 'question';
  /** How many answers it wants; 1 for a permission. */
  readonly count: number;
  readonly signal: AskedSignal;
  /** The call that waits for the answer. */
  readonly callMessageId?: string;
}

/**
 * What an event of the stream says; no signals: nothing that matters here. `mark`: the session's mark was changed, which
 * we do to know how far the stream was read.
 */
export type Heard = Signal[] | AskedQuestion | { readonly mark: string; readonly sessionId: string };

/** Reads an event of the stream. Throws nothing; what has not the shape it should have is told as noise. */
export function readEvent(raw: unknown): Heard {
  const event = eventShape.safeParse(raw);
  if (!event.success) return [noise('an event without a type', raw)];
  const { type, properties } = event.data;
  const reader = readers[type];
  if (!reader) return [];
  return reader(properties) ?? [noise(`${type} in a shape that is not known`, properties)];
}

const readers: Readonly<Record<string, (properties: Record<string, unknown>) => Heard | undefined>> = {
  'message.updated': ({ info }) => {
    const read = messageInfo.safeParse(info);
    return read.success ? [toMessage(read.data)] : undefined;
  },
  'message.part.updated': ({ part }) => {
    const read = partShape.safeParse(part);
    return read.success ? toPart(read.data) : undefined;
  },
  'message.removed': (properties) => {
    const read = z.object({ sessionID: z.string(), messageID: z.string() }).safeParse(properties);
    return read.success
      ? [{ type: 'removed', sessionId: read.data.sessionID, messageId: read.data.messageID }]
      : undefined;
  },
  'session.status': (properties) => {
    const read = z.object({ sessionID: z.string(), status: statusShape }).safeParse(properties);
    return read.success ? toStatus(read.data.sessionID, read.data.status) : undefined;
  },
  'session.idle': (properties) => {
    const read = z.object({ sessionID: z.string() }).safeParse(properties);
    return read.success ? [{ type: 'idle', sessionId: read.data.sessionID }] : undefined;
  },
  'session.error': (properties) => {
    const read = z
      .object({ sessionID: z.string().optional(), error: errorShape.optional() })
      .safeParse(properties);
    if (!read.success) return undefined;
    const { sessionID, error } = read.data;
    return sessionID && error ? [{ type: 'error', sessionId: sessionID, error: toError(error) }] : [];
  },
  'session.created': ({ info }) => {
    const read = sessionInfo.safeParse(info);
    return read.success ? toChild(read.data) : undefined;
  },
  'session.updated': ({ info }) => {
    const read = sessionInfo.safeParse(info);
    const mark = read.data?.metadata?.[markName];
    return typeof mark === 'string' ? { mark, sessionId: read.data?.id ?? '' } : [];
  },
  'permission.asked': (properties) => {
    const read = permissionShape.safeParse(properties);
    return read.success ? toPermission(read.data) : undefined;
  },
  'question.asked': (properties) => {
    const read = questionShape.safeParse(properties);
    return read.success ? toQuestion(read.data) : undefined;
  },
  'permission.replied': toSettled,
  'question.replied': toSettled,
  'question.rejected': toSettled,
};

// Seconds since 1970; the one header of a provider that says when a limit of hours or days ends.
const resetHeader = 'anthropic-ratelimit-unified-reset';
/** The name of our mark in a session's metadata. */
export const markName = 'stemmaMark';

/** A message of the record, as the signals that would have told of it. */
export function readRecorded({ info, parts }: Recorded): Signal[] {
  if (info.role === 'user') return [toMessage(info), ...parts.flatMap((part) => toUserPart(part))];
  const { completed, ...time } = info.time;
  const begun = toMessage({ ...info, time, finish: undefined, error: undefined });
  const whole = completed === undefined ? [] : [toMessage(info)];
  return [begun, ...parts.flatMap((part) => toPart(part, completed !== undefined)), ...whole];
}

/** A new session, when another one started it. */
export function toChild({ id, parentID, title }: z.infer<typeof sessionInfo>): Signal[] {
  return parentID === undefined
    ? []
    : [{ type: 'child', sessionId: id, parentId: parentID, title: title ?? 'sub-agent' }];
}

/** A permission that is asked for. Never offered: `always`, which would hold for the rest of the process. */
export function toPermission(asked: z.infer<typeof permissionShape>): AskedQuestion {
  const text = `${asked.permission}: ${asked.patterns.join(' ')}`;
  return {
    kind: 'permission',
    count: 1,
    signal: {
      type: 'asked',
      sessionId: asked.sessionID,
      questionId: asked.id,
      text: bounded(text, 2000),
      choices: ['once', 'reject'],
    },
    ...(asked.tool ? { callMessageId: asked.tool.messageID } : {}),
  };
}

/** Questions that the agent asks with its own tool. */
export function toQuestion(asked: z.infer<typeof questionShape>): AskedQuestion {
  const [first] = asked.questions;
  const labels = asked.questions.length === 1 ? (first?.options.map(({ label }) => label) ?? []) : [];
  const text = asked.questions.map(({ question }) => question).join('\n');
  return {
    kind: 'question',
    count: asked.questions.length,
    signal: {
      type: 'asked',
      sessionId: asked.sessionID,
      questionId: asked.id,
      text: bounded(text, 2000),
      choices: labels,
    },
    ...(asked.tool ? { callMessageId: asked.tool.messageID } : {}),
  };
}

/** What a status says; that of an idle session comes as an event of its own. */
export function toStatus(sessionId: string, { type, message, next }: z.infer<typeof statusShape>): Signal[] {
  if (type === 'idle') return [];
  if (type === 'busy') return [{ type, sessionId }];
  return [
    {
      type,
      sessionId,
      message: message ?? 'the provider is asked again',
      ...(next === undefined ? {} : { next }),
    },
  ];
}

function toSettled(properties: Record<string, unknown>): Heard | undefined {
  const read = z.object({ sessionID: z.string(), requestID: z.string() }).safeParse(properties);
  return read.success
    ? [{ type: 'settled', sessionId: read.data.sessionID, questionId: read.data.requestID }]
    : undefined;
}

function toMessage(info: z.infer<typeof messageInfo>): Signal {
  if (info.role === 'user')
    return { type: 'user', sessionId: info.sessionID, messageId: info.id, createdAt: info.time.created };
  const { tokens } = info;
  const signal: AssistantSignal = {
    type: 'assistant',
    sessionId: info.sessionID,
    messageId: info.id,
    parentId: info.parentID,
    ...(info.time.completed === undefined ? {} : { completedAt: info.time.completed }),
    ...(info.finish === undefined ? {} : { finish: info.finish }),
    ...(info.error === undefined ? {} : { error: toError(info.error) }),
    inputTokens: (tokens?.input ?? 0) + (tokens?.cache?.read ?? 0) + (tokens?.cache?.write ?? 0),
    outputTokens: (tokens?.output ?? 0) + (tokens?.reasoning ?? 0),
    usd: info.cost ?? 0,
    isSummary: info.summary === true,
  };
  return signal;
}

function toPart(part: Part, isWhole = false): Signal[] {
  const common = { sessionId: part.sessionID, messageId: part.messageID, partId: part.id };
  if (part.type === 'tool') return toTool(part, common);
  if (part.type !== 'text' && part.type !== 'reasoning') return [];
  // A part of a user has no time; one of the agent begins empty and is told again when it is whole.
  if (part.type === 'text' && part.time === undefined) return toUserPart(part);
  if (part.time?.end === undefined && !isWhole) return [];
  return [{ type: part.type, ...common, text: part.text ?? '' }];
}

function toUserPart(part: Part): Signal[] {
  const common = { sessionId: part.sessionID, messageId: part.messageID, partId: part.id };
  const isText = part.type === 'text';
  return [
    { type: 'userText', ...common, text: part.text ?? '', isSynthetic: !isText || part.synthetic === true },
  ];
}

function toTool(part: Part, common: Pick<ToolSignal, 'sessionId' | 'messageId' | 'partId'>): Signal[] {
  const read = toolState.safeParse(part.state);
  if (!read.success) return [noise('a tool call in a shape that is not known', part)];
  const { status, input, output, error, metadata } = read.data;
  return [
    {
      type: 'tool',
      ...common,
      tool: part.tool ?? 'a tool',
      status,
      input: bounded(input === undefined ? '' : JSON.stringify(input)),
      output: bounded(status === 'error' ? (error ?? '') : status === 'completed' ? (output ?? '') : ''),
      ...(metadata?.sessionId === undefined ? {} : { childId: metadata.sessionId }),
      isBackground: metadata?.background === true,
    },
  ];
}

function toError({ name, data }: z.infer<typeof errorShape>): OpencodeError {
  const status = data?.statusCode;
  const resets = Number(data?.responseHeaders?.[resetHeader]);
  return {
    name,
    message: data?.message ?? name,
    ...(status === undefined ? {} : { status }),
    ...(resets > 0 ? { resetsAt: resets * 1000 } : {}),
  };
}

/** What could not be read, and its beginning. */
export function noise(what: string, raw: unknown): Signal {
  return { type: 'noise', what: `${what}: ${bounded(JSON.stringify(raw) ?? 'nothing', 300)}` };
}
