import type { AgentProfile } from '../port.ts';
import type { OpencodeApi } from './api.ts';
import type { AskedQuestion } from './read-event.ts';

const nobody = 'Nobody is here to permit this. Do without it.';
const noAnswer = 'Nobody is here to answer. Decide yourself.';

/** Answers what opencode asks in one conversation, by the profile or by a person. */
export class Questions {
  readonly #api: OpencodeApi;
  readonly #onQuestion: NonNullable<AgentProfile['onQuestion']>;
  readonly #open = new Map<string, AskedQuestion>();
  readonly #answered = new Set<string>();

  constructor(api: OpencodeApi, profile: AgentProfile) {
    this.#api = api;
    this.#onQuestion = profile.onQuestion ?? 'deny';
  }

  /** A question arrived, or was found to be open. True when a person has to answer it. */
  take(asked: AskedQuestion): boolean {
    const { questionId } = asked.signal;
    if (this.#onQuestion === 'ask') {
      this.#open.set(questionId, asked);
      return true;
    }
    if (this.#answered.has(questionId)) return false;
    this.#answered.add(questionId);
    // A refusal without a word would end the turn; with one, the agent is told and goes on.
    void this.#reply(asked, asked.kind === 'permission' && this.#onQuestion === 'allow' ? 'once' : undefined);
    return false;
  }

  /** Gives a person's answer. False when the question is not open, or the choice was not offered. */
  async answer(questionId: string, choice: string): Promise<boolean> {
    const asked = this.#open.get(questionId);
    if (!asked) return false;
    if (asked.kind === 'permission' && !asked.signal.choices.includes(choice)) return false;
    this.#open.delete(questionId);
    const isTaken = await this.#reply(asked, choice);
    // Whoever else answered first has settled it.
    return isTaken;
  }

  /** A question is settled, by whomever. */
  settled(questionId: string): void {
    this.#open.delete(questionId);
  }

  async #reply({ kind, count, signal }: AskedQuestion, choice: string | undefined): Promise<boolean> {
    const path = `/${kind}/${signal.questionId}/reply`;
    const body =
      kind === 'permission'
        ? choice === 'once'
          ? { reply: 'once' }
          : {
              reply: 'reject',
              message: choice === undefined ? nobody : 'A person refused this. Do without it.',
            }
        : { answers: answersOf(choice ?? noAnswer, count) };
    const answer = await this.#api.call('POST', path, body);
    return answer.outcome === 'ok';
  }
}

/** Several questions are answered line by line; what has no line gets the last one. */
function answersOf(choice: string, count: number): string[][] {
  const lines = count === 1 ? [choice] : choice.split('\n');
  return Array.from({ length: Math.max(count, 1) }, (_, index) => [lines[index] ?? lines.at(-1) ?? choice]);
}
