import type { ServerResponse } from 'node:http';
import { type ChatDetails, ChatReader } from './chat-request.ts';
import type { ModelRequest } from './model-request.ts';
import { findTool, pause } from './responses-wire.ts';
import type { Step } from './step.ts';
import type { Answered, Wire } from './wire.ts';

/** The OpenAI chat-completions wire, as opencode, pi and many others speak it. One object serves one server. */
export function chatWire(): Wire {
  const reader = new ChatReader();
  return {
    takes: (path) => path === '/v1/chat/completions',
    read: (arrived) => reader.read(arrived),
    write: async (step, request, response) => {
      const how = await writeStep(step, { request, response, ...reader.detailsOf(request) });
      if (how !== 'answered') reader.brokeOff(request);
      return how;
    },
  };
}

interface Answer extends ChatDetails {
  readonly request: ModelRequest;
  readonly response: ServerResponse;
}

async function writeStep(step: Step, answer: Answer): Promise<Answered> {
  switch (step.do) {
    case 'hang':
      await pause(step.ms, answer.response);
      return writeText({ do: 'say', text: 'Here after a silence.' }, answer);
    case 'fail':
      return writeFailure(step, answer.response);
    case 'call':
      return writeCall(step, answer);
    case 'shell':
      return writeShell(step, answer);
    case 'drop': {
      const said = await writeText(
        { do: 'say', text: 'This will be cut off soon.', overMs: step.afterMs },
        answer,
        false,
      );
      answer.response.destroy();
      return said === 'aborted' ? said : 'cut';
    }
    case 'say':
      return writeText(step, answer);
  }
}

const shellNames = ['bash', 'run_shell_command', 'shell', 'exec_command'];

// Each agent has its own shell tool. Only the arguments that it knows are given, since some refuse others.
function writeShell(step: Extract<Step, { do: 'shell' }>, answer: Answer): Promise<Answered> {
  const name = shellNames.find((one) => answer.argumentsOf.has(one)) ?? 'bash';
  const known = answer.argumentsOf.get(name) ?? new Set(['command']);
  const inBackground = step.how === 'background';
  const leftRunning = `(${step.command}) >/dev/null 2>&1 &`;
  const command = inBackground && !known.has('is_background') ? leftRunning : step.command;
  const all = { command, description: 'Run what the script says', is_background: inBackground };
  const args = Object.fromEntries(Object.entries(all).filter(([key]) => known.has(key)));
  return writeCall({ do: 'call', tool: name, args }, answer);
}

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

type Send = (delta: Readonly<Record<string, unknown>>, finishReason?: string) => void;

function openStream({ request, response }: Answer): Send {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  return (delta, finishReason) => {
    if (response.destroyed) return;
    const choices = [{ index: 0, delta, finish_reason: finishReason ?? null }];
    sendChunk(response, { ...about(request, 'chat.completion.chunk'), choices });
  };
}

function sendChunk(response: ServerResponse, chunk: unknown): void {
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

function about(request: ModelRequest, object: string): Record<string, unknown> {
  return {
    id: `chatcmpl_${request.number}_${request.receivedAt}`,
    object,
    created: Math.floor(request.receivedAt / 1000),
    model: request.model,
  };
}

/** Usage comes in a chunk of its own, after the one that says why the answer is over. */
function complete({ request, response }: Answer): Answered {
  if (response.destroyed) return 'aborted';
  sendChunk(response, { ...about(request, 'chat.completion.chunk'), choices: [], usage });
  response.end('data: [DONE]\n\n');
  return 'answered';
}

function writeWhole(answer: Answer, said: Readonly<Record<string, unknown>>, finishReason: string): Answered {
  const { request, response } = answer;
  const choices = [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: finishReason }];
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...about(request, 'chat.completion'), choices, usage }));
  return response.destroyed ? 'aborted' : 'answered';
}

async function writeText(
  step: Extract<Step, { do: 'say' }>,
  answer: Answer,
  finish = true,
): Promise<Answered> {
  const { response } = answer;
  if (response.destroyed) return 'aborted';
  if (!answer.stream) {
    await pause(step.overMs ?? step.holdMs ?? 0, response);
    return writeWhole(answer, { content: step.text }, 'stop');
  }
  const send = openStream(answer);
  send({ role: 'assistant', content: '' });
  const words = step.text.split(/(?<= )/);
  for (const word of words) {
    if (response.destroyed) return 'aborted';
    send({ content: word });
    if (step.overMs) await pause(step.overMs / words.length, response);
  }
  if (response.destroyed) return 'aborted';
  if (!finish) return 'answered';
  if (step.holdMs) await pause(step.holdMs, response);
  send({}, 'stop');
  return complete(answer);
}

async function writeCall(step: Extract<Step, { do: 'call' }>, answer: Answer): Promise<Answered> {
  const { request, response } = answer;
  const tool = findTool(request.tools, step.tool);
  if (!tool) {
    const offered = request.tools.map((t) => t.name).join(', ');
    return writeText({ do: 'say', text: `NO TOOL ${step.tool}; offered: ${offered}` }, answer);
  }
  if (response.destroyed) return 'aborted';
  const call = {
    id: `call_${request.number}_${request.receivedAt}`,
    type: 'function',
    function: { name: tool.name, arguments: JSON.stringify(step.args) },
  };
  if (!answer.stream) return writeWhole(answer, { content: null, tool_calls: [call] }, 'tool_calls');
  const send = openStream(answer);
  send({ role: 'assistant', content: null });
  send({ tool_calls: [{ index: 0, ...call, function: { name: tool.name, arguments: '' } }] });
  send({ tool_calls: [{ index: 0, function: { arguments: call.function.arguments } }] });
  send({}, 'tool_calls');
  return complete(answer);
}

const failures: Readonly<Record<number, { readonly type: string; readonly code: string }>> = {
  400: { type: 'invalid_request_error', code: 'invalid_request' },
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  429: { type: 'requests', code: 'rate_limit_exceeded' },
};

async function writeFailure(
  step: Extract<Step, { do: 'fail' }>,
  response: ServerResponse,
): Promise<Answered> {
  await pause(step.afterMs ?? 0, response);
  if (response.destroyed) return 'aborted';
  const kind = failures[step.status] ?? { type: 'server_error', code: 'server_error' };
  const seconds = step.resetsInSeconds;
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  response.writeHead(step.status, { 'content-type': 'application/json', ...headers });
  const message = `The scripted model answers ${step.status}.`;
  response.end(JSON.stringify({ error: { ...kind, param: null, message } }));
  return 'failed';
}
