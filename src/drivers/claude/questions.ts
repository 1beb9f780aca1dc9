import { choose, decide, replyLine, type Reply } from './answers.ts';
import type { WriteLine } from './controls.ts';
import type { Question } from './state.ts';

/** What the questions of an agent need from their conversation. */
export interface QuestionsOwner {
  readonly policy: 'deny' | 'allow' | 'ask';
  /** Those that are open, as the output shows them. */
  readonly open: () => ReadonlyMap<string, Question>;
  readonly write: WriteLine;
}

/**
 * The agent's questions: each is answered once, by the profile or by a person. The agent repeats every answer in its
 * output, so whether one was answered is known after a restart too; only what is on its way is remembered here.
 */
export class Questions {
  readonly #owner: QuestionsOwner;
  readonly #answered = new Set<string>();
  #isLive = false;

  constructor(owner: QuestionsOwner) {
    this.#owner = owner;
  }

  /** The old output has been read to its end: what is open then was never answered. */
  goLive(): void {
    this.#isLive = true;
    for (const id of this.#owner.open().keys()) this.take(id);
  }

  /** A question arrived. Nobody is to be asked about most. */
  take(id: string): void {
    const question = this.#owner.open().get(id);
    if (!question || !this.#isLive || this.#answered.has(id)) return;
    const reply = decide(this.#owner.policy, question);
    if (reply) void this.#reply(id, question, reply);
  }

  /** A person chose. False when the question is not open, or this is none of its choices. */
  async answer(id: string, choice: string): Promise<boolean> {
    const question = this.#owner.open().get(id);
    if (!question || question.isOrphan || this.#answered.has(id)) return false;
    const reply = choose(question, choice);
    return reply !== undefined && this.#reply(id, question, reply);
  }

  /** What nobody will be able to answer any more, as it was asked. */
  unanswered(): string[] {
    return [...this.#owner.open().values()].flatMap(({ isOrphan, text }) => (isOrphan ? [] : [text]));
  }

  async #reply(id: string, question: Question, reply: Reply): Promise<boolean> {
    this.#answered.add(id);
    const outcome = await this.#owner.write(replyLine(id, question, reply));
    if (outcome === 'refused') this.#answered.delete(id);
    return outcome !== 'refused';
  }
}
