import type { AnyMessage, SessionUpdate, StopReason } from '@agentclientprotocol/sdk';
import { z } from 'zod';

/*
 * The wire, read leniently: what is missed here would be an end that is never seen. The SDK's types say what may come;
 * its connection cannot be used, since it cannot join a conversation in the middle.
 */

/** A JSON-RPC id. Ours are strings made from delivery ids; the agent's own may be anything. */
export type RpcId = string | number | null;

/** A JSON-RPC error as an agent sends it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** One line of the agent's output. */
export type Message =
  | { readonly kind: 'result'; readonly id: RpcId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RpcId; readonly error: RpcError }
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'garbage'; readonly what: string };

const id = z.union([z.string(), z.number(), z.null()]);
const error = z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() });
const shapes = {
  request: z.object({ id, method: z.string(), params: z.unknown().optional() }),
  notification: z.object({ method: z.string(), params: z.unknown().optional() }),
  error: z.object({ id, error }),
  result: z.object({ id, result: z.unknown().optional() }),
};

/** Reads one line. Never throws: what is no JSON-RPC message is `garbage`. */
export function readMessage(line: string): Message {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return garbage('not JSON', line);
  }
  if (typeof json !== 'object' || json === null) return garbage('not a JSON-RPC message', line);
  const kind =
    'method' in json ? ('id' in json ? 'request' : 'notification') : 'error' in json ? 'error' : 'result';
  if (kind === 'result' && !('result' in json)) return garbage('not a JSON-RPC message', line);
  const parsed = shapes[kind].safeParse(json);
  if (!parsed.success) return garbage('not a JSON-RPC message', line);
  return { kind, ...parsed.data } as Message;
}

/** One line for the agent, without its newline. */
export function writeMessage(message: AnyMessage): string {
  return JSON.stringify(message);
}

/** What a `session/update` says, as far as anything here depends on it. */
export type Update =
  | { readonly kind: 'text' | 'thought' | 'user'; readonly text: string }
  | { readonly kind: 'toolCall' | 'toolResult'; readonly id: string; readonly text: string }
  /** The agent is at work, and there is nothing to show for it. */
  | { readonly kind: 'progress'; readonly isTool: boolean }
  /** What the conversation has cost so far, in US dollars. */
  | { readonly kind: 'cost'; readonly usd: number }
  /** About the conversation, not about work: agents send these at any time. */
  | { readonly kind: 'quiet' }
  | { readonly kind: 'unknown'; readonly what: string };

// A new kind in the SDK is an error of the compiler here, which is the moment to decide whether it shows work.
const readers: { readonly [K in SessionUpdate['sessionUpdate']]: (update: unknown) => Update } = {
  user_message_chunk: (update) => ({ kind: 'user', text: chunkText(update) }),
  agent_message_chunk: (update) => ({ kind: 'text', text: chunkText(update) }),
  agent_thought_chunk: (update) => ({ kind: 'thought', text: chunkText(update) }),
  tool_call: (update) => toolCall(update),
  tool_call_update: (update) => toolCallUpdate(update),
  plan: () => ({ kind: 'progress', isTool: false }),
  compaction_update: () => ({ kind: 'progress', isTool: false }),
  compaction_summary_chunk: () => ({ kind: 'progress', isTool: false }),
  usage_update: (update) => cost(update),
  available_commands_update: () => ({ kind: 'quiet' }),
  current_mode_update: () => ({ kind: 'quiet' }),
  config_option_update: () => ({ kind: 'quiet' }),
  session_info_update: () => ({ kind: 'quiet' }),
  notice: () => ({ kind: 'quiet' }),
};

const notification = z.object({
  sessionId: z.string(),
  update: z.object({ sessionUpdate: z.string() }).loose(),
});

