import { z } from 'zod';

/** A piece of what the agent said or did. */
export type AssistantBlock =
  | { readonly type: 'text' | 'thought'; readonly text: string }
  | { readonly type: 'toolUse'; readonly id: string; readonly name: string; readonly input: string };

/** What came of a tool call. */
export interface ToolResult {
  readonly toolUseId: string;
  readonly text: string;
}

const longest = 64 * 1024;
const part = z.record(z.string(), z.unknown());

/** The blocks of a Messages API message that the transcript shows. */
export function readBlocks(message: unknown): AssistantBlock[] {
  const content = part.catch({}).parse(message)['content'];
  return z.array(part).catch([]).parse(content).flatMap(readBlock);
}

/** The results of tool calls in a user's message. */
export function readToolResults(content: unknown): ToolResult[] {
  const parts = z.array(part).catch([]).parse(content);
  return parts.flatMap((one) => {
    const toolUseId = one['tool_use_id'];
    if (one['type'] !== 'tool_result' || typeof toolUseId !== 'string') return [];
    return [{ toolUseId, text: bounded(textOf(one['content'])) }];
  });
}

function readBlock(block: Readonly<Record<string, unknown>>): AssistantBlock[] {
  const { type, text, thinking, id, name, input } = block;
  if (type === 'text' && typeof text === 'string') return [{ type: 'text', text }];
  if (type === 'thinking' && typeof thinking === 'string' && thinking !== '')
    return [{ type: 'thought', text: bounded(thinking) }];
  const isCall = (type === 'tool_use' || type === 'mcp_tool_use') && typeof id === 'string';
  if (!isCall) return [];
  return [{ type: 'toolUse', id, name: String(name), input: bounded(JSON.stringify(input ?? {})) }];
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return z
    .array(part)
    .catch([])
    .parse(content)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');
}

/** As much of a text as a transcript shows. */
export function bounded(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;
}
