import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatWire } from './chat-wire.ts';
import { messagesWire } from './messages-wire.ts';
import { type ModelRequest, toolResults, userTexts } from './model-request.ts';
import { promptScript, type Rule } from './prompt-script.ts';
import { generateContentWire } from './generate-content-wire.ts';
import { responsesWire } from './responses-wire.ts';
import type { Script, Step } from './step.ts';
import type { Answered, Wire } from './wire.ts';

/** The protocols that the scripted model speaks, told apart by their paths. */
function speakAll(): readonly Wire[] {
  return [responsesWire, chatWire(), messagesWire, generateContentWire()];
}

/** One line of the server's log: what the model was told, and how its answer ended. */
export type ModelEvent =
  | {
      readonly type: 'request';
      readonly number: number;
      /** UTC milliseconds at which the request had arrived. */
      readonly at: number;
      readonly threadId?: string;
      readonly turnId?: string;
      readonly userTexts: readonly string[];
      readonly toolResults: readonly string[];
      readonly tools: readonly string[];
      readonly step: Step;
    }
  | { readonly type: 'ended'; readonly number: number; readonly at: number; readonly how: Answered };

export interface ModelServerOptions {
  /** Default: the prompts are obeyed. */
  readonly script?: Script;
  /** For the default script. */
  readonly rules?: readonly Rule[];
  /** Default: any free port of the loopback interface. */
  readonly port?: number;
  /** Each event is appended here as a line of JSON as it happens. */
  readonly logFile?: string;
}

/** The scripted model. Its log is what end-to-end tests assert on: it is what the model really was told. */
export interface ModelServer {
  /** Base address, to be used as `base_url` of an OpenAI provider; ends in `/v1`. */
  readonly url: string;
  readonly log: readonly ModelEvent[];
  /** The requests so far, oldest first, in full. */
  readonly requests: readonly ModelRequest[];
  /** How many requests carried a text that contains this. */
  heard(part: string): number;
  /** Waits until the log holds an event that fits; rejects at the deadline with the log's tail. */
  waitFor(fits: (event: ModelEvent) => boolean, timeoutMs?: number): Promise<ModelEvent>;
  setScript(script: Script): void;
  stop(): Promise<void>;
}

/** Starts a scripted model on the loopback interface. The caller stops it. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const state = new ModelLog(options.logFile);
  let script = options.script ?? promptScript(options.rules);
  const wires = speakAll();
  const server = createServer((request, response) => {
    void serve(request, response, { log: state, wires, script: (r) => script(r) });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    log: state.events,
    requests: state.requests,
    heard: (part) => state.requests.filter((r) => userTexts(r).some((text) => text.includes(part))).length,
    waitFor: (fits, timeoutMs) => state.waitFor(fits, timeoutMs),
    setScript: (next) => {
      script = next;
    },
    stop: () => stop(server),
  };
}

class ModelLog {
  readonly events: ModelEvent[] = [];
  readonly requests: ModelRequest[] = [];
  readonly #file: string | undefined;
  readonly #requestsOfTurn = new Map<string, number>();
  readonly #watchers = new Set<() => void>();

  constructor(file: string | undefined) {
    this.#file = file;
  }

  add(event: ModelEvent): void {
    this.events.push(event);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(event)}\n`);
    for (const watcher of this.#watchers) watcher();
  }

  countRequestOf(turnId: string): number {
    const count = this.#requestsOfTurn.get(turnId) ?? 0;
    this.#requestsOfTurn.set(turnId, count + 1);
    return count;
  }

  async waitFor(fits: (event: ModelEvent) => boolean, timeoutMs = 10_000): Promise<ModelEvent> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
      };
      const look = (): void => {
        const found = this.events.find(fits);
        if (!found) return;
        finish();
        resolve(found);
      };
      const timer = setTimeout(() => {
        finish();
        reject(
          new Error(
            `the model saw no such thing within ${timeoutMs} ms; its log ends with ${JSON.stringify(this.events.slice(-4))}`,
          ),
        );
      }, timeoutMs);
      this.#watchers.add(look);
      look();
    });
  }
}

interface Serving {
  readonly log: ModelLog;
  readonly wires: readonly Wire[];
  readonly script: Script;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { log, wires, script }: Serving,
): Promise<void> {
  const body = await readBody(request);
  const path = (request.url ?? '').split('?')[0] ?? '';
  if (request.method === 'GET' && path === '/v1/models') {
    return sendJson(response, 200, {
      object: 'list',
      data: [{ id: 'scripted', object: 'model' }],
      models: [],
    });
  }
  const aside = request.method === 'POST' ? asideOf(wires, path) : undefined;
  if (aside) return sendJson(response, 200, aside);
  const wire = request.method === 'POST' ? wires.find((one) => one.takes(path)) : undefined;
  if (!wire) {
    const message = `the scripted model has no ${path}`;
    return sendJson(response, 404, { error: { type: 'not_found', message } });
  }
  const read = wire.read({
    path,
    headers: singleHeaders(request),
    body,
    number: log.requests.length + 1,
    receivedAt: Date.now(),
    requestOfTurn: (turnId) => log.countRequestOf(turnId),
  });
  if (read.isAside) {
    await wire.write({ do: 'say', text: 'A scripted conversation' }, read, response);
    return;
  }
  log.requests.push(read);
  const step = script(read);
  log.add(requestEvent(read, step));
  const how = await wire.write(step, read, response);
  log.add({ type: 'ended', number: read.number, at: Date.now(), how });
}

function asideOf(wires: readonly Wire[], path: string): Readonly<Record<string, unknown>> | undefined {
  for (const wire of wires) {
    const answer = wire.aside?.(path);
    if (answer) return answer;
  }
  return undefined;
}

function requestEvent(request: ModelRequest, step: Step): ModelEvent {
  return {
    type: 'request',
    number: request.number,
    at: request.receivedAt,
    ...(request.threadId === undefined ? {} : { threadId: request.threadId }),
    ...(request.turnId === undefined ? {} : { turnId: request.turnId }),
    userTexts: userTexts(request),
    toolResults: toolResults(request),
    tools: request.tools.map((tool) => tool.name),
    step,
  };
}

function singleHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
