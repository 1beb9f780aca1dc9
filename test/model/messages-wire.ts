import type { ServerResponse } from 'node:http';
import { readMessagesBody } from './messages-body.ts';
import type { ModelRequest } from './model-request.ts';
import { findTool, pause } from './responses-wire.ts';
import type { Step } from './step.ts';
import type { Answered, Wire } from './wire.ts';

/** The Anthropic Messages wire, as Claude Code speaks it. */
export const messagesWire: Wire = {
  takes: (path) => path === '/v1/messages',
  read: readMessagesBody,
  write: writeStep,
  aside: (path) => (path === '/v1/messages/count_tokens' ? { input_tokens: 100 } : undefined),
};

const shellArguments = {
  wait: {},
  background: { run_in_background: true },
  escalate: { dangerouslyDisableSandbox: true },
};

async function writeStep(step: Step, request: ModelRequest, response: ServerResponse): Promise<Answered> {
  switch (step.do) {
    case 'hang':
      await pause(step.ms, response);
      return writeText({ do: 'say', text: 'Here after a silence.' }, request, response);
    case 'fail':
      return writeFailure(step, response);
    case 'call':
      return writeCall(step, request, response);
    case 'shell': {
      const args = { command: step.command, description: 'scripted', ...shellArguments[step.how] };
      return writeCall({ do: 'call', tool: 'Bash', args }, request, response);
    }
    case 'drop': {
      const cut = { do: 'say', text: 'This will be cut off soon.', overMs: step.afterMs } as const;
      const said = await writeText(cut, request, response, false);
      response.destroy();
      return said === 'aborted' ? said : 'cut';
    }
    case 'say':
      return writeText(step, request, response);
  }
}

type Send = (type: string, data: Readonly<Record<string, unknown>>) => void;

function openStream(request: ModelRequest, response: ServerResponse): Send {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  const send: Send = (type, data) => {
    if (!response.destroyed) response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const message = {
    id: `msg_${request.number}_${request.receivedAt}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 1 },
  };
  send('message_start', { message });
  return send;
}

function close(send: Send, stopReason: 'end_turn' | 'tool_use', response: ServerResponse): Answered {
  send('content_block_stop', { index: 0 });
  const delta = { stop_reason: stopReason, stop_sequence: null };
  send('message_delta', { delta, usage: { output_tokens: 20 } });
  send('message_stop', {});
  response.end();
  return response.destroyed ? 'aborted' : 'answered';
}

async function writeText(
  step: Extract<Step, { do: 'say' }>,
  request: ModelRequest,
  response: ServerResponse,
  finish = true,
): Promise<Answered> {
  if (response.destroyed) return 'aborted';
  const send = openStream(request, response);
  send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  const words = step.text.split(/(?<= )/);
  for (const word of words) {
    if (response.destroyed) return 'aborted';
    send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word } });
    if (step.overMs) await pause(step.overMs / words.length, response);
  }
  if (response.destroyed) return 'aborted';
  if (!finish) return 'answered';
  if (step.holdMs) await pause(step.holdMs, response);
  if (response.destroyed) return 'aborted';
  return close(send, 'end_turn', response);
}

async function writeCall(
  step: Extract<Step, { do: 'call' }>,
  request: ModelRequest,
  response: ServerResponse,
): Promise<Answered> {
  const tool = findTool(request.tools, step.tool);
  if (!tool) {
    const offered = request.tools.map((t) => t.name).join(', ');
    return writeText({ do: 'say', text: `NO TOOL ${step.tool}; offered: ${offered}` }, request, response);
  }
  const send = openStream(request, response);
  const id = `toolu_${request.number}_${request.receivedAt}`;
  send('content_block_start', {
    index: 0,
    content_block: { type: 'tool_use', id, name: tool.name, input: {} },
  });
  const json = JSON.stringify(step.args);
  send('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: json } });
  return close(send, 'tool_use', response);
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

async function writeFailure(
  step: Extract<Step, { do: 'fail' }>,
  response: ServerResponse,
): Promise<Answered> {
  await pause(step.afterMs ?? 0, response);
  if (response.destroyed) return 'aborted';
  const { status, resetsInSeconds: seconds } = step;
  const resetsAt = seconds === undefined ? undefined : Math.floor(Date.now() / 1000) + seconds;
  const limits = {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(resetsAt),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  };
  response.writeHead(status, {
    'content-type': 'application/json',
    // A limit with a time of reset is no matter of seconds: only the others are retried by the agent.
    ...(resetsAt === undefined ? {} : { ...limits, 'x-should-retry': 'false' }),
  });
  const type = errorTypes[status] ?? 'api_error';
  const error = { type, message: `The scripted model answers ${status}.` };
  response.end(JSON.stringify({ type: 'error', error }));
  return 'failed';
}
