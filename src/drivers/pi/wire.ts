import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';

/** One line of pi's output in RPC mode, as far as it matters here. */
export type Line =
  | {
      readonly kind: 'response';
      readonly id: string;
      readonly command: string;
      readonly ok: boolean;
      readonly error: string;
      readonly data: unknown;
    }
  | { readonly kind: 'agentStart' }
  /** A run is over; a retry or a compaction may follow within the same moment. */
  | { readonly kind: 'agentEnd' }
  | { readonly kind: 'userMessage'; readonly text: string }
  | ({ readonly kind: 'answer' } & Answer)
  | { readonly kind: 'toolStart'; readonly callId: string; readonly text: string }
  | { readonly kind: 'toolEnd'; readonly callId: string; readonly text: string }
  | { readonly kind: 'retryStart'; readonly error: string }
  | { readonly kind: 'retryEnd'; readonly ok: boolean; readonly error: string }
  | { readonly kind: 'compactionStart' }
  | { readonly kind: 'compactionEnd'; readonly ok: boolean; readonly willRetry: boolean }
  | ({ readonly kind: 'question' } & Question)
  /** Something that a person should see. */
  | { readonly kind: 'complaint'; readonly what: string }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'garbage'; readonly what: string };

/** One finished message of the model. */
export interface Answer {
  readonly text: string;
  readonly thought: string;
  readonly stop: 'finished' | 'failed' | 'aborted';
  readonly error: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars, by the prices that pi knows. */
  readonly usd: number;
}

/** An extension of the user's asks something. */
export interface Question {
  readonly id: string;
  readonly method: 'select' | 'confirm' | 'input' | 'editor';
  readonly title: string;
  readonly message: string;
  readonly options: readonly string[];
}

/** What `get_state` answers. */
export interface AgentState {
  readonly isStreaming: boolean;
  readonly isCompacting: boolean;
  readonly pending: number;
  /** The file of the conversation; undefined when pi was told to keep none. */
  readonly sessionFile: string | undefined;
  /** Undefined when pi has no model that it may use. */
  readonly model: string | undefined;
}

// These can be as long as everything that was said so far, and say nothing that a later line does not say again.
const quietStarts = ['{"type":"message_update"', '{"type":"tool_execution_update"'];
const endStart = '{"type":"agent_end"';

/** Reads one line. Never throws. */
export function readLine(line: string): Line {
  if (quietStarts.some((start) => line.startsWith(start))) return { kind: 'quiet' };
  if (line.startsWith(endStart)) return { kind: 'agentEnd' };
  const json = typed.safeParse(parseJson(line));
  if (!json.success) return { kind: 'garbage', what: `no JSON object with a type: ${brief(line)}` };
  const read = readers[json.data.type];
  if (!read) return { kind: 'quiet' };
  return (
    read(json.data) ?? { kind: 'garbage', what: `an unknown shape of ${json.data.type}: ${brief(line)}` }
  );
}

/** Reads the data of a `get_state`; undefined when it is none. */
export function readState(data: unknown): AgentState | undefined {
  const parsed = state.safeParse(data);
  if (!parsed.success) return undefined;
  const { isStreaming, isCompacting, pendingMessageCount, sessionFile, model } = parsed.data;
  const hasModel = model !== undefined && model !== null && model.provider !== 'unknown';
  return {
    isStreaming,
    isCompacting,
    pending: pendingMessageCount,
    sessionFile,
    model: hasModel ? `${model.provider}/${model.id}` : undefined,
  };
}

/** Whether the data of a `switch_session` says that somebody prevented it. */
export function wasCancelled(data: unknown): boolean {
  return z.object({ cancelled: z.literal(true) }).safeParse(data).success;
}

/** A text short enough for a log line. */
export function brief(text: string, length = 200): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= length ? line : `${line.slice(0, length)}… (${line.length} characters)`;
}

type Reader = (json: unknown) => Line | undefined;

const typed = z.looseObject({ type: z.string() });
const words = z.string().catch('');
const amount = z.number().catch(0);

const state = z.object({
  isStreaming: z.boolean(),
  isCompacting: z.boolean(),
  pendingMessageCount: z.number(),
  sessionFile: z.string().optional(),
  model: z.object({ provider: z.string(), id: z.string() }).nullish(),
});

const response = z
  .object({ id: words, command: words, success: z.boolean(), error: words, data: z.unknown().optional() })
  .transform(({ success, ...rest }): Line => ({ kind: 'response', ok: success, data: undefined, ...rest }));

