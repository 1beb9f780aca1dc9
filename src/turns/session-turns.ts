import { reach } from '../base/faults.ts';
import type { SessionId, TurnId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { Serial } from '../base/serial.ts';
import type { Conversation, DriverEvent } from '../drivers/port.ts';
import { mayBeJoined } from '../ledger/interruption.ts';
import { takeLane } from '../ledger/lane.ts';
import type { CallEvidence } from '../ledger/parent.ts';
import { ask } from '../ledger/questions.ts';
import type { Session } from '../ledger/session.ts';
import type { Death } from './death.ts';
import { buryAgent } from './death.ts';
import type { OpenSession } from './open-session.ts';
import { capabilitiesOf } from './open-session.ts';
import type { NotOpened } from './opening.ts';
import { openConversation } from './opening.ts';
import { mayEndIdle } from './idle.ts';
import { observe } from './observe.ts';
import type { TurnsContext } from './ports.ts';
import { Sending } from './sending.ts';
import { SessionRows } from './session-rows.ts';
import type { ScreenFound } from './screen.ts';
import { takeOverdue } from './questions.ts';
import { steerNext, withdrawLeftovers } from './steering.ts';
import { UnknownTexts } from './unknown-texts.ts';

/** Deaths in a row, without a turn seen to begin in between, after which a text fails for good. */
const deathLimit = 3;

/**
 * What happens to one session, one thing after the other: texts go out, events come in. It remembers nothing that
 * matters: the lane, the queue and the claims are in the ledger, and a new instance goes on from there.
 */
export class SessionTurns {
  readonly sessionId: SessionId;
  readonly #context: TurnsContext;
  readonly #serial = new Serial();
  #open: OpenSession | undefined;
  readonly #rows: SessionRows;
  readonly #sending: Sending;
  readonly #unknown: UnknownTexts;
  /** Nothing of the session lives: there is nothing to adopt or to end. */
  #isDead = false;
  #deaths = 0;
  /** Of the opening that is under way. */
  #opening: AbortController | undefined;
  #isDetached = false;
  /** Events that wait to be told to the ledger. */
  #unheard = 0;
  /** Something may be sent since the last event that was told, and nothing was tried yet. */
  #mayDeliver = false;
  #isRecovering = false;
  /** Why the conversation could not be opened when that was last tried. */
  #notOpen: NotOpened | undefined;

  constructor(context: TurnsContext, sessionId: SessionId) {
    this.#context = context;
    this.sessionId = sessionId;
    this.#rows = new SessionRows(context, sessionId);
    this.#sending = new Sending(context);
    this.#unknown = new UnknownTexts(context, sessionId, this.#sending);
  }

  /** Whether a conversation is open in this process. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Sends whatever is due, if anything is. Idempotent: this is the handler of the session's wake-up. */
  deliver(): Promise<void> {
    return this.#serial.run(() => this.#deliver());
  }

  /** Finds out what became of everything that an earlier process had under way, before anything new. */
  recover(): Promise<void> {
    this.#isRecovering = true;
    const recovered = this.#serial.run(async () => {
      const session = await this.#rows.session();
      if (!session) return;
      reach('recover.step');
      const hasTurn = session.laneTurn !== null || session.wakeTurn !== null;
      const isLeft =
        session.state === 'live' || (await this.#rows.hasOpenSteers()) || (await this.#rows.hasTasks());
      const open = hasTurn || isLeft ? await this.#ensureOpen(session, !hasTurn) : undefined;
      // Whoever was stopping it may have died.
      if (open) await this.#stopCancelled(open);
    });
    return recovered.finally(() => {
      this.#isRecovering = false;
    });
  }

  /** The barrier of invariant 8: what the driver proves of a tool call, after all before it was told to the ledger. */
  async locate(meta: Readonly<Record<string, unknown>>): Promise<CallEvidence> {
    // What runs may just not have been adopted yet.
    const early = this.#isRecovering ? await this.#rows.session() : undefined;
    if (early) await this.#serial.run(() => undefined);
    const open = this.#open;
    if (!open) return { state: 'ended' };
    const located = await open.conversation.locate({ meta });
    await this.#serial.run(() => undefined);
    const byId = capabilitiesOf(open).locatesCalls === 'byId';
    if (located.state === 'unknown') return located;
    // Without its turn's name, a call is of the turn that ran when it came, if that runs still.
    if (
      early &&
      !byId &&
      located.state === 'running' &&
      !(await this.#rows.isTurnOf(early, located.nativeTurnId))
    )
      return { state: 'unknown' };
    return { ...located, byId };
  }

  /** Asks the agent to stop its turn; its end arrives as an event. */
  async interrupt(): Promise<'asked' | 'idle' | 'unknown'> {
    return (await this.#open?.conversation.interrupt()) ?? 'idle';
  }

  /** Asks the agent to stop this very turn. One that was not seen to begin is asked when it begins. */
  async interruptTurn(id: TurnId): Promise<'asked' | 'idle' | 'unknown'> {
    const turn = await this.#rows.turn(id);
    // An agent that is being opened for nothing else need not be waited for.
    if (turn?.state === 'starting' && this.#opening) this.#opening.abort();
    if (turn?.state !== 'running' && turn?.state !== 'waiting') return 'idle';
    return (await this.#open?.conversation.interrupt(turn.nativeTurnId ?? undefined)) ?? 'idle';
  }

  /**
   * Ends what the agent runs by itself in the background; the ends come as events. An agent that cannot be told to loses
   * its process, unless a turn runs in it: then nothing happens, and it must be asked for again.
   */
  stopTasks(): Promise<void> {
    return this.#serial.run(async () => {
      const conversation = this.#open?.conversation;
      if (!conversation) return;
      if (conversation.stopTasks) return conversation.stopTasks();
      const session = await this.#rows.session();
      const isIdle = session?.laneTurn === null && session.wakeTurn === null;
      if (isIdle) await this.#end('its background work was cancelled');
    });
  }

  /** How the conversation is shown at the agent's own screen; it is opened for that. */
  screen(): Promise<ScreenFound> {
    return this.#serial.run(async () => {
      const session = await this.#rows.session();
      if (!session || this.#isDetached) return { ok: false, code: 'STOPPING' };
      if (session.state === 'stopped') return { ok: false, code: 'SESSION_STOPPED' };
      const open = await this.#ensureOpen(session, false);
      if (!open) return { ok: false, code: 'AGENT_FAILED', ...(this.#notOpen ? { why: this.#notOpen } : {}) };
      const screen = await open.conversation.screen?.();
      if (screen) return { ok: true, screen };
      return { ok: false, code: open.conversation.screen ? 'AGENT_FAILED' : 'TERMINAL_UNAVAILABLE' };
    });
  }

  /** Answers a question of the agent. False when it is no longer open. */
  async answer(questionId: string, choice: string): Promise<boolean> {
    return (await this.#open?.conversation.answer(questionId, choice)) ?? false;
  }

  /** Says no to a question that nobody has answered in time; a turn that asks what has no such answer is stopped. */
  async declineOverdue(): Promise<void> {
    const question = await takeOverdue(this.#context, this.sessionId);
    if (!question) return;
    const { questionId, declines } = question;
    if (questionId === undefined || declines === undefined) await this.interrupt();
    else await this.answer(questionId, declines);
  }

  /** Ends the agent's process, and tells the ledger once it is dead. */
  end(reason: string): Promise<'dead' | 'unkillable'> {
    return this.#serial.run(() => this.#end(reason));
  }

  /** Ends the agent's process, unless a person's message has begun the session again since it was stopped. */
  endStopped(): Promise<void> {
    return this.#serial.run(async () => {
      if ((await this.#rows.session())?.state === 'stopped') await this.#end('the session was stopped');
    });
  }

  /** Ends an agent's process that is of no use: the next text opens the conversation again, as if the process had died. */
  endIdle(): Promise<void> {
    return this.#serial.run(async () => {
      const session = await this.#rows.session();
      if (session?.state !== 'live' || this.#isDetached) return;
      const open = await this.#ensureOpen(session, true);
      const isHeard = this.#unheard === 0;
      if (!open || !(await mayEndIdle(this.#context, this.sessionId, open, !isHeard))) return;
      // What it says from here on would be lost with it; a text that comes now waits behind us, and opens it again.
      if (this.#unheard > 0 || (await this.#end('nothing needed it')) !== 'dead')
        await mayEndIdle(this.#context, this.sessionId, open, true);
    });
  }

  /** Stops listening; the agent lives on. */
  detach(): Promise<void> {
    this.#isDetached = true;
    return this.#serial.run(async () => {
      await this.#open?.conversation.detach();
      this.#open = undefined;
    });
  }

  async #deliver(): Promise<void> {
    if (this.#isDetached) return;
    const session = await this.#rows.session();
    if (!session) return;
    const current = session.laneTurn === null ? undefined : await this.#rows.turn(session.laneTurn);
    if (!this.#open && (current || (await this.#rows.hasOpenSteers())))
      await this.#ensureOpen(session, false);
    if (current?.state === 'starting') {
      const isSent = this.#sending.isSent(current.id);
      if (!isSent) return this.#send(session, current.id);
      return this.#open && this.#unknown.resolve(this.#open.conversation, current);
    }
    if (this.#open) await withdrawLeftovers(this.#context, this.sessionId, this.#open);
    const { store, clock, ids, node, limits } = this.#context;
    const fresh = new FreshIds(ids);
    const { sessionId } = this;
    const taken = await store.decide(() => takeLane({ now: clock.now(), sessionId, node, limits, fresh }));
    if (!taken.ok) return;
    if (taken.value.taken) {
      this.#sending.take(taken.value.turn.id);
      return this.#send(session, taken.value.turn.id);
    }
    if (taken.value.why === 'busy' && this.#open) return steerNext(this.#context, this.sessionId, this.#open);
    if (taken.value.why === 'nothing') await this.#rest(session);
    const isIdle = !current && session.wakeTurn === null;
    if (taken.value.why === 'stopped' && isIdle && !this.#isDead) await this.#end('the session was stopped');
  }

  async #send(session: Session, id: TurnId): Promise<void> {
    const open = await this.#ensureOpen(session, false);
    if (!open || this.#sending.isSent(id)) return;
    const turn = await this.#rows.turn(id);
    if (turn?.state !== 'starting') return;
    if (await this.#rows.isCancelled(id)) {
      return this.#sending.fail(turn, { code: 'CANCELLED', message: 'Cancelled before it was sent.' }, true);
    }
    if ((await this.#sending.send(open.conversation, turn)) === 'later') await this.#unknown.lookLater();
  }

  /** A hosted session whose execution is closed has no more use for its process. */
  async #rest(session: Session): Promise<void> {
    const { hostedBy } = session;
    // One that could not be adopted may live all the same.
    const mayLive = this.#open !== undefined || (!this.#isDead && session.state === 'live');
    if (hostedBy === null || !mayLive) return;
    const host = await this.#context.store.read(() => ask('execution', hostedBy));
    if (host?.closed) await this.#end('its work is closed');
  }

  async #end(reason: string): Promise<'dead' | 'unkillable'> {
    const session = await this.#rows.session();
    // What an earlier process left may still live.
    if (!this.#isDead && session) await this.#ensureOpen(session, true);
    const open = this.#open;
    if (!open && !this.#isDead) {
      await this.#unknown.lookLater();
      return 'unkillable';
    }
    this.#open = undefined;
    reach('agent.ending');
    const result = open ? await open.conversation.end() : 'dead';
    reach('agent.ended');
    if (result === 'dead') {
      this.#sending.ended();
      await this.#bury(open?.conversation, { reason });
    } else this.#open = open;
    return result;
  }

  async #bury(conversation: Conversation | undefined, death: Death): Promise<void> {
    this.#isDead = true;
    await buryAgent(this.#context, this.sessionId, conversation, death);
  }

  async #ensureOpen(session: Session, adoptOnly: boolean): Promise<OpenSession | undefined> {
    if (this.#open) return this.#open;
    const opening = new AbortController();
    this.#opening = opening;
    const opened = await openConversation(this.#context, session, {
      adoptOnly,
      signal: opening.signal,
      own: this.#sending.own,
      receive: (event, open) => this.#receive(event, open),
      handle: (event, open) => this.#handle(event, open),
    }).finally(() => {
      this.#opening = undefined;
    });
    this.#notOpen = opened.ok ? undefined : opened;
    if (!opened.ok) {
      await this.#notOpened(opened, session);
      return undefined;
    }
    // Its process may have died while what it had said was being told.
    if (opened.isDead) return undefined;
    this.#open = opened.open;
    this.#unknown.heard();
    this.#isDead = false;
    this.#sending.opened(opened.pending);
    return this.#open;
  }

  async #notOpened({ code, message }: NotOpened, session: Session): Promise<void> {
    // Only a failure that may pass leaves it open whether the old process lives.
    if (code !== 'AGENT_FAILED') {
      const death = { reason: message, isRecordUnread: code === 'NOT_RUNNING' };
      await this.#bury(undefined, death);
    }
    if (code === 'NOT_RUNNING' || this.#context.isStopping()) return;
    this.#context.report('agent.notOpened', { sessionId: session.id, code, message });
    // A text that an earlier process may have sent must be looked for before it may be sent again.
    await this.#unknown.notOpened({ code, message }, await this.#rows.laneTurn());
  }

  // What a conversation said is nothing to the one that was opened after it.
  #receive(event: DriverEvent, open: OpenSession): void {
    this.#unheard++;
    const handled = this.#serial.run(() => {
      this.#unheard--;
      return this.#open === open ? this.#handle(event, open) : undefined;
    });
    void handled.catch((error: unknown) => {
      this.#context.report('turns.failed', {
        sessionId: this.sessionId,
        event: event.type,
        error: String(error),
      });
    });
  }

  async #handle(event: DriverEvent, open: OpenSession): Promise<void> {
    if (event.type === 'exited') return this.#died(event, open.conversation);
    this.#unknown.heard();
    if (event.type === 'turnStarted') this.#deaths = 0;
    const consequence = await observe(this.#context, this.sessionId, event, {
      ...open,
      capabilities: capabilitiesOf(open),
    });
    if (event.type === 'turnStarted' || event.type === 'taken') await this.#stopCancelled(open);
    if (event.type === 'turnEnded') await this.#unknown.withdrawAfterTurn(open);
    if (consequence === 'mayDeliver') this.#mayDeliver = true;
    // What the agent said already is heard first: behind the end of a turn there may be the start of the next one.
    if (!this.#mayDeliver || this.#unheard > 0 || !this.#open) return;
    this.#mayDeliver = false;
    await this.#deliver();
  }

  /** What was cancelled before it was seen to begin is stopped now. */
  async #stopCancelled({ conversation }: OpenSession): Promise<void> {
    const session = await this.#rows.session();
    const id = session?.wakeTurn ?? session?.laneTurn;
    const turn = id ? await this.#rows.turn(id) : undefined;
    if (turn?.state !== 'running' || !(await this.#rows.isCancelled(turn.id))) return;
    const { store, clock } = this.#context;
    if (await store.read(() => mayBeJoined(clock.now(), turn))) return;
    await conversation.interrupt(turn.nativeTurnId ?? undefined);
  }

  async #died(exit: Extract<DriverEvent, { type: 'exited' }>, conversation: Conversation): Promise<void> {
    const { reason, position } = exit;
    this.#open = undefined;
    this.#sending.died();
    await this.#bury(conversation, { reason, position });
    // Nothing comes from it any more: what it was listened to with is let go.
    await conversation.detach();
    this.#deaths++;
    const turn = await this.#rows.laneTurn();
    if (turn?.state !== 'starting' || this.#deaths < deathLimit) {
      // Of an agent that dies while it is being opened, everything else must be known first. The death owes a wake-up.
      return this.#opening ? undefined : this.#deliver();
    }
    const message = `The agent died ${this.#deaths} times: ${reason}`;
    await this.#sending.fail(turn, { code: 'AGENT_UNAVAILABLE', message }, true);
  }
}
