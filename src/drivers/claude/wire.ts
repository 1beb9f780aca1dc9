import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { type AssistantBlock, readBlocks, readToolResults, type ToolResult } from './blocks.ts';

/*
 * What Claude Code prints in stream-json mode, read leniently: what is missed here would be an end that is never seen, and a
 * field that a later version leaves out must not take a whole line with it.
 */

/** How a task ended, in the words of the CLI. */
export type TaskStatus = 'completed' | 'failed' | 'stopped' | 'killed';

/** A background task as the CLI lists it. */
export interface ListedTask {
  readonly taskId: string;
  readonly runId?: string;
  readonly type: string;
  readonly name: string;
}

/** What closes a stretch of work. Not necessarily the end of what the agent does. */
export interface ResultSignal {
  readonly type: 'result';
  readonly isError: boolean;
  readonly apiStatus?: number;
  readonly terminal?: string;
  readonly text?: string;
  readonly errors: readonly string[];
  /** The run of the background task for whose end the agent worked. */
  readonly runId?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Of the conversation so far, US dollars. */
  readonly usd?: number;
}

/** One line of the agent's output. `parent`: the call of a sub-agent that the line belongs to. */
export type Signal =
  | {
      readonly type: 'lifecycle';
      readonly uuid: string;
      readonly state: 'queued' | 'started' | 'completed' | 'cancelled';
    }
  | { readonly type: 'state'; readonly state: string }
  | { readonly type: 'init'; readonly capabilities: readonly string[]; readonly servers: readonly string[] }
  | {
      readonly type: 'replay';
      readonly uuid: string;
      readonly text: string;
      readonly taskIds: readonly string[];
    }
  | {
      readonly type: 'assistant';
      readonly parent?: string;
      readonly blocks: readonly AssistantBlock[];
      readonly error?: string;
    }
  | { readonly type: 'toolResults'; readonly parent?: string; readonly results: readonly ToolResult[] }
  | ResultSignal
  | { readonly type: 'tasks'; readonly tasks: readonly ListedTask[] }
  | { readonly type: 'taskStarted'; readonly task: ListedTask; readonly toolUseId?: string }
  | { readonly type: 'taskUpdated'; readonly taskId: string; readonly status: TaskStatus }
  | {
      readonly type: 'taskNotice';
      readonly taskId: string;
      readonly runId?: string;
      readonly status: TaskStatus;
      readonly summary: string;
    }
  | {
      readonly type: 'ask';
      readonly requestId: string;
      readonly subtype: string;
      readonly request: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'askCancelled'; readonly requestId: string }
  | { readonly type: 'answer'; readonly requestId: string; readonly answer: ControlAnswer }
  | { readonly type: 'retry'; readonly status?: number; readonly error: string; readonly text: string }
  | { readonly type: 'limits'; readonly resetsAt?: number }
  | { readonly type: 'quiet' }
  | { readonly type: 'garbage'; readonly what: string };

/** What a control request came to; also seen for the answers that we give. */
export type ControlAnswer =
  | { readonly ok: true; readonly response: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: string };

type Json = Readonly<Record<string, unknown>>;

const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);
const object = z.record(z.string(), z.unknown()).catch({});

/** Reads one line. Never throws: what is no message is `garbage`. */
export function readLine(line: string): Signal {
  const json = parseJson(line);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return garbage('not a message', line);
  const message = json as Json;
  const type = message['type'];
  if (typeof type !== 'string') return garbage('a message without a type', line);
  if (type === 'system') return readSystem(message);
  const read = readers[type];
  if (read) return read(message) ?? garbage(`a message of type ${brief(type)} that makes no sense`, line);
  return quietTypes.has(type) ? { type: 'quiet' } : garbage('a message of unknown type', line);
}

