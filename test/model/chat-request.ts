import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ConversationItem, type ModelRequest, type OfferedTool, userTexts } from './model-request.ts';
import type { Arrived } from './wire.ts';

const text = z.string().catch('');
const parts = z.union([
  z.string(),
  z.array(z.object({ text }).catch({ text: '' })).transform((list) => list.map((p) => p.text).join('\n')),
]);
const content = parts.catch('');

const message = z.object({
  role: text,
  content,
  tool_call_id: text,
  tool_calls: z
    .array(z.object({ id: text, function: z.object({ name: text, arguments: text }) }))
    .catch(() => []),
});

const tool = z.object({
  function: z.object({
    name: z.string(),
    parameters: z
      .object({ properties: z.record(z.string(), z.unknown()).catch({}) })
      .catch({ properties: {} }),
  }),
});

const chatBody = z.object({
  model: text,
  stream: z.boolean().catch(false),
  prompt_cache_key: z.string().optional().catch(undefined),
  user: z.string().optional().catch(undefined),
  messages: z.array(message).catch(() => []),
  tools: z.array(tool).catch(() => []),
});

/** What the wire must know of a request besides what it says. */
export interface ChatDetails {
  readonly stream: boolean;
  /** The arguments that each offered tool takes, by its name. */
  readonly argumentsOf: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What is remembered of a conversation between its requests. */
interface Memory {
  /** How many user texts its newest request had. */
  readonly texts: number;
  /** The index of the first user text of the running turn. */
  readonly first: number;
  /** Whether the answer to its newest request broke off. */
  broken: boolean;
}

/** Reads bodies of `POST /v1/chat/completions`. One reader serves one server. */
export class ChatReader {
  readonly #memories = new Map<string, Memory>();
  readonly #details = new WeakMap<ModelRequest, ChatDetails>();

  read(arrived: Arrived): ModelRequest {
    const body = chatBody.parse(arrived.body);
    const threadId = threadOf(arrived.headers) ?? body.prompt_cache_key ?? body.user;
    const conversation = body.messages.flatMap(readMessage);
    const tools = body.tools.map((one): OfferedTool => ({ name: one.function.name }));
    const isAside = tools.length === 0 && isHousekeeping(conversation);
    const turnId = isAside ? `aside-${arrived.number}` : this.#turnOf(threadId, conversation);
    const request: ModelRequest = {
      number: arrived.number,
      receivedAt: arrived.receivedAt,
      model: body.model,
      ...(threadId === undefined ? {} : { threadId }),
      turnId,
      requestOfTurn: arrived.requestOfTurn(turnId),
      conversation,
      tools,
      ...(isAside ? { isAside } : {}),
    };
    const argumentsOf = new Map(
      body.tools.map((one) => [one.function.name, new Set(Object.keys(one.function.parameters.properties))]),
    );
    this.#details.set(request, { stream: body.stream, argumentsOf });
    return request;
  }

  detailsOf(request: ModelRequest): ChatDetails {
    return this.#details.get(request) ?? { stream: true, argumentsOf: new Map() };
  }

  /** An answer broke off: a text that comes with the next request then belongs to the next turn. */
  brokeOff(request: ModelRequest): void {
    const memory = request.threadId === undefined ? undefined : this.#memories.get(request.threadId);
    if (memory && !request.isAside) memory.broken = true;
  }

  // This wire names no turns. A turn begins with the first text after a finished answer, or, since agents leave answers
  // that broke off out of their histories, with the first text after one of those.
  #turnOf(threadId: string | undefined, conversation: readonly ConversationItem[]): string {
    const texts = userTexts({ conversation });
    const memory = threadId === undefined ? undefined : this.#memories.get(threadId);
    const begun = memory?.broken && texts.length > memory.texts ? memory.texts : (memory?.first ?? 0);
    const first = Math.max(firstAfterAnswer(conversation), begun < texts.length ? begun : 0);
    if (threadId !== undefined) {
      this.#memories.set(threadId, { texts: texts.length, first, broken: false });
    }
    const digest = createHash('sha256')
      .update(texts.slice(0, first + 1).join('\0'))
      .digest('hex');
    return `${threadId ?? 'chat'}/${first}/${digest.slice(0, 12)}`;
  }
}

function threadOf(headers: Arrived['headers']): string | undefined {
  return headers['x-session-id'] ?? headers['x-session-affinity'];
}

function firstAfterAnswer(conversation: readonly ConversationItem[]): number {
  let count = 0;
  let first = 0;
  for (const [index, item] of conversation.entries()) {
    if (item.kind === 'user') count++;
    // Text that goes with tool calls is no end of a turn.
    if (item.kind === 'agent' && conversation[index + 1]?.kind !== 'call') first = count;
  }
  return Math.min(first, Math.max(count - 1, 0));
}

function readMessage(raw: z.infer<typeof message>): ConversationItem[] {
  if (raw.role === 'tool') return [{ kind: 'result', callId: raw.tool_call_id, text: raw.content }];
  if (raw.role === 'user') {
    return [{ kind: isAgentsOwnNote(raw.content) ? 'context' : 'user', text: raw.content }];
  }
  if (raw.role !== 'assistant') return [{ kind: 'context', text: raw.content }];
  const said: ConversationItem[] = raw.content === '' ? [] : [{ kind: 'agent', text: raw.content }];
  const calls = raw.tool_calls.map(
    (call): ConversationItem => ({
      kind: 'call',
      callId: call.id,
      name: call.function.name,
      args: call.function.arguments,
    }),
  );
  return [...said, ...calls];
}

// Agents wrap what they say in the user's name in a tag.
function isAgentsOwnNote(said: string): boolean {
  return /^\s*<[a-z_-]+>/.test(said);
}

// Titles and summaries: the agent asks for them beside its turns, and they quote the user's texts.
function isHousekeeping(conversation: readonly ConversationItem[]): boolean {
  return conversation.some((item) => item.kind === 'context' && /\b(title|summar)/i.test(item.text));
}
