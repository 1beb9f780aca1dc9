import { z } from 'zod';
import { assertNever } from '../../base/assert-never.ts';
import type { AgentError, DriverEvent, DriverReport, TranscriptItem, Usage } from '../port.ts';
import { readAgentError } from './agent-error.ts';
import { AnswerText } from './answer-text.ts';
import {
  brief,
  type Message,
  readPromptResult,
  readUpdate,
  type RpcId,
  stopReasons,
  type Update,
} from './messages.ts';
import { Outbox } from './outbox.ts';
import { type Question, readQuestion } from './questions.ts';

const withdrawal = z.object({ requestId: z.unknown() });

/** A prompt without an answer, as the stream shows it. */
export interface TrackedPrompt {
  readonly id: string;
  /** How far the output had been read when it was sent: what lies before is not about it. */
  readonly at: number;
  /** False when nobody knows whether it was written. */
  isWritten: boolean;
  hasStarted: boolean;
  readonly answer: AnswerText;
}

/** What the stream asks of its owner. */
export interface TrackerOwner {
  readonly emit: (event: DriverEvent) => void;
  /** An answer was read; `end` is the position behind it, `usd` what the conversation has cost. */
  readonly onPromptEnded: (id: string, end: number, usd: number | undefined) => void;
  /** The agent asks for a permission. `turnId`: of the prompt it belongs to; without one, nobody can answer. */
  readonly onQuestion: (id: RpcId, question: Question, turnId: string | undefined) => void;
  /** The agent wants something that we never offered, or says it in a way that cannot be read. */
  readonly onUnservable: (id: RpcId, method: string) => void;
  /** The agent takes a request back. */
  readonly onWithdrawn: (id: unknown) => void;
}

/**
 * Turns the agent's output into events. It is told each line once, in order, and the prompts as they are sent; it does no
 * I/O and reads no clock, so the same lines give the same events, also when an adopter reads them again: events at or
 * before `floor` are kept back. An event within a line has a position within that line, so no two events of a turn
 * share one and none is lost or repeated when a reader dies between them.
 */
export class TurnTracker {
  readonly #owner: TrackerOwner;
  readonly #sessionId: string;
  readonly #outbox: Outbox;
  readonly #prompts = new Map<string, TrackedPrompt>();
  readonly #answered = new Set<string>();
  #usd: number | undefined;
  #usdBefore: number | undefined;

  constructor(
    owner: TrackerOwner,
    at: { sessionId: string; from: number; floor: number; usd: number | undefined },
  ) {
    this.#owner = owner;
    this.#sessionId = at.sessionId;
    this.#outbox = new Outbox(owner.emit, at.from, at.floor);
    this.#usd = at.usd;
    this.#usdBefore = at.usd;
  }

  /** How far the output was read. */
  get position(): number {
    return this.#outbox.position;
  }

  /** A prompt is about to be sent. What arrives from now on is taken to be about it. */
  add(prompt: Pick<TrackedPrompt, 'id' | 'at' | 'isWritten'>): void {
    this.#prompts.set(prompt.id, { ...prompt, hasStarted: false, answer: new AnswerText() });
  }

  /** A prompt that was answered before this reading begins. */
  addAnswered(id: string): void {
    this.#answered.add(id);
  }

  /** The prompt was certainly written. */
  confirm(id: string): void {
    const prompt = this.#prompts.get(id);
    if (prompt) prompt.isWritten = true;
  }

  /** The prompt was certainly not written. */
  drop(id: string): void {
    this.#prompts.delete(id);
  }

  /** The prompt of that id, unless it was answered. */
  get(id: string): TrackedPrompt | undefined {
    return this.#prompts.get(id);
  }

  /** The prompt that has no answer yet. */
  outstanding(): TrackedPrompt | undefined {
    return this.#outstandingAt(Number.POSITIVE_INFINITY);
  }

  /** The agent is proven to be at work on this prompt though its output does not show it yet. */
  start(prompt: TrackedPrompt): void {
    if (prompt.hasStarted) return;
    prompt.hasStarted = true;
    this.#outbox.sayNow({ type: 'turnStarted', nativeTurnId: turnIdOf(prompt.id), deliveryId: prompt.id });
  }

  /** One line of output; `end` is the position behind it. */
  take(message: Message, end: number): void {
    this.#outbox.beginLine(end);
    switch (message.kind) {
      case 'result':
      case 'error':
        this.#takeAnswer(message);
        break;
      case 'notification':
        this.#takeNotification(message.method, message.params);
        break;
      case 'request':
        this.#takeRequest(message);
        break;
      case 'garbage':
        this.#noise(message.what);
        break;
      default:
        assertNever(message);
    }
  }

  /** Something in the output was no line at all. */
  noise(what: string): void {
    this.#outbox.sayNow({ type: 'noise', what });
  }

  /** Says what was held back to be said together: call it when there is nothing more to read for now. */
  flush(): void {
    this.#outbox.flush();
  }

  /** An event of the line that is being taken; nothing of that line follows it. */
  sayAtEnd(event: DriverReport): void {
    this.#outbox.sayAtEnd(event);
  }

  /** An event that is not in the output: it is told at the position reached. */
  say(event: DriverReport): void {
    this.#outbox.sayNow(event);
  }

  /** The process is dead and its output read to the end. Returns the position of that event, the last of this process. */
  exit(reason: string): number {
    return this.#outbox.sayLast({ type: 'exited', reason });
  }

  #outstandingAt(position: number): TrackedPrompt | undefined {
    for (const prompt of this.#prompts.values()) if (prompt.at <= position) return prompt;
    return undefined;
  }