const block = z.object({ type: z.string(), text: words, thinking: words });
const blocks = z.union([
  z.string().transform((text) => [{ type: 'text', text, thinking: '' }]),
  z.array(block),
]);

const message = z.object({
  message: z.object({
    role: z.string(),
    content: blocks.catch([]),
    stopReason: words,
    errorMessage: words,
    usage: z
      .object({
        input: amount,
        output: amount,
        cacheRead: amount,
        cacheWrite: amount,
        cost: z.object({ total: amount }).catch({ total: 0 }),
      })
      .catch({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } }),
  }),
});

// A text of ours is taken up when its message starts; what the model says counts when it is whole.
const messageStart = message.transform(({ message: said }): Line => {
  if (said.role !== 'user') return { kind: 'quiet' };
  return { kind: 'userMessage', text: textOf(said.content) };
});

const messageEnd = message.transform(({ message: said }): Line => {
  if (said.role !== 'assistant') return { kind: 'quiet' };
  const { usage, stopReason, errorMessage, content } = said;
  const stop = stopReason === 'error' ? 'failed' : stopReason === 'aborted' ? 'aborted' : 'finished';
  return {
    kind: 'answer',
    text: textOf(content),
    thought: content.map(({ thinking }) => thinking).join(''),
    stop,
    error: errorMessage,
    inputTokens: usage.input + usage.cacheRead + usage.cacheWrite,
    outputTokens: usage.output,
    usd: usage.cost.total,
  };
});

const toolStart = z.object({ toolCallId: z.string(), toolName: words, args: z.unknown() }).transform(
  ({ toolCallId, toolName, args }): Line => ({
    kind: 'toolStart',
    callId: toolCallId,
    text: `${toolName} ${JSON.stringify(args ?? {})}`,
  }),
);

const toolEnd = z
  .object({
    toolCallId: z.string(),
    isError: z.boolean().catch(false),
    result: z.object({ content: blocks }).catch({ content: [] }),
  })
  .transform(({ toolCallId, isError, result }): Line => {
    const text = textOf(result.content);
    return { kind: 'toolEnd', callId: toolCallId, text: isError ? `failed: ${text}` : text };
  });

const retryStart = z
  .object({ errorMessage: words })
  .transform(({ errorMessage }): Line => ({ kind: 'retryStart', error: errorMessage }));
const retryEnd = z
  .object({ success: z.boolean(), finalError: words })
  .transform(({ success, finalError }): Line => ({ kind: 'retryEnd', ok: success, error: finalError }));
const compactionEnd = z
  .object({ result: z.unknown().optional(), willRetry: z.boolean().catch(false) })
  .transform(
    ({ result, willRetry }): Line => ({
      kind: 'compactionEnd',
      ok: result !== undefined && result !== null,
      willRetry,
    }),
  );

const dialog = z.object({
  id: z.string(),
  method: z.enum(['select', 'confirm', 'input', 'editor']),
  title: words,
  message: words,
  options: z.array(z.string()).catch([]),
});
const notice = z.object({ method: z.literal('notify'), message: words, notifyType: words });
const extensionRequest = z.union([
  dialog.transform((asked): Line => ({ kind: 'question', ...asked })),
  notice.transform(
    ({ message: what, notifyType }): Line =>
      notifyType === 'error' || notifyType === 'warning' ? { kind: 'complaint', what } : { kind: 'quiet' },
  ),
  z.object({ method: z.string() }).transform((): Line => ({ kind: 'quiet' })),
]);

const extensionError = z.object({ extensionPath: words, error: words }).transform(
  ({ extensionPath, error }): Line => ({
    kind: 'complaint',
    what: `an extension failed (${extensionPath}): ${brief(error, 500)}`,
  }),
);

const readers: Readonly<Record<string, Reader>> = {
  response: reading(response),
  agent_start: () => ({ kind: 'agentStart' }),
  agent_end: () => ({ kind: 'agentEnd' }),
  message_start: reading(messageStart),
  message_end: reading(messageEnd),
  tool_execution_start: reading(toolStart),
  tool_execution_end: reading(toolEnd),
  auto_retry_start: reading(retryStart),
  auto_retry_end: reading(retryEnd),
  compaction_start: () => ({ kind: 'compactionStart' }),
  compaction_end: reading(compactionEnd),
  extension_ui_request: reading(extensionRequest),
  extension_error: reading(extensionError),
};

function reading(schema: z.ZodType<Line>): Reader {
  return (json) => schema.safeParse(json).data;
}

function textOf(content: readonly { readonly type: string; readonly text: string }[]): string {
  return content
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('');
}
