import type { AgentProfile } from '../port.ts';
import { type AskedQuestion, choose, decide, dismissed, type Reply, shown } from './questions.ts';
import type { Question } from './wire.ts';

/** What the questions of an agent need from their conversation. */
export interface DialogsOwner {
  readonly policy: NonNullable<AgentProfile['onQuestion']>;
  /** A person must decide. */
  readonly onAsk: (question: AskedQuestion) => void;
  /** Nothing is asked any more of what `onAsk` said. */
  readonly onSettled: () => void;
  /** Whether this one was answered before, by us or by who had this conversation before us. */
  readonly wasReplied: (id: string) => boolean;
  readonly reply: (id: string, said: Reply) => void;
}

interface OpenQuestion {
  readonly question: Question;
  readonly turnId: string;
}

/** The dialogs that extensions of pi open: each is answered exactly once, by the profile, a person, or the turn's end. */
export class Dialogs {
  readonly #owner: DialogsOwner;
  readonly #open = new Map<string, OpenQuestion>();
  /** What is to be done when an old output has been read to its end. */
  #held: (() => void)[] | undefined = [];

  constructor(owner: DialogsOwner) {
    this.#owner = owner;
  }

  /** A dialog opened. Outside of a turn nobody can be asked: there is nothing that could wait. */
  take(question: Question, turnId: string | undefined): void {
    const { id } = question;
    const reply = turnId === undefined ? dismissed(id) : decide(this.#owner.policy, question);
    if (this.#owner.wasReplied(id)) {
      // Whoever answered it may have died before anybody was told.
      if (!reply) this.#whenLive(() => this.#owner.onSettled());
      return;
    }
    if (reply) return this.#whenLive(() => this.#owner.reply(id, reply));
    this.#open.set(id, { question, turnId: turnId ?? '' });
    this.#whenLive(() => {
      if (this.#open.has(id)) this.#owner.onAsk(shown(question));
    });
  }

  /** A person chose. False when the question is not open, or this is none of its choices. */
  answer(id: string, choice: string): boolean {
    const open = this.#open.get(id);
    const reply = open && choose(open.question, choice);
    return reply !== undefined && this.#settle(id, reply);
  }

  /** The turn is being stopped, and nobody is asked any more. */
  dismissAll(): void {
    for (const id of [...this.#open.keys()]) this.#settle(id, dismissed(id));
  }

  /** The turn ended, or (without a turn) the process: its questions are void. */
  forget(turnId?: string): void {
    for (const [id, open] of this.#open)
      if (turnId === undefined || open.turnId === turnId) this.#open.delete(id);
  }

  /** From now on questions are answered as they come. */
  goLive(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const act of held) act();
  }

  #settle(id: string, reply: Reply): boolean {
    this.#open.delete(id);
    this.#whenLive(() => this.#owner.reply(id, reply));
    this.#owner.onSettled();
    return true;
  }

  #whenLive(act: () => void): void {
    if (this.#held) this.#held.push(act);
    else act();
  }
}
