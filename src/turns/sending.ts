import { reach } from '../base/faults.ts';
import type { TurnId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import type { Conversation, SendOutcome } from '../drivers/port.ts';
import type { Failure } from '../ledger/execution.ts';
import { markWritten, moveTurn } from '../ledger/lane.ts';
import { ask } from '../ledger/questions.ts';
import { sendFailed } from '../ledger/send-failed.ts';
import type { Turn } from '../ledger/turn.ts';
import type { TurnsContext } from './ports.ts';

/**
 * The text of a turn on its way to the agent: what this process knows of it beyond the ledger. A text is never sent again
 * without evidence that the agent has not got it.
 */
export class Sending {
  readonly #context: TurnsContext;
  /** The turn that this process took the lane for: of any other one, an earlier process may have sent the text. */
  #own: TurnId | undefined;
  /** The turn whose text is with the agent, or may be. */
  #sent: TurnId | undefined;
  /** The same, when nobody knows whether the agent has it. */
  #uncertain: TurnId | undefined;

  constructor(context: TurnsContext) {
    this.#context = context;
  }

  get own(): TurnId | undefined {
    return this.#own;
  }

  /** The lane was taken for this turn, whose text nobody has sent. */
  take(id: TurnId): void {
    this.#own = id;
  }

  isSent(id: TurnId): boolean {
    return this.#sent === id;
  }

  /** Whether this process knows that the text was never sent. */
  isUnsent(id: TurnId): boolean {
    return id === this.#own && id !== this.#sent;
  }

  /** A conversation was opened; this text, if any, is with its agent or may be. */
  opened(pending: TurnId | undefined): void {
    this.#sent = pending ?? this.#sent;
    this.#uncertain = pending;
  }

  /** The process is dead. What became of a text that it had is in its record, which is asked before anything is sent. */
  died(): void {
    if (this.#sent !== undefined) this.#own = undefined;
    this.#sent = undefined;
  }

  /** The process was ended, and its record was asked. */
  ended(): void {
    this.#sent = undefined;
  }

  /** Hands the text to the agent. `later`: nobody can say yet whether it arrived, and it must be asked again. */
  async send(conversation: Conversation, turn: Turn): Promise<'done' | 'later'> {
    await this.#moveTurn(turn);
    reach('send.before');
    const outcome = await conversation.start({ id: turn.id, text: turn.text });
    reach('send.written');
    return this.#record(conversation, turn, outcome);
  }

  /** A text whose sending nobody is certain of: only what the agent provably never got fails, and is sent again. */
  async resolve(conversation: Conversation, turn: Turn): Promise<'done' | 'later'> {
    if (this.#uncertain !== turn.id) return 'done';
    const evidence = await conversation.evidence(turn.id);
    // What waits in a queue can still be taken back there.
    if (evidence.state === 'unknown' || evidence.state === 'queued') return 'later';
    this.#uncertain = undefined;
    if (evidence.state !== 'absent') return 'done';
    this.#sent = undefined;
    await this.fail(turn, { code: 'AGENT_FAILED', message: 'The agent never got the text.' }, false);
    return 'done';
  }

  /** Tells the ledger that the agent provably never got the text. `isFinal`: no other send can succeed. */
  async fail(turn: Turn, error: Failure, isFinal: boolean): Promise<void> {
    const { store, clock, ids } = this.#context;
    const fresh = new FreshIds(ids);
    await store.decide(() => sendFailed({ now: clock.now(), turnId: turn.id, error, isFinal, fresh }));
  }

  async #moveTurn(turn: Turn): Promise<void> {
    const { store, clock } = this.#context;
    const session = await store.read(() => ask('session', turn.sessionId));
    if (session?.epoch === turn.epoch) return;
    await store.decide(() => moveTurn({ now: clock.now(), turnId: turn.id }));
  }

  async #record(conversation: Conversation, turn: Turn, outcome: SendOutcome): Promise<'done' | 'later'> {
    if (outcome.outcome === 'refused') {
      await this.fail(turn, { code: 'AGENT_FAILED', message: this.#context.redact(outcome.reason) }, false);
      return 'done';
    }
    this.#sent = turn.id;
    const { store, clock } = this.#context;
    await store.decide(() => markWritten({ now: clock.now(), turnId: turn.id }));
    if (outcome.outcome !== 'uncertain') return 'done';
    this.#context.report('send.uncertain', { turnId: turn.id, reason: outcome.reason });
    this.#uncertain = turn.id;
    return this.resolve(conversation, turn);
  }
}
