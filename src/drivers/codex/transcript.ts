import type { TranscriptItem } from '../port.ts';
import { type CodexItem, userText } from './wire.ts';

const longestText = 16_384;

/** What a started item shows: only calls are worth showing before they end. */
export function transcriptOfStart(item: CodexItem): TranscriptItem | undefined {
  const text = callText(item);
  return text === undefined ? undefined : { kind: 'toolCall', text: bounded(text), id: item.id };
}

/** What a completed item shows. */
export function transcriptOfEnd(item: CodexItem): TranscriptItem | undefined {
  switch (item.type) {
    case 'userMessage':
      return { kind: 'user', text: bounded(userText(item)), id: item.id };
    case 'agentMessage':
      return { kind: 'text', text: bounded(item.text ?? ''), id: item.id };
    case 'reasoning':
      return item.summary?.length
        ? { kind: 'thought', text: bounded(item.summary.join('\n')), id: item.id }
        : undefined;
    default:
      return isCall(item) ? { kind: 'toolResult', text: resultText(item), id: item.id } : undefined;
  }
}

/** Whether the item is something the agent does, after which an earlier text is no answer any more. */
export function isCall(item: CodexItem): boolean {
  return callText(item) !== undefined;
}

function callText(item: CodexItem): string | undefined {
  switch (item.type) {
    case 'commandExecution':
      return item.command ?? 'a command';
    case 'mcpToolCall':
    case 'dynamicToolCall':
      return `${item.server === undefined || item.server === null ? '' : `${item.server}.`}${item.tool ?? ''} ${asText(item.arguments)}`;
    case 'fileChange':
      return `change ${item.changes?.map((change) => change.path).join(', ') ?? 'files'}`;
    case 'collabAgentToolCall':
      return `${item.tool ?? 'agent'} ${item.prompt ?? ''}`;
    case 'webSearch':
      return `search ${item.query ?? ''}`;
    default:
      return undefined;
  }
}

/** The end of what a command printed, or what a tool answered. */
export function resultText(item: CodexItem): string {
  if (item.type === 'commandExecution') {
    const printed = (item.aggregatedOutput ?? '').slice(-longestText);
    return item.exitCode ? `${printed}\n(exit code ${item.exitCode})` : printed;
  }
  if (item.error != null) return bounded(asText(item.error));
  return bounded(item.result == null ? (item.status ?? '') : asText(item.result));
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Cuts a text to what a transcript keeps. */
export function bounded(text: string, longest = longestText): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}
