/**
 * A request of an agent to its model, in words of our own: who said what in which order, and which tools are offered.
 * The OpenAI Responses wire, which Codex speaks, is read here; the others beside their wires.
 */
export interface ModelRequest {
  /** 1 for the first request that the server got. */
  readonly number: number;
  /** UTC milliseconds. */
  readonly receivedAt: number;
  readonly model: string;
  /** The agent's own ids of the conversation and the turn, if it sends them. */
  readonly threadId?: string;
  readonly turnId?: string;
  /** 0 for the first request of this turn. */
  readonly requestOfTurn: number;
  readonly conversation: readonly ConversationItem[];
  readonly tools: readonly OfferedTool[];
  /** Asked beside the turns, for a title or a summary: answered with a fixed text, neither scripted nor logged. */
  readonly isAside?: true;
}

/** One entry of the history that the agent sends along, oldest first. */
export type ConversationItem =
  | { readonly kind: 'user'; readonly text: string }
  /** Written by the agent program in the user's name: its surroundings, instructions, a note that a turn was aborted. */
  | { readonly kind: 'context'; readonly text: string }
  | { readonly kind: 'agent'; readonly text: string }
  | { readonly kind: 'call'; readonly callId: string; readonly name: string; readonly args: string }
  | { readonly kind: 'result'; readonly callId: string; readonly text: string };

/** A tool as it must be named in a call. */
export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string;
}

/** What people and Stemma said, oldest first, without what the agent program adds by itself. */
export function userTexts(request: Pick<ModelRequest, 'conversation'>): string[] {
  return request.conversation.flatMap((item) => (item.kind === 'user' ? [item.text] : []));
}

/** The results of tool calls in the history, oldest first. */
export function toolResults(request: Pick<ModelRequest, 'conversation'>): string[] {
  return request.conversation.flatMap((item) => (item.kind === 'result' ? [item.text] : []));
}

type Json = Readonly<Record<string, unknown>>;

/** Reads a body of `POST /v1/responses`. Unknown kinds of entries are left out. */
export function readResponsesBody(
  body: Json,
  about: {
    readonly number: number;
    readonly receivedAt: number;
    readonly requestOfTurn: (turnId: string) => number;
  },
): ModelRequest {
  const metadata = asObject(body['client_metadata']);
  const threadId = asText(metadata['thread_id']) ?? asText(body['prompt_cache_key']);
  const turnId = asText(metadata['turn_id']);
  return {
    number: about.number,
    receivedAt: about.receivedAt,
    model: asText(body['model']) ?? '',
    ...(threadId === undefined ? {} : { threadId }),
    ...(turnId === undefined ? {} : { turnId }),
    requestOfTurn: about.requestOfTurn(turnId ?? threadId ?? ''),
    conversation: asList(body['input']).flatMap(readItem),
    tools: asList(body['tools']).flatMap(readTool),
  };
}

function readItem(raw: unknown): ConversationItem[] {
  const item = asObject(raw);
  const type = asText(item['type']) ?? 'message';
  if (type.endsWith('_call_output')) {
    return [{ kind: 'result', callId: asText(item['call_id']) ?? '', text: plainText(item['output']) }];
  }
  if (type.endsWith('_call')) {
    const args = asText(item['arguments']) ?? asText(item['input']) ?? '';
    return [
      { kind: 'call', callId: asText(item['call_id']) ?? '', name: asText(item['name']) ?? type, args },
    ];
  }
  if (type !== 'message') return [];
  const text = plainText(item['content']);
  if (item['role'] === 'assistant') return [{ kind: 'agent', text }];
  if (item['role'] !== 'user' || isAgentsOwnNote(text)) return [{ kind: 'context', text }];
  return [{ kind: 'user', text }];
}

// Codex wraps everything that it says in the user's name in a tag, and project instructions in a heading.
function isAgentsOwnNote(text: string): boolean {
  return /^\s*(<[a-z_]+>|# AGENTS\.md instructions)/.test(text);
}

function readTool(raw: unknown): OfferedTool[] {
  const tool = asObject(raw);
  const name = asText(tool['name']);
  if (name === undefined) return [];
  if (tool['type'] !== 'namespace') return [{ name }];
  return asList(tool['tools']).flatMap((inner) => {
    const innerName = asText(asObject(inner)['name']);
    return innerName === undefined ? [] : [{ name: innerName, namespace: name }];
  });
}

function plainText(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => asText(asObject(part)['text']) ?? '')
    .filter((text) => text !== '')
    .join('\n');
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
