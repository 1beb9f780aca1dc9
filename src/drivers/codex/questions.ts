import { z } from 'zod';
import type { AgentProfile, DriverReport } from '../port.ts';
import type { ServerRequest } from './rpc-client.ts';
import { type Question, readQuestion } from './read-question.ts';
import { bounded } from './transcript.ts';

interface Open {
  readonly request: ServerRequest;
  readonly question: Question;
  /** What a person chose, until Codex says that it heard so. */
  readonly choice?: string;
}

/** What questions need from around them. None of it may throw. */
export interface QuestionHost {
  readonly onQuestion: NonNullable<AgentProfile['onQuestion']>;
  /** The name under which our own tools are known: their use is never a question. */
  readonly toolsName: string;
  readonly respond: (id: string | number, result: unknown) => void;
  readonly reject: (id: string | number, text: string) => void;
  readonly emit: (event: Extract<DriverReport, { type: 'waiting' | 'resumed' }>) => void;
}

const longestText = 2_000;

/** Answers what Codex asks of one conversation, by the profile or by a person. No question is ever left to an error. */
export class Questions {
  readonly #host: QuestionHost;
  readonly #open = new Map<string, Open>();

  constructor(host: QuestionHost) {
    this.#host = host;
  }

  /** A question arrived, for the first time or again after a new connection. */
  ask(request: ServerRequest): void {
    const question = readQuestion(request, this.#host.toolsName);
    if (!question) return this.#host.reject(request.id, `${request.method} is not supported`);
    const { onQuestion } = this.#host;
    const choice =
      question.always ?? (onQuestion === 'ask' ? undefined : onQuestion === 'allow' ? 'accept' : 'decline');
    if (choice !== undefined)
      return this.#host.respond(request.id, question.reply(choice) ?? question.reply('decline'));
    const questionId = idOf(request);
    const known = this.#open.get(questionId);
    this.#open.set(questionId, { ...known, request, question });
    // Asked again, because the connection broke: the answer may have been lost with it.
    if (known?.choice !== undefined) this.#host.respond(request.id, question.reply(known.choice));
    if (!known) this.#tell(questionId, question);
  }

  /** Gives a person's answer. False when the question is not open, or the choice was not offered. */
  answer(questionId: string, choice: string): boolean {
    const open = this.#open.get(questionId);
    const reply = open?.question.choices.includes(choice) ? open.question.reply(choice) : undefined;
    if (!open || reply === undefined) return false;
    this.#open.set(questionId, { ...open, choice });
    this.#host.respond(open.request.id, reply);
    return true;
  }

  /** Codex says that a question is settled: answered by us, by somebody else, or void. */
  resolved(requestId: string | number): void {
    for (const [questionId, { request }] of this.#open) {
      if (request.id !== requestId) continue;
      this.#open.delete(questionId);
      this.#host.emit({ type: 'resumed' });
    }
    // Of several that were open, the others still are.
    const [next] = this.#open;
    if (next) this.#tell(next[0], next[1].question);
  }

  #tell(questionId: string, { text, choices }: Question): void {
    const declines = choices.includes('decline') ? { declines: 'decline' } : {};
    const shown = { questionId, text: bounded(text, longestText), choices, ...declines };
    this.#host.emit({ type: 'waiting', waitsFor: 'input', ...shown });
  }

  /** The turn is over, and its questions with it. */
  clear(): void {
    this.#open.clear();
  }
}

// The id of the request is kept by Codex when it asks again; the item's makes it unique beyond one server process.
function idOf({ id, params }: ServerRequest): string {
  const { itemId, approvalId } = z
    .object({ itemId: z.string().nullish(), approvalId: z.string().nullish() })
    .catch({})
    .parse(params);
  return `${id}-${approvalId ?? itemId ?? 'question'}`;
}
