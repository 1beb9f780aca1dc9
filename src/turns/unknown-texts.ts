import type { SessionId } from '../base/ids.ts';
import type { Conversation } from '../drivers/port.ts';
import { wakeLater } from '../ledger/agent-process.ts';
import type { Turn } from '../ledger/turn.ts';
import type { OpenSession } from './open-session.ts';
import type { NotOpened } from './opening.ts';
import type { TurnsContext } from './ports.ts';
import type { Sending } from './sending.ts';
import { withdrawLeftovers } from './steering.ts';

/** How long to wait before something unknown is looked for again: at first, and twice as long each time, up to the longest. */
const firstLookMs = 2_000;
const longestLookMs = 60_000;

/**
 * Finds out what became of the texts that have left us and of which nothing was heard. What cannot be known now is looked
 * for again later: silence is no proof (invariant 5).
 */
export class UnknownTexts {
  readonly #context: TurnsContext;
  readonly #sessionId: SessionId;
  readonly #sending: Sending;
  /** Looks in a row that found nothing out. */
  #looks = 0;

  constructor(context: TurnsContext, sessionId: SessionId, sending: Sending) {
    this.#context = context;
    this.#sessionId = sessionId;
    this.#sending = sending;
  }

  /** Something was heard of the agent: the next look comes soon. */
  heard(): void {
    this.#looks = 0;
  }

  /** Owes another look. */
  async lookLater(): Promise<void> {
    const { store, clock } = this.#context;
    const delayMs = Math.min(longestLookMs, firstLookMs * 2 ** this.#looks++);
    await store.decide(() => wakeLater({ now: clock.now(), sessionId: this.#sessionId, delayMs }));
  }

  /** Decides the text of a turn that has not begun by the agent's own record. */
  async resolve(conversation: Conversation, turn: Turn): Promise<void> {
    if ((await this.#sending.resolve(conversation, turn)) === 'later') await this.lookLater();
  }

  /** A turn has ended: steered texts that it did not take are taken back where that can be. */
  async withdrawAfterTurn(open: OpenSession): Promise<void> {
    if (await withdrawLeftovers(this.#context, this.#sessionId, open)) await this.lookLater();
  }

  /**
   * The conversation could not be opened: the text of the turn that has the lane fails if it provably was not sent, or if
   * there never will be a conversation in which it could be looked for.
   */
  async notOpened({ code, message }: NotOpened, turn: Turn | undefined): Promise<void> {
    const isUnsent = turn?.state === 'starting' && this.#sending.isUnsent(turn.id);
    const isFinal = code !== 'AGENT_FAILED';
    if (turn?.state === 'starting' && (isUnsent || isFinal))
      return this.#sending.fail(turn, { code, message }, isFinal);
    if (turn) await this.lookLater();
  }
}
