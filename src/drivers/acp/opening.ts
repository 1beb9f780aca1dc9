import { AGENT_METHODS, CLIENT_METHODS, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type {
  InitializeRequest,
  LoadSessionRequest,
  McpServer,
  NewSessionRequest,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { pause, within } from '../../base/pause.ts';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import { type AgentDeclaration, readDeclaration } from './declaration.ts';
import { brief, type Message, type RpcError, readMessage, readUpdate, writeMessage } from './messages.ts';
import { Garbage } from '../../processes/garbage.ts';
import { openingPrefix } from './tracker.ts';

/** Why an opening came to nothing. */
export type OpeningFailure =
  | { readonly ok: false; readonly why: 'error'; readonly error: RpcError }
  | { readonly ok: false; readonly why: 'silent' | 'exited' | 'interrupted'; readonly message: string };

type Answer = { readonly ok: true; readonly result: unknown } | OpeningFailure;

/** A line that belongs to the conversation and not to its opening. */
export interface LineAfter {
  readonly message: Message;
  readonly end: number;
}

/** An open conversation: its id, the choices of models, and where its output begins. */
export interface OpenedSession {
  readonly id: string;
  readonly models: ModelChoice | undefined;
  readonly at: number;
}

/** How a model is chosen, where the agent offers it. */
export interface ModelChoice {
  readonly configId: string;
  readonly values: readonly string[];
}

const opened = z.object({
  sessionId: z.string().optional(),
  configOptions: z.array(z.unknown()).nullish().catch(undefined),
});
const choice = z
  .object({ value: z.string() })
  .transform(({ value }) => [value])
  .catch([]);
// Choices come in a list, or in groups of lists.
const group = z.object({ options: z.array(choice) }).transform(({ options }) => options.flat());
const modelOption = z.object({
  id: z.string(),
  category: z.literal('model'),
  options: z.array(z.union([group, choice])),
});
const ofSession = z.object({ sessionId: z.string() });

/**
 * The opening of a conversation with a new process: everything before its first prompt. It reads the output until the
 * conversation is open; what came behind that is `rest`, to be read as the conversation's.
 */
export class Opening {
  /** What the agent said that nobody understands, for the message when the opening fails. */
  readonly noise: string[] = [];
  /** What a loaded conversation told again of the person's side: each entry the pieces that came without anything between. */
  readonly past: string[][] = [];
  readonly rest: LineAfter[] = [];
  readonly #process: StdioProcess;
  readonly #clock: Clock;
  #deadline: number;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  /** Why nothing comes of it, once that is certain. */
  over: OpeningFailure | undefined;
  readonly #garbage = new Garbage();
  #openedAt: number | undefined;
  #isPersonTalking = false;
  /** Aborted when nothing comes of the opening any more. */
  readonly #given = new AbortController();

  constructor(process: StdioProcess, clock: Clock, withinMs: number) {
    this.#process = process;
    this.#clock = clock;
    this.#deadline = clock.monotonic() + withinMs;
  }

  /** One line of output; `end` is the position behind it. */
  take(line: string, end: number): void {
    const message = readMessage(line);
    if (message.kind !== 'garbage') this.#garbage.understood();
    if (message.kind === 'result' || message.kind === 'error') {
      const answered = typeof message.id === 'string' ? this.#waiting.get(message.id) : undefined;
      if (answered) return this.#settle(message, answered, end);
    }
    if (this.#openedAt !== undefined) this.rest.push({ message, end });
    else this.#takeEarly(message, line.length);
  }

  /** Something in the output that nobody understands; too much of it ends the opening. */
  hearNoise(what: string, bytes: number): void {
    const verdict = this.#garbage.hear(bytes);
    if (verdict === 'told') this.noise.push(what);
    if (verdict !== 'flood' || this.over !== undefined) return;
    this.#process.passOver();
    this.exit(this.#garbage.sentence('ACP'));
  }

  /** The process is dead: whoever waits for an answer hears so. */
  exit(reason: string): void {
    this.#end({ ok: false, why: 'exited', message: reason });
  }

  /** Nobody waits for this opening any more; the agent is not to blame. */
  interrupt(why: string): void {
    this.#end({ ok: false, why: 'interrupted', message: why });
  }

  /** The first request: what the agent is, and whether it speaks our version. */
  async initialize(): Promise<{ ok: true; agent: AgentDeclaration } | OpeningFailure> {
    const params: InitializeRequest = {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'stemma', version: '1' },
    };
    const answer = await this.#request(AGENT_METHODS.initialize, params);
    if (!answer.ok) return answer;
    const read = readDeclaration(answer.result);
    if (!read) return strange('initialize', answer.result);
    const { protocolVersion, agent } = read;
    if (protocolVersion !== PROTOCOL_VERSION) {
      return silent(
        `the agent speaks version ${protocolVersion} of ACP; version ${PROTOCOL_VERSION} is needed`,
      );
    }
    return { ok: true, agent };
  }

  /** Lets so much time pass; the deadline moves with it. Ends early when nothing comes of the opening any more. */
  async wait(ms: number): Promise<void> {
    if (ms <= 0) return;
    this.#deadline += ms;
    await pause(this.#clock, ms, this.#given.signal);
  }

  /** Begins a new conversation. */
  begin(
    cwd: string,
    mcpServers: McpServer[],
  ): Promise<{ ok: true; session: OpenedSession } | OpeningFailure> {
    const params: NewSessionRequest = { cwd, mcpServers };
    return this.#open(AGENT_METHODS.session_new, params, undefined);
  }

  /** Has an old conversation again. `method`: load tells the past again, resume does not. */
  resume(
    method: typeof AGENT_METHODS.session_load | typeof AGENT_METHODS.session_resume,
    sessionId: string,
    cwd: string,
    mcpServers: McpServer[],
  ): Promise<{ ok: true; session: OpenedSession } | OpeningFailure> {
    const params: LoadSessionRequest = { sessionId, cwd, mcpServers };
    return this.#open(method, params, sessionId);
  }

  /** Chooses one of the models that the conversation was opened with. */
  async chooseModel(
    session: OpenedSession,
    choice: ModelChoice,
    model: string,
  ): Promise<{ ok: true } | OpeningFailure> {
    const params = { sessionId: session.id, configId: choice.configId, value: model };
    const answer = await this.#request(AGENT_METHODS.session_set_config_option, params);
    return answer.ok ? { ok: true } : answer;
  }

  async #open(
    method: string,
    params: object,
    known: string | undefined,
  ): Promise<{ ok: true; session: OpenedSession } | OpeningFailure> {
    const answer = await this.#request(method, params);
    if (!answer.ok) return answer;
    const parsed = opened.safeParse(answer.result ?? {});
    const id = known ?? parsed.data?.sessionId;
    if (!parsed.success || id === undefined) return strange(method, answer.result);
    const models = (parsed.data.configOptions ?? []).flatMap((option) => modelChoice(option))[0];
    return { ok: true, session: { id, models, at: this.#openedAt ?? 0 } };
  }

  async #request(method: string, params: object): Promise<Answer> {
    if (this.over !== undefined) return this.over;
    const id = openingPrefix + method;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    const line = writeMessage({ jsonrpc: '2.0', id, method, params });
    // A refused write: the process is gone, and how it went is about to be told. The deadline covers the rest.
    const sent = this.#process.writeLine(line).then(() => answered);
    const restMs = Math.max(0, this.#deadline - this.#clock.monotonic());
    const answer = await within(this.#clock, restMs, sent, silent(`no answer to ${method} in time`));
    this.#waiting.delete(id);
    return answer;
  }

  #end(failure: OpeningFailure): void {
    this.over ??= failure;
    this.#given.abort();
    for (const settle of this.#waiting.values()) settle(failure);
    this.#waiting.clear();
  }

  #settle(
    message: Extract<Message, { kind: 'result' | 'error' }>,
    answered: (answer: Answer) => void,
    end: number,
  ): void {
    this.#waiting.delete(String(message.id));
    if (message.kind === 'error') return answered({ ok: false, why: 'error', error: message.error });
    if (openers.some((method) => message.id === openingPrefix + method)) this.#openedAt = end;
    answered({ ok: true, result: message.result });
  }

  #takeEarly(message: Message, bytes: number): void {
    const update = message.kind === 'notification' ? readAnyUpdate(message.params) : undefined;
    if (update?.kind === 'user') this.#tellPast(update.text);
    else if (update) this.#isPersonTalking = false;
    if (message.kind === 'garbage') this.hearNoise(message.what, bytes);
    if (message.kind === 'result' || message.kind === 'error')
      this.noise.push(`an answer nobody waits for: ${brief(String(message.id))}`);
    if (message.kind === 'request') void this.#process.writeLine(refusal(message.id, message.method));
    if (message.kind === 'notification' && message.method !== CLIENT_METHODS.session_update) {
      this.noise.push(`an unknown notification: ${brief(message.method)}`);
    }
  }

  #tellPast(piece: string): void {
    if (this.#isPersonTalking) this.past.at(-1)?.push(piece);
    else this.past.push([piece]);
    this.#isPersonTalking = true;
  }
}

/** The answer to a request for what we never offered. */
export function refusal(id: string | number | null, method: string): string {
  return writeMessage({ jsonrpc: '2.0', id, error: RequestError.methodNotFound(method).toErrorResponse() });
}

const openers: readonly string[] = [
  AGENT_METHODS.session_new,
  AGENT_METHODS.session_load,
  AGENT_METHODS.session_resume,
];

function readAnyUpdate(params: unknown): ReturnType<typeof readUpdate> | undefined {
  const read = ofSession.safeParse(params);
  return read.success ? readUpdate(params, read.data.sessionId) : undefined;
}

function modelChoice(option: unknown): ModelChoice[] {
  const parsed = modelOption.safeParse(option);
  if (!parsed.success) return [];
  const { id, options } = parsed.data;
  return [{ configId: id, values: options.flat() }];
}

function strange(method: string, result: unknown): OpeningFailure {
  return silent(`the answer to ${method} has an unknown shape: ${brief(JSON.stringify(result))}`);
}

function silent(message: string): OpeningFailure {
  return { ok: false, why: 'silent', message };
}