/** Reads the params of a `session/update` of this session. */
export function readUpdate(params: unknown, sessionId: string): Update {
  const parsed = notification.safeParse(params);
  if (!parsed.success)
    return { kind: 'unknown', what: `a session/update of unknown shape: ${brief(JSON.stringify(params))}` };
  const { update } = parsed.data;
  if (parsed.data.sessionId !== sessionId) {
    return {
      kind: 'unknown',
      what: `a session/update of another conversation: ${brief(parsed.data.sessionId)}`,
    };
  }
  if (!Object.hasOwn(readers, update.sessionUpdate)) {
    return { kind: 'unknown', what: `a session/update of unknown kind: ${brief(update.sessionUpdate)}` };
  }
  return readers[update.sessionUpdate as SessionUpdate['sessionUpdate']](update);
}

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const chunk = z.object({ content: z.object({ type: z.string() }).loose() });

function chunkText(update: unknown): string {
  const parsed = chunk.safeParse(update);
  return parsed.success ? blockText(parsed.data.content) : '';
}

function blockText(block: { type: string }): string {
  const parsed = textBlock.safeParse(block);
  return parsed.success ? parsed.data.text : `[${block.type}]`;
}

const tool = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  status: z.string().nullish(),
  content: z.array(z.object({ type: z.string() }).loose()).nullish(),
  rawOutput: z.unknown().optional(),
});
const toolContent = z.object({ type: z.literal('content'), content: z.object({ type: z.string() }).loose() });

function toolCall(update: unknown): Update {
  const parsed = tool.safeParse(update);
  if (!parsed.success) return { kind: 'progress', isTool: true };
  return { kind: 'toolCall', id: parsed.data.toolCallId, text: parsed.data.title ?? '' };
}

function toolCallUpdate(update: unknown): Update {
  const parsed = tool.safeParse(update);
  const status = parsed.data?.status;
  if (!parsed.success || (status !== 'completed' && status !== 'failed'))
    return { kind: 'progress', isTool: true };
  const blocks = (parsed.data.content ?? []).map((block) => {
    const content = toolContent.safeParse(block);
    return content.success ? blockText(content.data.content) : `[${block.type}]`;
  });
  const raw = parsed.data.rawOutput;
  const text = blocks.length > 0 || raw === undefined ? blocks.join('\n') : JSON.stringify(raw);
  return {
    kind: 'toolResult',
    id: parsed.data.toolCallId,
    text: status === 'failed' ? `failed: ${text}` : text,
  };
}

const priced = z.object({ cost: z.object({ amount: z.number(), currency: z.literal('USD') }) });

function cost(update: unknown): Update {
  const parsed = priced.safeParse(update);
  return parsed.success ? { kind: 'cost', usd: parsed.data.cost.amount } : { kind: 'quiet' };
}

/** The answer to a prompt: its stop reason, and tokens where the agent says them (an extension that some send). */
export interface PromptResult {
  readonly stopReason: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** The stop reasons that ACP knows. */
export const stopReasons: readonly StopReason[] = [
  'end_turn',
  'max_tokens',
  'max_turn_requests',
  'refusal',
  'cancelled',
];

const promptResult = z.object({
  stopReason: z.string(),
  usage: z
    .object({ inputTokens: z.number().optional(), outputTokens: z.number().optional() })
    .nullish()
    .catch(undefined),
});

/** Reads the result of a `session/prompt`; undefined when it has no stop reason. */
export function readPromptResult(result: unknown): PromptResult | undefined {
  const parsed = promptResult.safeParse(result);
  if (!parsed.success) return undefined;
  const { inputTokens, outputTokens } = parsed.data.usage ?? {};
  return {
    stopReason: parsed.data.stopReason,
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}

/** A text short enough for a log line. */
export function brief(text: string | undefined, length = 200): string {
  const line = (text ?? '').replaceAll(/\s+/g, ' ');
  return line.length <= length ? line : `${line.slice(0, length)}… (${line.length} characters)`;
}

function garbage(why: string, line: string): Message {
  return { kind: 'garbage', what: `${why}: ${brief(line)}` };
}
