import type { ServerResponse } from 'node:http';
import type { ConversationItem, ModelRequest, OfferedTool } from './model-request.ts';
import { findTool, pause } from './responses-wire.ts';
import type { Step } from './step.ts';
import { TurnsByHistory } from './turns-by-history.ts';
import type { Answered, Arrived, Wire } from './wire.ts';

/** The generateContent wire of Google's models, streamed or not, as Gemini CLI speaks it. One object serves one server. */
export function generateContentWire(): Wire {
  const turns = new TurnsByHistory();
  return {
    takes: (path) => /\/models\/[^/]+:(streamGenerateContent|generateContent)$/.test(path),
    read: (arrived) => readRequest(arrived, turns),
    async write(step, request, response) {
      const how = await writeStep(step, request, response);
      turns.note(request, how);
      return how;
    },
  };
}

const streamed = new WeakSet<ModelRequest>();

type Json = Readonly<Record<string, unknown>>;

function readRequest(arrived: Arrived, turns: TurnsByHistory): ModelRequest {
  const { path, body, number, receivedAt, requestOfTurn } = arrived;
  const conversation = list(body['contents']).flatMap(readContent);
  const { threadId, turnId } = turns.identify(conversation);
  const request: ModelRequest = {
    number,
    receivedAt,
    model: /\/models\/([^/:]+):/.exec(path)?.[1] ?? '',
    threadId,
    turnId,
    requestOfTurn: requestOfTurn(turnId),
    conversation,
    tools: list(body['tools']).flatMap(readTools),
  };
  if (path.includes(':stream')) streamed.add(request);
  return request;
}

function readContent(raw: unknown): ConversationItem[] {
  const content = object(raw);
  const isModel = content['role'] === 'model';
  return list(content['parts']).flatMap((part): ConversationItem[] => {
    const { text, functionCall, functionResponse, thought } = object(part);
    if (functionCall !== undefined) {
      const call = object(functionCall);
      const name = String(call['name']);
      return [{ kind: 'call', callId: String(call['id']), name, args: JSON.stringify(call['args']) }];
    }
    if (functionResponse !== undefined) {
      const result = object(functionResponse);
      const said = object(result['response']);
      const text = typeof said['output'] === 'string' ? said['output'] : JSON.stringify(said);
      return [{ kind: 'result', callId: String(result['id']), text }];
    }
    if (typeof text !== 'string' || thought === true) return [];
    if (isModel) return [{ kind: 'agent', text }];
    // What the program says in the user's name is wrapped in a tag.
    return [{ kind: /^\s*<[a-z_]+>/.test(text) ? 'context' : 'user', text }];
  });
}

function readTools(raw: unknown): OfferedTool[] {
  return list(object(raw)['functionDeclarations']).flatMap((one) => {
    const { name } = object(one);
    return typeof name === 'string' ? [{ name }] : [];
  });
}

async function writeStep(step: Step, request: ModelRequest, response: ServerResponse): Promise<Answered> {
  switch (step.do) {
    case 'say':
      return writeText(step, request, response);
    case 'hang':
      await pause(step.ms, response);
      return writeText({ do: 'say', text: 'Here after a silence.' }, request, response);
    case 'fail':
      return writeFailure(step, response);
    case 'call':
      return writeCall(step.tool, step.args, request, response);
    case 'shell': {
      const args = { command: step.command, description: 'The script says so.' };
      const background = step.how === 'background' ? { is_background: true } : {};
      return writeCall('run_shell_command', { ...args, ...background }, request, response);
    }
    case 'drop': {
      const said = { do: 'say', text: 'This will be cut off soon.', overMs: step.afterMs } as const;
      const how = await writeText(said, request, response, false);
      response.destroy();
      return how === 'aborted' ? how : 'cut';
    }
  }
}

function answerOf(request: ModelRequest, parts: readonly Json[], isLast: boolean): Json {
  const candidate = {
    content: { role: 'model', parts },
    index: 0,
    ...(isLast ? { finishReason: 'STOP' } : {}),
  };
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
  return {
    candidates: [candidate],
    usageMetadata,
    modelVersion: request.model,
    responseId: `${request.number}`,
  };
}

async function writeText(
  step: Extract<Step, { do: 'say' }>,
  request: ModelRequest,
  response: ServerResponse,
  finish = true,
): Promise<Answered> {
  if (response.destroyed) return 'aborted';
  if (!streamed.has(request)) return writeWhole([{ text: step.text }], request, response);
  openStream(response);
  const words = step.text.split(/(?<= )/);
  for (const word of words) {
    if (response.destroyed) return 'aborted';
    send(response, answerOf(request, [{ text: word }], false));
    if (step.overMs) await pause(step.overMs / words.length, response);
  }
  if (response.destroyed) return 'aborted';
  if (!finish) return 'answered';
  if (step.holdMs) await pause(step.holdMs, response);
  return complete([{ text: '' }], request, response);
}

async function writeCall(
  name: string,
  args: Json,
  request: ModelRequest,
  response: ServerResponse,
): Promise<Answered> {
  const tool = findTool(request.tools, name);
  if (!tool) {
    const offered = request.tools.map((one) => one.name).join(', ');
    return writeText({ do: 'say', text: `NO TOOL ${name}; offered: ${offered}` }, request, response);
  }
  const id = `call_${request.number}_${request.receivedAt}`;
  const part = { functionCall: { id, name: tool.name, args } };
  if (!streamed.has(request)) return writeWhole([part], request, response);
  openStream(response);
  return complete([part], request, response);
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
}

function send(response: ServerResponse, event: Json): void {
  if (!response.destroyed) response.write(`data: ${JSON.stringify(event)}\n\n`);
}

function complete(parts: readonly Json[], request: ModelRequest, response: ServerResponse): Answered {
  if (response.destroyed) return 'aborted';
  send(response, answerOf(request, parts, true));
  response.end();
  return 'answered';
}

function writeWhole(parts: readonly Json[], request: ModelRequest, response: ServerResponse): Answered {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answerOf(request, parts, true)));
  return 'answered';
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
};

async function writeFailure(
  { status, afterMs }: Extract<Step, { do: 'fail' }>,
  response: ServerResponse,
): Promise<Answered> {
  await pause(afterMs ?? 0, response);
  if (response.destroyed) return 'aborted';
  const message = `The scripted model answers ${status}.`;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({ error: { code: status, message, status: statusNames[status] ?? 'INTERNAL' } }),
  );
  return 'failed';
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