  #takeAnswer(message: Extract<Message, { kind: 'result' | 'error' }>): void {
    const id = typeof message.id === 'string' ? message.id : undefined;
    if (id?.startsWith(openingPrefix)) return;
    const deliveryId = id?.startsWith(promptPrefix) ? id.slice(promptPrefix.length) : '';
    const prompt = this.#prompts.get(deliveryId);
    if (this.#answered.has(deliveryId)) return this.#noise(`a second answer to ${id}`);
    if (!prompt)
      return this.#noise(`an answer to a request that was never made: ${brief(JSON.stringify(message.id))}`);
    this.#prove(prompt);
    this.#prompts.delete(prompt.id);
    this.#answered.add(prompt.id);
    const end = this.#outbox.position;
    const common = {
      type: 'turnEnded',
      nativeTurnId: turnIdOf(prompt.id),
      answer: prompt.answer.value(),
      tasks: [],
    } as const;
    this.#outbox.sayAtEnd({ ...common, ...this.#verdict(message) });
    this.#usdBefore = this.#usd;
    this.#owner.onPromptEnded(prompt.id, end, this.#usd);
  }

  #verdict(message: Extract<Message, { kind: 'result' | 'error' }>): {
    status: 'succeeded' | 'failed' | 'interrupted';
    error?: AgentError;
    usage?: Usage;
  } {
    const cost = this.#usd === undefined ? {} : { usd: Math.max(0, this.#usd - (this.#usdBefore ?? 0)) };
    const withCost = this.#usd === undefined ? {} : { usage: cost };
    if (message.kind === 'error')
      return { status: 'failed', error: readAgentError(message.error), ...withCost };
    const result = readPromptResult(message.result);
    if (!result)
      return {
        status: 'failed',
        error: { kind: 'agent', message: 'the agent answered without a stop reason' },
      };
    const { stopReason, ...tokens } = result;
    const usage = { ...tokens, ...cost };
    const used = Object.keys(usage).length > 0 ? { usage } : {};
    if (stopReason === 'cancelled') return { status: 'interrupted', ...used };
    if (stopReason === 'refusal')
      return { status: 'failed', error: { kind: 'agent', message: 'the agent refused to go on' }, ...used };
    if ((stopReasons as readonly string[]).includes(stopReason)) return { status: 'succeeded', ...used };
    return {
      status: 'failed',
      error: { kind: 'agent', message: `unknown stop reason: ${brief(stopReason)}` },
      ...used,
    };
  }

  #takeNotification(method: string, params: unknown): void {
    if (method === '$/cancel_request')
      return this.#owner.onWithdrawn(withdrawal.safeParse(params).data?.requestId);
    if (method !== 'session/update') return this.#noise(`an unknown notification: ${brief(method)}`);
    const update = readUpdate(params, this.#sessionId);
    if (update.kind === 'unknown') return this.#noise(update.what);
    if (update.kind === 'quiet') return;
    const prompt = this.#outstandingAt(this.#outbox.lineStart);
    if (update.kind === 'cost') return this.#takeCost(update.usd, prompt);
    if (prompt) this.#prove(prompt);
    const answer = prompt?.answer ?? this.#outbox.late();
    listen(answer, update);
    const item = itemOf(update);
    if (item) this.#outbox.hold(item, prompt && turnIdOf(prompt.id));
  }

  /** What the conversation has cost so far; of a prompt that is at work it is told at once. */
  #takeCost(usd: number, prompt: TrackedPrompt | undefined): void {
    this.#usd = usd;
    if (!prompt?.hasStarted) return;
    const usage = { usd: Math.max(0, usd - (this.#usdBefore ?? 0)) };
    this.#outbox.sayAtEnd({ type: 'usage', nativeTurnId: turnIdOf(prompt.id), usage });
  }

  #takeRequest({ id, method, params }: Extract<Message, { kind: 'request' }>): void {
    const prompt = this.#outstandingAt(this.#outbox.lineStart);
    if (prompt) this.#prove(prompt);
    else this.#outbox.late();
    const question =
      method === 'session/request_permission' ? readQuestion(params, this.#sessionId) : undefined;
    if (question) return this.#owner.onQuestion(id, question, prompt && turnIdOf(prompt.id));
    this.#noise(`the agent asked for something that is not offered: ${brief(method)}`);
    this.#owner.onUnservable(id, method);
  }

  #prove(prompt: TrackedPrompt): void {
    if (prompt.hasStarted) return;
    prompt.hasStarted = true;
    this.#outbox.sayWithin({ type: 'turnStarted', nativeTurnId: turnIdOf(prompt.id), deliveryId: prompt.id });
  }

  #noise(what: string): void {
    this.#outbox.sayAtEnd({ type: 'noise', what });
  }
}

const promptPrefix = 'prompt:';

/** Requests of the opening have ids that begin so. */
export const openingPrefix = 'stemma:';

/** The id of a prompt's turn, and of its JSON-RPC request. It says everything that an adopter needs to know. */
export function turnIdOf(deliveryId: string): string {
  return `${promptPrefix}${deliveryId}`;
}

function listen(answer: AnswerText, update: Update): void {
  if (update.kind === 'text') answer.say(update.text);
  else if (update.kind === 'toolCall' || update.kind === 'toolResult') answer.tool();
  else if (update.kind === 'progress' && update.isTool) answer.tool();
}

function itemOf(update: Update): TranscriptItem | undefined {
  switch (update.kind) {
    case 'text':
    case 'thought':
    case 'user':
      return { kind: update.kind, text: update.text };
    case 'toolCall':
    case 'toolResult':
      return { kind: update.kind, text: update.text, id: update.id };
    default:
      return undefined;
  }
}