/** Cut for a log. */
export function brief(text: string, limit = 200): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`;
}

const quietTypes = new Set([
  'auth_status',
  'keep_alive',
  'prompt_suggestion',
  'stream_event',
  'streamlined_text',
  'streamlined_tool_use_summary',
  'tool_progress',
  'tool_use_summary',
  'transcript_mirror',
]);

const readers: Readonly<Record<string, (message: Json) => Signal | undefined>> = {
  command_lifecycle: readLifecycle,
  user: readUser,
  assistant: (message) => ({
    type: 'assistant',
    ...parentOf(message),
    blocks: readBlocks(message['message']),
    ...withText('error', message['error']),
  }),
  result: readResult,
  control_request: readAsk,
  control_cancel_request: (message) => {
    const requestId = text.parse(message['request_id']);
    return requestId === undefined ? undefined : { type: 'askCancelled', requestId };
  },
  control_response: readAnswer,
  rate_limit_event: readLimits,
};

function readLifecycle(message: Json): Signal | undefined {
  const states = z.enum(['queued', 'started', 'completed', 'cancelled']);
  const parsed = z.object({ command_uuid: z.string(), state: states }).safeParse(message);
  if (!parsed.success) return undefined;
  return { type: 'lifecycle', uuid: parsed.data.command_uuid, state: parsed.data.state };
}

function readSystem(message: Json): Signal {
  const id = text.parse(message['task_id']);
  switch (message['subtype']) {
    case 'session_state_changed':
      return { type: 'state', state: text.parse(message['state']) ?? '' };
    case 'init':
      return {
        type: 'init',
        capabilities: z.array(z.string()).catch([]).parse(message['capabilities']),
        servers: readServers(message['mcp_servers']),
      };
    case 'background_tasks_changed':
      return { type: 'tasks', tasks: readTasks(message['tasks']) };
    case 'task_started':
      return id === undefined ? { type: 'quiet' } : readTaskStarted(message);
    case 'task_updated': {
      const status = taskStatus(object.parse(message['patch'])['status']);
      return id === undefined || !status ? { type: 'quiet' } : { type: 'taskUpdated', taskId: id, status };
    }
    case 'task_notification': {
      const status = taskStatus(message['status']) ?? 'stopped';
      const summary = text.parse(message['summary']) ?? '';
      if (id === undefined) return { type: 'quiet' };
      return { type: 'taskNotice', taskId: id, status, summary, ...withText('runId', message['run_id']) };
    }
    case 'api_retry':
      return readRetry(message);
    default:
      return { type: 'quiet' };
  }
}

function readServers(servers: unknown): string[] {
  const parsed = z
    .array(z.object({ name: z.string(), status: z.string() }))
    .catch([])
    .parse(servers);
  return parsed.map(({ name, status }) => `${name} ${status}`);
}

function readTasks(tasks: unknown): ListedTask[] {
  const list = z.array(object).catch([]).parse(tasks);
  // What is `ambient` is no work: watchers that live as long as the process.
  return list.flatMap((task) => (task['ambient'] === true ? [] : (readTask(task) ?? [])));
}

function readTask(task: Json): ListedTask | undefined {
  const taskId = text.parse(task['task_id']);
  if (taskId === undefined) return undefined;
  const type = text.parse(task['task_type']) ?? 'unknown';
  const name = text.parse(task['description']) ?? type;
  return { taskId, type, name: brief(name), ...withText('runId', task['run_id']) };
}

function readTaskStarted(message: Json): Signal {
  const task = readTask(message);
  if (!task || message['ambient'] === true || message['skip_transcript'] === true) return { type: 'quiet' };
  return { type: 'taskStarted', task, ...withText('toolUseId', message['tool_use_id']) };
}

function taskStatus(status: unknown): TaskStatus | undefined {
  const ended = ['completed', 'failed', 'stopped', 'killed'] as const;
  return ended.find((one) => one === status);
}

function readRetry(message: Json): Signal {
  const error = text.parse(message['error']) ?? 'unknown';
  const [attempt, most] = [number.parse(message['attempt']) ?? 0, number.parse(message['max_retries']) ?? 0];
  const status = number.parse(message['error_status'] ?? undefined);
  const said = `The model's provider answered ${status ?? 'nothing'} (${error}); attempt ${attempt} of ${most} follows.`;
  return { type: 'retry', error, text: said, ...(status === undefined ? {} : { status }) };
}

function readLimits(message: Json): Signal {
  const info = object.parse(message['rate_limit_info']);
  const seconds = info['status'] === 'rejected' ? number.parse(info['resetsAt']) : undefined;
  return { type: 'limits', ...(seconds === undefined ? {} : { resetsAt: seconds * 1000 }) };
}

const notified = /<task-id>([^<]+)<\/task-id>/g;

function readUser(message: Json): Signal {
  const content = object.parse(message['message'])['content'];
  if (message['isReplay'] === true) {
    const said = plainText(content);
    const isNotice = object.parse(message['origin'])['kind'] === 'task-notification';
    const isTold = isNotice || said.startsWith('<task-notification>');
    const taskIds = isTold ? [...said.matchAll(notified)].flatMap((match) => match[1] ?? []) : [];
    return { type: 'replay', uuid: text.parse(message['uuid']) ?? '', text: isTold ? '' : said, taskIds };
  }
  const results = readToolResults(content);
  return results.length === 0 ? { type: 'quiet' } : { type: 'toolResults', ...parentOf(message), results };
}

function plainText(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = z.array(object).catch([]).parse(content);
  return parts.map((part) => text.parse(part['text']) ?? '').join('\n');
}

function readResult(message: Json): Signal {
  const usage = object.parse(message['usage']);
  const read = (name: string): number => number.parse(usage[name]) ?? 0;
  const input = read('input_tokens') + read('cache_creation_input_tokens') + read('cache_read_input_tokens');
  const usd = number.parse(message['total_cost_usd']);
  const apiStatus = number.parse(message['api_error_status'] ?? undefined);
  return {
    type: 'result',
    isError: message['is_error'] === true,
    errors: z.array(z.string()).catch([]).parse(message['errors']),
    ...(apiStatus === undefined ? {} : { apiStatus }),
    ...withText('terminal', message['terminal_reason']),
    ...withText('text', message['result']),
    ...withText('runId', object.parse(message['origin'])['runId']),
    ...(message['usage'] === undefined ? {} : { inputTokens: input, outputTokens: read('output_tokens') }),
    ...(usd === undefined ? {} : { usd }),
  };
}

function readAsk(message: Json): Signal | undefined {
  const requestId = text.parse(message['request_id']);
  const request = object.parse(message['request']);
  if (requestId === undefined) return undefined;
  return { type: 'ask', requestId, subtype: text.parse(request['subtype']) ?? '', request };
}

function readAnswer(message: Json): Signal | undefined {
  const response = object.parse(message['response']);
  const requestId = text.parse(response['request_id']);
  if (requestId === undefined) return undefined;
  const answer: ControlAnswer =
    response['subtype'] === 'success'
      ? { ok: true, response: object.parse(response['response']) }
      : { ok: false, error: text.parse(response['error']) ?? 'refused' };
  return { type: 'answer', requestId, answer };
}

function parentOf(message: Json): { readonly parent?: string } {
  return withText('parent', message['parent_tool_use_id']);
}

function withText<Key extends string>(key: Key, value: unknown): { readonly [K in Key]?: string } {
  return (typeof value === 'string' ? { [key]: value } : {}) as { readonly [K in Key]?: string };
}

function garbage(what: string, line: string): Signal {
  return { type: 'garbage', what: `${what}: ${brief(line)}` };
}
