import type { AgentError, DriverReport, Usage } from '../port.ts';
import { readAgentError } from './agent-error.ts';
import type { Answer } from './wire.ts';

const longestAnswer = 1024 * 1024;
const cutMark = '\n[the rest of the answer was cut off]';

/** One turn of ours: pi may start several runs within it, by retries, compactions and steered texts. */
export class PiTurn {
  readonly id: string;
  readonly deliveryId: string | undefined;
  /** Whether a run goes on. */
  isActive = true;
  /** Where the last run ended, while nothing is known to follow it. */
  ending: number | undefined;
  /** A compaction went well since then: if something is queued, pi goes on by itself. */
  goesOn = false;
  /** How often it was idle all the same since then. */
  timesStalled = 0;
  isWaiting = false;
  /** The text that the turn began with is told as the first message of its first run. */
  expectsOwnText: boolean;
  readonly #said: string[] = [];
  #last: Answer | undefined;
  #inputTokens = 0;
  #outputTokens = 0;
  #usd = 0;
  #wasStopped = false;

  constructor(id: string, deliveryId: string | undefined) {
    this.id = id;
    this.deliveryId = deliveryId;
    this.expectsOwnText = deliveryId !== undefined;
  }

  /** The model said something to its end. */
  hear(answer: Answer): void {
    this.#last = answer;
    if (answer.stop === 'finished' && answer.text.trim() !== '') this.#said.push(answer.text);
    this.#inputTokens += answer.inputTokens;
    this.#outputTokens += answer.outputTokens;
    this.#usd += answer.usd;
  }

  /** It failed before the model was asked. */
  fail(error: string): void {
    this.hear({ text: '', thought: '', stop: 'failed', error, inputTokens: 0, outputTokens: 0, usd: 0 });
  }

  /** A retry that was waited for will not come, because somebody stopped the agent. */
  stopRetrying(): void {
    this.#wasStopped = true;
  }

  /** The agent works: nothing before this moment was the end. */
  goOn(): void {
    this.isActive = true;
    this.ending = undefined;
    this.goesOn = false;
    this.timesStalled = 0;
  }

  /** How it ended, as the port wants it. */
  report(): DriverReport {
    const common = { type: 'turnEnded', nativeTurnId: this.id, tasks: [] } as const;
    const usage = this.#usage();
    const ending = this.#ending();
    const answer = ending.status === 'succeeded' ? this.#answer() : '';
    return { ...common, ...ending, answer, ...(usage ? { usage } : {}) };
  }

  #ending(): { status: 'succeeded' | 'failed' | 'interrupted'; error?: AgentError } {
    const { stop, error } = this.#last ?? { stop: 'finished', error: '' };
    if (this.#wasStopped || stop === 'aborted') return { status: 'interrupted' };
    if (stop === 'failed') return { status: 'failed', error: readAgentError(error) };
    return { status: 'succeeded' };
  }

  // Text that goes with a tool call is commentary; when nothing came after the last one, it is all there is.
  #answer(): string {
    const last = this.#last?.text ?? '';
    const text = last.trim() === '' ? this.#said.join('\n') : last;
    return text.length <= longestAnswer ? text : text.slice(0, longestAnswer) + cutMark;
  }

  #usage(): Usage | undefined {
    if (this.#inputTokens + this.#outputTokens === 0) return undefined;
    return { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens, usd: this.#usd };
  }
}

/** The id of the turn that began with this text, and of the command that sent it. */
export function turnIdOf(deliveryId: string): string {
  return `prompt:${deliveryId}`;
}
