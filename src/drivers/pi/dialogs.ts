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
  /** Whether this turn still runs and waits for no limit: only then is anything to be said of what it asks. */
  readonly mayTell: (turnId: string) => boolean;
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
  /** The turn of the last question in an old output that a person had answered. */
  #settledIn: string | undefined;

  constructor(owner: DialogsOwner) {
    this.#owner = owner;
  }

  /** A dialog opened. Outside of a turn nobody can be asked: there is nothing that could wait. */
  take(question: Question, turnId: string | undefined): void {
    const { id } = question;
    const reply = turnId === undefined ? dismissed(id) : decide(this.#owner.policy, question);
    if (this.#owner.wasReplied(id)) {
      // Whoever answered it may have died before anybody was told.
      if (!reply) this.#settledIn = turnId;
      return;
    }
    if (reply) return this.#whenLive(() => this.#owner.reply(id, reply));
    const asked = { question, turnId: turnId ?? '' };
    this.#open.set(id, asked);
    if (!this.#held && this.#owner.mayTell(asked.turnId)) this.#owner.onAsk(shown(question));
  }

  /** A person chose. False when the question is not open, or this is none of its choices. */
  answer(id: string, choice: string): boolean {
    const open = this.#open.get(id);
    const reply = open && choose(open.question, choice);
    return open !== undefined && reply !== undefined && this.#settle(id, open.turnId, reply);
  }

  /** The turn is being stopped, and nobody is asked any more. */
  dismissAll(): void {
    const all = [...this.#open];
    this.#open.clear();
    for (const [id, { turnId }] of all) this.#settle(id, turnId, dismissed(id));
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
    if (this.#settledIn !== undefined && this.#owner.mayTell(this.#settledIn)) this.#owner.onSettled();
    this.askAgain();
  }

  /** What was said of the turn since it asked is over: it still waits for the answer. */
  askAgain(): void {
    const [next] = this.#open.values();
    if (next && !this.#held && this.#owner.mayTell(next.turnId)) this.#owner.onAsk(shown(next.question));
  }

  #settle(id: string, turnId: string, reply: Reply): boolean {
    this.#open.delete(id);
    this.#whenLive(() => this.#owner.reply(id, reply));
    // A turn that waits for a limit as well does not go on by an answer.
    if (this.#owner.mayTell(turnId)) this.#owner.onSettled();
    // Of several that were open, the others still are.
    this.askAgain();
    return true;
  }

  #whenLive(act: () => void): void {
    if (this.#held) this.#held.push(act);
    else act();
  }
}
