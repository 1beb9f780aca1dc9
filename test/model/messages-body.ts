import { createHash } from 'node:crypto';
import type { ConversationItem, ModelRequest } from './model-request.ts';
import type { Arrived } from './wire.ts';

type Json = Readonly<Record<string, unknown>>;

/** Notes that Claude Code writes in the user's name: its surroundings, what it noticed, that a turn was aborted. */
const interrupted = /^\s*\[Request interrupted by user/;
const ownNote = /^\s*<(system-reminder|local-command-stdout|command-name|task-notification)>/;

/** Under these words Claude Code hands over a text that was sent while it worked. */
const steered =
  /^The user sent a new message while you were working:\n([\s\S]*?)(?:\n\nThis is how Claude Code|$)/;

/**
 * Reads a body of `POST /v1/messages`. The protocol names no turn, so one is made from the history: it began with the
 * newest user text that did not come together with a tool's result. Sub-agents are threads of their own.
 */
export function readMessagesBody({ body, headers, ...about }: Omit<Arrived, 'path'>): ModelRequest {
  const conversation = asList(body['messages']).flatMap(readMessage);
  const threadId = threadOf(body, headers);
  const turnId = `${threadId}#${turnName(conversation)}`;
  return {
    number: about.number,
    receivedAt: about.receivedAt,
    model: asText(body['model']) ?? '',
    threadId,
    turnId,
    requestOfTurn: about.requestOfTurn(turnId),
    conversation,
    tools: asList(body['tools']).flatMap((tool) => {
      const name = asText(asObject(tool)['name']);
      return name === undefined ? [] : [{ name }];
    }),
  };
}

function threadOf(body: Json, headers: Arrived['headers']): string {
  const userId = asText(asObject(body['metadata'])['user_id']) ?? '';
  // A JSON text in newer versions, `user_…_session_ID` in older ones.
  const named = /session_?(?:id\\?"?:\s*\\?")?_?([0-9a-f]{8}-[0-9a-f-]{27})/.exec(userId)?.[1];
  const session = headers['x-claude-code-session-id'] ?? named ?? 'none';
  const agent = headers['x-claude-code-agent-id'];
  return agent === undefined ? session : `${session}/${agent}`;
}

/**
 * The text with which the running turn began, and its place among the user's texts. The place alone is not enough: an agent
 * that is killed within moments of its text has not written it down, and the next text then stands in its place.
 */
function turnName(conversation: readonly ConversationItem[]): string {
  let name = '';
  let texts = 0;
  let isAfterResult = false;
  for (const { kind, text } of conversation.map(withText)) {
    if (kind === 'user') {
      if (!isAfterResult)
        name = `${texts}-${createHash('sha256').update(text).digest('base64url').slice(0, 8)}`;
      texts++;
    } else if (kind === 'result') isAfterResult = true;
    else if (kind !== 'context' || interrupted.test(text)) isAfterResult = false;
  }
  return name;
}

function withText(item: ConversationItem): { kind: ConversationItem['kind']; text: string } {
  return { kind: item.kind, text: 'text' in item ? item.text : '' };
}

function readMessage(raw: unknown): ConversationItem[] {
  const message = asObject(raw);
  const content = message['content'];
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
  return parts.map(asObject).flatMap((part) => readPart(part, asText(message['role']) ?? 'user'));
}

function readPart(part: Json, role: string): ConversationItem[] {
  switch (part['type']) {
    case 'text':
      return readText(asText(part['text']) ?? '', role);
    case 'tool_use':
      return [
        {
          kind: 'call',
          callId: asText(part['id']) ?? '',
          name: asText(part['name']) ?? '',
          args: JSON.stringify(part['input'] ?? {}),
        },
      ];
    case 'tool_result':
      return [
        { kind: 'result', callId: asText(part['tool_use_id']) ?? '', text: plainText(part['content']) },
      ];
    default:
      return [];
  }
}

function readText(text: string, role: string): ConversationItem[] {
  if (role === 'assistant') return [{ kind: 'agent', text }];
  const said = steered.exec(withoutTag(text))?.[1];
  if (said !== undefined) return [{ kind: 'user', text: said }];
  if (role !== 'user' || ownNote.test(text) || interrupted.test(text)) return [{ kind: 'context', text }];
  return [{ kind: 'user', text }];
}

function withoutTag(text: string): string {
  return text.replace(/^\s*<system-reminder>\n?/, '').replace(/\n?<\/system-reminder>\s*$/, '');
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
