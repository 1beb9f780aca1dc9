import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';

/*
 * What is read of Claude Code's transcript, a file of one JSON object a line, and nothing else. Proved with 2.1.332. Schemas are
 * loose about what they do not name.
 */

/** One thing that the transcript tells. */
export type Signal =
  /** A text begins a turn: a person's or ours, or, with `taskId`, the agent's own note that background work has ended. */
  | {
      readonly type: 'prompt';
      readonly promptId: string;
      readonly id: string;
      readonly text: string;
      readonly taskId?: string;
    }
  /** A text waits, because a turn runs. */
  | { readonly type: 'queued'; readonly text: string }
  /** A waiting text is taken up in the running turn. */
  | { readonly type: 'absorbed'; readonly id: string; readonly text: string }
  /** The agent's waiting note that background work has ended is taken up in the running turn. */
  | { readonly type: 'told'; readonly taskId: string }
  /** A waiting text waits no more: the oldest, or this one. It begins a turn next, or was taken back. */
  | { readonly type: 'unqueued'; readonly text?: string }
  | { readonly type: 'said'; readonly messageId: string; readonly text: string; readonly usage?: Tokens }
  | {
      readonly type: 'called';
      readonly messageId: string;
      readonly callId: string;
      readonly text: string;
      readonly usage?: Tokens;
    }
  | { readonly type: 'returned'; readonly callId: string; readonly text: string; readonly taskId?: string }
  | { readonly type: 'failed'; readonly text: string; readonly kind: 'capacity' | 'login' | 'agent' }
  | { readonly type: 'interrupted'; readonly messageId?: string }
  | { readonly type: 'ended' }
  | {
      readonly type: 'taskOver';
      readonly taskId: string;
      readonly status: 'succeeded' | 'failed' | 'cancelled';
      readonly text: string;
    };

/** What one message of the model used. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

const block = z.object({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
});
const usage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_input_tokens: z.number().optional(),
  cache_creation_input_tokens: z.number().optional(),
});
const lineSchema = z.object({
  type: z.string(),
  subtype: z.string().optional(),
  uuid: z.string().optional(),
  promptId: z.string().optional(),
  isMeta: z.boolean().optional(),
  isSidechain: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
  rowSource: z.string().optional(),
  interruptedMessageId: z.string().optional(),
  operation: z.string().optional(),
  reason: z.string().optional(),
  content: z.unknown().optional(),
  commandUuid: z.string().optional(),
  isApiErrorMessage: z.boolean().optional(),
  error: z.unknown().optional(),
  apiErrorStatus: z.number().optional(),
  toolUseResult: z.unknown().optional(),
  message: z
    .object({
      id: z.string().optional(),
      content: z.union([z.string(), z.array(block)]).optional(),
      usage: usage.optional(),
    })
    .optional(),
});
type Line = z.infer<typeof lineSchema>;

/** What one line tells, in order. `undefined`: it is no line of a transcript. */
export function readLine(line: string): Signal[] | undefined {
  const read = lineSchema.safeParse(parseJson(line));
  if (!read.success) return undefined;
  const { data } = read;
  if (data.isSidechain) return [];
  if (data.type === 'user') return readUser(data);
  if (data.type === 'assistant') return readAssistant(data);
  if (data.type === 'queue-operation') return readQueue(data);
  if (data.type === 'system' && data.subtype === 'turn_duration') return [{ type: 'ended' }];
  return [];
}

