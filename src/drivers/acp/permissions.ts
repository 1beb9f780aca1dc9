import type { RequestPermissionOutcome } from '@agentclientprotocol/sdk';
import { type RpcId, writeMessage } from './messages.ts';
import { choicesOf, choose, decide, offered, type Question, undecided } from './questions.ts';

/** A question as it is shown to a person. */
interface AskedQuestion {
  readonly questionId: string;
  readonly text: string;
  readonly choices: readonly string[];
  /** Which of them says no to this alone. */
  readonly declines?: string;
}

/** What the questions of an agent need from their conversation. */
export interface PermissionsOwner {
  readonly policy: 'deny' | 'allow' | 'ask';
  /** A person must decide. */
  readonly onAsk: (question: AskedQuestion) => void;
  /** Nothing is asked any more of what `onAsk` said. */
  readonly onSettled: () => void;
  /** Whether this request was answered before, by us or by who had this conversation before us. */
  readonly wasReplied: (key: string) => boolean;
  /** Hands a line to the agent; `key` is to be remembered when it is there. */
  readonly reply: (key: string, line: string) => void;
}

interface OpenQuestion {
  readonly id: RpcId;
  readonly question: Question;
  readonly turnId: string;
}

/** The agent's permission requests: each is answered exactly once, by the profile, by a person, or by the turn's end. */
export class Permissions {
  readonly #owner: PermissionsOwner;
  readonly #open = new Map<string, OpenQuestion>();
  /** Replies found while an old output was read again; they are given when it has been read to its end. */
  #held: (() => void)[] | undefined = [];

  constructor(owner: PermissionsOwner) {
    this.#owner = owner;
  }

  /** A request arrived. Without a turn nobody can be asked: there is nothing that could wait. */
  take(id: RpcId, question: Question, turnId: string | undefined): void {
    const key = keyOf(id);
    const outcome = turnId === undefined ? undecided : decide(this.#owner.policy, question);
    if (this.#owner.wasReplied(key)) {
      // Whoever answered it may have died before anybody was told.
      if (!outcome) this.#whenLive(() => this.#owner.onSettled());
      return;
    }
    if (outcome) return this.#reply(id, outcome);
    this.#open.set(key, { id, question, turnId: turnId ?? '' });
    this.#ask(key, question);
  }

  #ask(questionId: string, question: Question): void {
    const choices = choicesOf(question);
    const no = choices[offered(question).findIndex(({ kind }) => kind === 'reject_once')];
    const declines = no === undefined ? {} : { declines: no };
    this.#owner.onAsk({ questionId, text: question.text, choices, ...declines });
  }

  /** A request that has no other answer than this line. */
  refuse(id: RpcId, line: string): void {
    this.#whenLive(() => this.#owner.reply(keyOf(id), line));
  }

  /** A person chose. False when the question is not open, or this is none of its choices. */
  answer(questionId: string, choice: string): boolean {
    const open = this.#open.get(questionId);
    const outcome = open && choose(open.question, choice);
    return outcome !== undefined && this.#settle(questionId, outcome);
  }

  /** The agent does not want to know any more. */
  withdraw(id: unknown): void {
    this.#settle(keyOf(id), undecided);
  }

  /** The turn is being interrupted: ACP wants its questions answered as cancelled. */
  cancelAll(): void {
    for (const key of [...this.#open.keys()]) this.#settle(key, undecided);
  }

  /** The turn ended, or (without a turn) the process: its questions are void. */
  forget(turnId?: string): void {
    for (const [key, open] of this.#open)
      if (turnId === undefined || open.turnId === turnId) this.#open.delete(key);
  }

  /** The old output has been read to its end: from now on replies are given as they come. */
  goLive(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const act of held) act();
  }

  #settle(key: string, outcome: RequestPermissionOutcome): boolean {
    const open = this.#open.get(key);
    if (!open) return false;
    this.#open.delete(key);
    this.#reply(open.id, outcome);
    this.#owner.onSettled();
    // Of several that were open, the others still are.
    const [next] = this.#open;
    if (next) this.#ask(next[0], next[1].question);
    return true;
  }

  #reply(id: RpcId, outcome: RequestPermissionOutcome): void {
    this.#whenLive(() =>
      this.#owner.reply(keyOf(id), writeMessage({ jsonrpc: '2.0', id, result: { outcome } })),
    );
  }

  #whenLive(act: () => void): void {
    if (this.#held) this.#held.push(act);
    else act();
  }
}

function keyOf(id: unknown): string {
  return `ask:${JSON.stringify(id)}`;
}
