import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import type { Signal } from './wire.ts';

const longestTail = 4 * 1024 * 1024;
const longestSearch = 64 * 1024 * 1024;

const line = z.object({
  type: z.literal('event_msg'),
  payload: z.object({
    type: z.string(),
    turn_id: z.string(),
    last_agent_message: z.string().nullish(),
    error: z.object({ message: z.string(), codex_error_info: z.unknown().optional() }).nullish(),
    item: z
      .object({
        type: z.string(),
        id: z.string(),
        client_id: z.string().nullish(),
        content: z.unknown().optional(),
      })
      .nullish(),
  }),
});

/**
 * What Codex's own file says of one turn: the texts that were taken up in it, and how it ended. For the one case in
 * which nobody can be asked: the server ended, as it does when it is told to drain, before its last words reached us.
 */
export function readRollout(path: string, threadId: string, turnId: string): Signal[] {
  return tailOf(path, longestTail).flatMap((text) => {
    if (!text.includes(turnId)) return [];
    const read = line.safeParse(parseJson(text));
    if (!read.success || read.data.payload.turn_id !== turnId) return [];
    return toSignals(read.data.payload, threadId);
  });
}

/** The turn in which Codex's own file has a text with this client id. `undefined`: nowhere; `unknown`: it cannot be read. */
export function findInRollout(
  path: string,
  clientId: string,
): { readonly turnId: string } | undefined | 'unknown' {
  const lines = tailOf(path, longestSearch);
  if (lines.length === 0) return 'unknown';
  for (const text of lines.reverse()) {
    if (!text.includes(clientId)) continue;
    const read = line.safeParse(parseJson(text));
    if (read.success && read.data.payload.item?.client_id === clientId)
      return { turnId: read.data.payload.turn_id };
  }
  return undefined;
}

function toSignals(payload: z.infer<typeof line>['payload'], threadId: string): Signal[] {
  const inTurn = { threadId, turnId: payload.turn_id };
  switch (payload.type) {
    case 'item_completed': {
      if (payload.item?.type !== 'UserMessage') return [];
      const { id, client_id: clientId, content } = payload.item;
      return [{ type: 'itemCompleted', ...inTurn, item: { type: 'userMessage', id, clientId, content } }];
    }
    case 'task_complete': {
      if (payload.error) {
        const error = {
          message: payload.error.message,
          codexErrorInfo: camelCase(payload.error.codex_error_info),
        };
        return [{ type: 'turnCompleted', ...inTurn, status: 'failed', error }];
      }
      const text = payload.last_agent_message ?? '';
      const item = { type: 'agentMessage', id: `rollout-${payload.turn_id}`, text };
      return [
        { type: 'itemCompleted', ...inTurn, item },
        { type: 'turnCompleted', ...inTurn, status: 'completed' },
      ];
    }
    case 'turn_aborted':
      return [{ type: 'turnCompleted', ...inTurn, status: 'interrupted' }];
    default:
      return [];
  }
}

// The file says `usage_limit_exceeded` where the protocol says `usageLimitExceeded`.
function camelCase(info: unknown): unknown {
  return typeof info === 'string'
    ? info.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : info;
}

function tailOf(path: string, longest: number): string[] {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, longest));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8').split('\n');
  } catch {
    return [];
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