const interruption = /^\[Request interrupted by user/;
/** What the program itself puts into the conversation for a command that a person typed; nothing is asked of the model. */
const ofACommand = /^<(command-name|command-message|command-args|local-command|bash-(input|stdout|stderr))/;

function readUser(line: Line): Signal[] {
  const { content } = line.message ?? {};
  const blocks = typeof content === 'string' ? [] : (content ?? []);
  const text =
    typeof content === 'string'
      ? content
      : blocks
          .map((each) => each.text ?? '')
          .join('\n')
          .trim();
  if (line.rowSource === 'harness' || interruption.test(text)) {
    if (!interruption.test(text)) return [];
    const { interruptedMessageId: messageId } = line;
    return [{ type: 'interrupted', ...(messageId === undefined ? {} : { messageId }) }];
  }
  const results = blocks.filter((each) => each.type === 'tool_result');
  if (results.length > 0) return results.map((each) => returned(each, line));
  if (line.isMeta || line.isCompactSummary || line.promptId === undefined || line.uuid === undefined)
    return [];
  if (text === '' || ofACommand.test(text.trimStart())) return [];
  const task = readNotification(text);
  const { promptId, uuid: id } = line;
  return [{ type: 'prompt', promptId, id, text: unwrapped(text), ...(task ? { taskId: task.taskId } : {}) }];
}

function returned(each: z.infer<typeof block>, line: Line): Signal {
  const taskId = z.object({ backgroundTaskId: z.string() }).safeParse(line.toolUseResult)
    .data?.backgroundTaskId;
  return {
    type: 'returned',
    callId: each.tool_use_id ?? '',
    text: textOf(each.content),
    ...(taskId === undefined ? {} : { taskId }),
  };
}

function readAssistant(line: Line): Signal[] {
  const { content, id = '', usage: used } = line.message ?? {};
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  if (line.isApiErrorMessage) {
    return [{ type: 'failed', text: textOf(blocks), kind: kindOf(line) }];
  }
  const tokens = used && {
    input: used.input_tokens + (used.cache_read_input_tokens ?? 0) + (used.cache_creation_input_tokens ?? 0),
    output: used.output_tokens,
  };
  const common = { messageId: id, ...(tokens ? { usage: tokens } : {}) };
  return blocks.flatMap((each): Signal[] => {
    if (each.type === 'text') return [{ type: 'said', ...common, text: each.text ?? '' }];
    if (each.type !== 'tool_use' || !('id' in each)) return [];
    const text = `${each.name ?? 'tool'} ${JSON.stringify(each.input ?? {})}`;
    return [{ type: 'called', ...common, callId: each.id ?? '', text }];
  });
}

function kindOf({ error, apiErrorStatus }: Line): 'capacity' | 'login' | 'agent' {
  if (error === 'rate_limit' || apiErrorStatus === 429) return 'capacity';
  return error === 'authentication_failed' || apiErrorStatus === 401 ? 'login' : 'agent';
}

function readQueue(line: Line): Signal[] {
  const text = typeof line.content === 'string' ? line.content : undefined;
  if (line.operation === 'enqueue') {
    const task = readNotification(text ?? '');
    return task ? [{ type: 'taskOver', ...task }] : [{ type: 'queued', text: unwrapped(text ?? '') }];
  }
  if (line.operation === 'remove' && line.reason === 'absorbed_mid_turn' && text !== undefined) {
    const task = readNotification(text);
    if (task) return [{ type: 'told', taskId: task.taskId }];
    return [{ type: 'absorbed', id: line.commandUuid ?? text, text: unwrapped(text) }];
  }
  return [{ type: 'unqueued', ...(text === undefined ? {} : { text: unwrapped(text) }) }];
}

/** The agent's own note that background work has ended; undefined for any other text. */
export function readNotification(
  text: string,
): { taskId: string; status: 'succeeded' | 'failed' | 'cancelled'; text: string } | undefined {
  if (!text.trimStart().startsWith('<task-notification>')) return undefined;
  const field = (name: string): string | undefined =>
    new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1];
  const taskId = field('task-id');
  if (taskId === undefined) return undefined;
  const said = field('status');
  const status = said === 'completed' ? 'succeeded' : said === 'failed' ? 'failed' : 'cancelled';
  return { taskId, status, text: field('summary') ?? '' };
}

/** Longer pastes are marked as such, which says nothing about what they are. */
export function unwrapped(text: string): string {
  const pasted = /<pasted_content id="[^"]*">\n([\s\S]*?)\n?<\/pasted_content id="[^"]*">/g;
  return text.replace(pasted, '$1').replace(/\r\n?/g, '\n').trim();
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = z.array(z.object({ text: z.string().optional() })).safeParse(content);
  return parts.success ? parts.data.map((part) => part.text ?? '').join('\n') : '';
}
