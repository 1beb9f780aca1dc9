import { readFileSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import { parseJson } from '../../base/parse-json.ts';

/*
 * Runs inside pi, whose loader takes modules as they come: only Node and plain files of ours, so that pi starts fast.
 */

/** A tool as the server describes it. */
export interface ServedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: Json;
}

/** What a tool answered. */
export interface ToolAnswer {
  readonly content: readonly Json[];
  readonly isError: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const protocolVersion = '2025-06-18';
/** How long a server that is not there is waited for: it may be starting again. Milliseconds. */
const patienceMs = 60_000;
const longestPauseMs = 1000;

/**
 * Speaks MCP over Streamable HTTP to the server that a file names: `{"url", "token"}`, read anew for each request, because
 * the next server may listen elsewhere. A connection for each request, so that a refused one proves that nothing was sent.
 */
export class ToolClient {
  readonly #file: string;
  readonly #listMs: number;
  #count = 0;
  #isInitialized = false;

  /** `listMs`: how long a list is waited for, milliseconds. */
  constructor(file: string, listMs: number) {
    this.#file = file;
    this.#listMs = listMs;
  }

  /** The tools that are offered. Rejects with a sentence for a person. */
  async list(): Promise<ServedTool[]> {
    const signal = AbortSignal.timeout(this.#listMs);
    if (!this.#isInitialized) await this.#initialize(signal);
    const tools: ServedTool[] = [];
    let cursor: unknown;
    do {
      const page = await this.#request('tools/list', cursor === undefined ? {} : { cursor }, signal);
      tools.push(...listOf(page['tools']).flatMap(readTool));
      cursor = page['nextCursor'];
    } while (typeof cursor === 'string');
    return tools;
  }

  /** Calls a tool. `callId` goes along, by which the driver finds the turn. Rejects when no answer was had. */
  async call(
    name: string,
    args: unknown,
    callId: string,
    signal: AbortSignal | undefined,
  ): Promise<ToolAnswer> {
    const params = { name, arguments: args, _meta: { [callIdKey]: callId } };
    const result = await this.#request('tools/call', params, signal);
    return { content: listOf(result['content']), isError: result['isError'] === true };
  }

  async #initialize(signal: AbortSignal): Promise<void> {
    const clientInfo = { name: 'stemma-pi', version: '1' };
    await this.#request('initialize', { protocolVersion, capabilities: {}, clientInfo }, signal);
    await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' }, signal);
    this.#isInitialized = true;
  }

  async #request(method: string, params: Json, signal: AbortSignal | undefined): Promise<Json> {
    const id = ++this.#count;
    const body = await this.#post({ jsonrpc: '2.0', id, method, params }, signal);
    const message = messagesIn(body).find((one) => one['id'] === id);
    if (!message) throw new Error(`Stemma gave no answer to ${method}.`);
    const error = message['error'];
    if (isObject(error)) throw new Error(`Stemma refused ${method}: ${String(error['message'])}`);
    return isObject(message['result']) ? message['result'] : {};
  }

  async #post(message: Json, signal: AbortSignal | undefined): Promise<string> {
    const until = systemClock.monotonic() + patienceMs;
    for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const sent = await send(this.#file, JSON.stringify(message), signal);
      if (sent.outcome === 'answered') return sent.body;
      if (systemClock.monotonic() > until) throw new Error(`Stemma cannot be reached: ${sent.why}`);
      // This timer keeps pi alive, which has nothing else to wait for while it loads.
      await delay(pauseMs, undefined, signal ? { signal } : {});
    }
  }
}

/** The key in `_meta` under which a call carries pi's own id of it. */
export const callIdKey = 'stemma/toolCallId';

type Sent =
  | { readonly outcome: 'answered'; readonly body: string }
  | { readonly outcome: 'notSent'; readonly why: string };

/** One POST. Rejects when it may have been carried out and no answer came. */
async function send(file: string, text: string, signal: AbortSignal | undefined): Promise<Sent> {
  const place = placeIn(file);
  if (!place) return { outcome: 'notSent', why: `${file} cannot be read` };
  try {
    const response = await post(place, text, signal);
    const body = await textOf(response);
    const status = response.statusCode ?? 0;
    // The server is recovering and has not looked at the call.
    if (status === 503) return { outcome: 'notSent', why: 'it is starting' };
    if (status >= 400 && messagesIn(body).length === 0) throw new Error(`Stemma answered ${status}.`);
    return { outcome: 'answered', body };
  } catch (error) {
    signal?.throwIfAborted();
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ECONNREFUSED') return { outcome: 'notSent', why: 'nobody listens' };
    if (code === undefined) throw error;
    const text = `The connection to Stemma broke (${code}); the call may have been carried out. Look before you repeat it.`;
    throw new Error(text, { cause: error });
  }
}

interface Place {
  readonly url: string;
  readonly token: string;
}

function placeIn(file: string): Place | undefined {
  try {
    const read = parseJson(readFileSync(file, 'utf8'));
    if (!isObject(read)) return undefined;
    const { url, token } = read;
    return typeof url === 'string' && typeof token === 'string' ? { url, token } : undefined;
  } catch {
    return undefined;
  }
}

function post(
  { url, token }: Place,
  text: string,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': protocolVersion,
  };
  const begin = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, agent: false, ...(signal ? { signal } : {}) };
    const request = begin(url, options, resolve);
    request.once('error', reject);
    request.end(text);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** The messages of a body, which is JSON or a stream of events. */
function messagesIn(body: string): Json[] {
  const whole = parseJson(body);
  if (whole !== undefined) return [whole].flat().filter(isObject);
  return body
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => parseJson(line.slice('data:'.length)))
    .filter(isObject);
}

function readTool(raw: Json): ServedTool[] {
  const { name, description, inputSchema } = raw;
  if (typeof name !== 'string' || !isObject(inputSchema)) return [];
  return [{ name, description: typeof description === 'string' ? description : name, inputSchema }];
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
