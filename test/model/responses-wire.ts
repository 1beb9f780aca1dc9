import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type ModelRequest, type OfferedTool, readResponsesBody } from './model-request.ts';
import type { Step } from './step.ts';
import type { Answered, Wire } from './wire.ts';

/** The OpenAI Responses wire, as Codex speaks it. */
export const responsesWire: Wire = {
  takes: (path) => path === '/v1/responses',
  read: ({ body, ...about }) => readResponsesBody(body, about),
  write: writeStep,
};

const shellArguments = {
  wait: { yield_time_ms: 30_000 },
  background: { yield_time_ms: 250 },
  escalate: {
    yield_time_ms: 30_000,
    sandbox_permissions: 'require_escalated',
    justification: 'The script says so.',
  },
};

async function writeStep(step: Step, request: ModelRequest, response: ServerResponse): Promise<Answered> {
  if (step.do === 'hang') {
    await pause(step.ms, response);
    return writeText({ do: 'say', text: 'Here after a silence.' }, request, response);
  }
  if (step.do === 'fail') return writeFailure(step, response);
  if (step.do === 'call') return writeCall(step, request, response);
  if (step.do === 'shell') {
    const args = { cmd: step.command, ...shellArguments[step.how] };
    return writeCall({ do: 'call', tool: 'exec_command', args }, request, response);
  }
  if (step.do === 'drop') {
    const said = await writeText(
      { do: 'say', text: 'This will be cut off soon.', overMs: step.afterMs },
      request,
      response,
      false,
    );
    response.destroy();
    return said === 'aborted' ? said : 'cut';
  }
  return writeText(step, request, response);
}

/** The tool that a script means by `name`: by its name, else by an ending of it, else by a part of it. */
export function findTool(tools: readonly OfferedTool[], name: string): OfferedTool | undefined {
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find((tool) => tool.name.endsWith(name)) ??
    tools.find((tool) => tool.name.includes(name))
  );
}

type Send = (event: { readonly type: string } & Readonly<Record<string, unknown>>) => void;

function openStream(request: ModelRequest, response: ServerResponse): Send {
  let sequence = 0;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  const send: Send = (event) => {
    if (response.destroyed) return;
    response.write(
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: sequence++ })}\n\n`,
    );
  };
  send({ type: 'response.created', response: responseObject(request, 'in_progress') });
  return send;
}

function responseObject(request: ModelRequest, status: string): Record<string, unknown> {
  return {
    id: `resp_${request.number}_${request.receivedAt}`,
    object: 'response',
    status,
    model: request.model,
    output: [],
  };
}

function complete(send: Send, request: ModelRequest, item: unknown, response: ServerResponse): Answered {
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 120,
  };
  send({ type: 'response.output_item.done', output_index: 0, item });
  send({
    type: 'response.completed',
    response: { ...responseObject(request, 'completed'), output: [item], usage },
  });
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
  const id = `msg_${request.number}_${request.receivedAt}`;
  const empty = { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] };
  send({ type: 'response.output_item.added', output_index: 0, item: empty });
  const words = step.text.split(/(?<= )/);
  for (const word of words) {
    if (response.destroyed) return 'aborted';
    send({ type: 'response.output_text.delta', item_id: id, output_index: 0, content_index: 0, delta: word });
    if (step.overMs) await pause(step.overMs / words.length, response);
  }
  if (response.destroyed) return 'aborted';
  if (!finish) return 'answered';
  if (step.holdMs) await pause(step.holdMs, response);
  const content = [{ type: 'output_text', text: step.text, annotations: [] }];
  return complete(send, request, { ...empty, status: 'completed', content }, response);
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
  const item = {
    type: 'function_call',
    id: `fc_${request.number}_${request.receivedAt}`,
    call_id: `call_${request.number}_${request.receivedAt}`,
    name: tool.name,
    ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
    arguments: JSON.stringify(step.args),
    status: 'completed',
  };
  send({ type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } });
  send({
    type: 'response.function_call_arguments.done',
    item_id: item.id,
    output_index: 0,
    arguments: item.arguments,
  });
  return complete(send, request, item, response);
}

async function writeFailure(
  step: Extract<Step, { do: 'fail' }>,
  response: ServerResponse,
): Promise<Answered> {
  await pause(step.afterMs ?? 0, response);
  if (response.destroyed) return 'aborted';
  const code = { 429: 'usage_limit_reached', 401: 'invalid_api_key' }[step.status] ?? 'server_error';
  const seconds = step.resetsInSeconds;
  const resetsAt = seconds === undefined ? undefined : Math.floor(Date.now() / 1000) + seconds;
  const error = {
    type: code,
    code,
    message: `The scripted model answers ${step.status}.`,
    ...(resetsAt === undefined ? {} : { plan_type: 'plus', resets_at: resetsAt, resets_in_seconds: seconds }),
  };
  const headers =
    resetsAt === undefined
      ? {}
      : {
          'x-codex-primary-used-percent': '100',
          'x-codex-primary-window-minutes': '300',
          'x-codex-primary-reset-at': String(resetsAt),
        };
  response.writeHead(step.status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error }));
  return 'failed';
}

/** Waits; ends early when the agent hangs up, so that an aborted answer leaves no timer behind. */
export async function pause(ms: number, response: ServerResponse): Promise<void> {
  if (ms <= 0 || response.destroyed) return;
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  response.once('close', onClose);
  await delay(ms, undefined, { signal: gone.signal }).catch(() => undefined);
  response.off('close', onClose);
}
