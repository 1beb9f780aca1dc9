import { reach } from '../base/faults.ts';
import type { SessionId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { Serial } from '../base/serial.ts';
import type { Conversation, Driver, DriverEvent, Opened, SendOutcome } from '../drivers/port.ts';
import { sessionOpened, wakeLater } from '../ledger/agent-process.ts';
import type { Failure } from '../ledger/execution.ts';
import { isSettled } from '../ledger/execution.ts';
import { markWritten, takeLane } from '../ledger/lane.ts';
import type { CallEvidence } from '../ledger/parent.ts';
import { ask } from '../ledger/questions.ts';
import type { Session } from '../ledger/session.ts';
import { sendFailed } from '../ledger/send-failed.ts';
import { claimSteer, resolveSteer } from '../ledger/steer.ts';
import type { Turn } from '../ledger/turn.ts';
import { buryAgent } from './death.ts';
import { observe } from './observe.ts';
import type { TurnsContext } from './ports.ts';
import { resolveAfterOpen } from './recovery.ts';

/** How long to wait before a conversation that could not be opened is tried again. */
const reopenDelayMs = 2000;

/** Opens of a conversation in a row that may end in the death of its process, before its text fails for good. */
const openLimit = 3;

/**
 * What happens to one session, one thing after the other: texts go out, events come in. It remembers nothing that
 * matters: the lane, the queue and the claims are in the ledger, and a new instance goes on from there.
 */
export class SessionTurns {
  readonly sessionId: SessionId;
  readonly #context: TurnsContext;
  readonly #serial = new Serial();
  #conversation: Conversation | undefined;
  #driver: Driver | undefined;
  /** The turn that this instance took the lane for: of any other one, an earlier process may have sent the text. */
  #own: Turn['id'] | undefined;
  /** The turn whose text is with the agent, or may be: it is not sent again without evidence. */
  #sent: Turn['id'] | undefined;
  #deaths = 0;
  #detached = false;

  constructor(context: TurnsContext, sessionId: SessionId) {
    this.#context = context;
    this.sessionId = sessionId;
  }

  /** Whether a conversation is open in this process. */
  get isOpen(): boolean {
    return this.#conversation !== undefined;
  }

  /** Sends whatever is due, if anything is. Idempotent: this is the handler of the session's wake-up. */
  deliver(): Promise<void> {
    return this.#serial.run(() => this.#deliver());
  }

  /** Finds out what became of everything that an earlier process had under way, before anything new. */
  recover(): Promise<void> {
    return this.#serial.run(async () => {
      const session = await this.#session();
      if (!session) return;
      reach('recover.step');
      const isIdle = session.laneTurn === null && session.wakeTurn === null;
      await this.#open(session, isIdle);
    });
  }

  /** The barrier of invariant 8: what the driver proves of a tool call, after all before it was told to the ledger. */
  async locate(meta: Readonly<Record<string, unknown>>): Promise<CallEvidence> {
    const conversation = this.#conversation;
    if (!conversation) return { state: 'ended' };
    const located = await conversation.locate({ meta });
    await this.#serial.run(() => undefined);
    if (located.state !== 'running') return located;
    return { ...located, byId: this.#driver?.capabilities.locatesCalls === 'byId' };
  }

  /** Asks the agent to stop its turn; its end arrives as an event. */
  async interrupt(): Promise<'asked' | 'idle' | 'unknown'> {
    return (await this.#conversation?.interrupt()) ?? 'idle';
  }

  /** Ends what the agent runs by itself in the background, where it can be told to. */
  async stopTasks(): Promise<void> {
    await this.#conversation?.stopTasks?.();
  }

  async answer(questionId: string, choice: string): Promise<boolean> {
    return (await this.#conversation?.answer(questionId, choice)) ?? false;
  }

  /** Ends the agent's process, and tells the ledger once it is dead. */
  end(reason: string): Promise<'dead' | 'unkillable'> {
    return this.#serial.run(async () => {
      const conversation = this.#conversation;
      this.#conversation = undefined;
      const result = conversation ? await conversation.end() : 'dead';
      if (result === 'dead') await buryAgent(this.#context, this.sessionId, conversation, reason);
      else this.#conversation = conversation;
      return result;
    });
  }

  /** Stops listening; the agent lives on. */
  detach(): Promise<void> {
    this.#detached = true;
    return this.#serial.run(async () => {
      await this.#conversation?.detach();
      this.#conversation = undefined;
    });
  }

  /** Resolves when everything accepted so far was handled. */
  idle(): Promise<void> {
    return this.#serial.idle();
  }

  async #deliver(): Promise<void> {
    if (this.#detached) return;
    const session = await this.#session();
    if (!session) return;
    const current = session.laneTurn === null ? undefined : await this.#turn(session.laneTurn);
    if (current && !this.#conversation) await this.#open(session, false);
    if (current?.state === 'starting' && this.#sent !== current.id) return this.#send(session, current.id);
    const { store, clock, ids, node } = this.#context;
    const fresh = new FreshIds(ids);
    const taken = await store.decide(() =>
      takeLane({ now: clock.now(), sessionId: this.sessionId, node, fresh }),
    );
    if (!taken.ok) return;
    if (taken.value.taken) {
      this.#own = taken.value.turn.id;
      return this.#send(session, taken.value.turn.id);
    }
    if (taken.value.why === 'busy') return this.#steer();
    if (taken.value.why === 'nothing') await this.#rest(session);
  }

  async #send(session: Session, id: Turn['id']): Promise<void> {
    const conversation = await this.#open(session, false);
    if (!conversation || this.#sent === id) return;
    const turn = await this.#turn(id);
    if (turn?.state !== 'starting') return;
    if (await this.#isCancelled(id)) {
      await this.#failSend(turn, { code: 'CANCELLED', message: 'Cancelled before it was sent.' }, true);
      return;
    }
    reach('send.before');
    const outcome = await conversation.start({ id: turn.id, text: turn.text });
    reach('send.written');
    await this.#recordSend(turn, outcome);
  }

  async #recordSend(turn: Turn, outcome: SendOutcome): Promise<void> {
    if (outcome.outcome === 'refused') {
      await this.#failSend(turn, { code: 'AGENT_FAILED', message: outcome.reason }, false);
      return;
    }
    this.#sent = turn.id;
    if (outcome.outcome === 'uncertain')
      this.#context.report('send.uncertain', { turnId: turn.id, ...outcome });
    const { store, clock } = this.#context;
    await store.decide(() => markWritten({ now: clock.now(), turnId: turn.id }));
  }

  async #failSend(turn: Turn, error: Failure, isFinal: boolean): Promise<void> {
    const { store, clock, ids } = this.#context;
    const fresh = new FreshIds(ids);
    await store.decide(() => sendFailed({ now: clock.now(), turnId: turn.id, error, isFinal, fresh }));
  }

  async #steer(): Promise<void> {
    const conversation = this.#conversation;
    if (!conversation || this.#driver?.capabilities.steer !== 'proven') return;
    const { store, clock, ids } = this.#context;
    const fresh = new FreshIds(ids);
    const claimed = await store.decide(() =>
      claimSteer({ now: clock.now(), sessionId: this.sessionId, fresh }),
    );
    const steer = claimed.ok ? claimed.value : undefined;
    if (!steer) return;
    reach('steer.before');
    // Written before it is sent: a claim that a crash leaves unwritten was provably never sent.
    await store.decide(() => resolveSteer({ now: clock.now(), steerId: steer.id, what: 'written' }));
    const outcome = await conversation.steer({ id: steer.id, text: steer.text });
    reach('steer.written');
    if (outcome.outcome !== 'refused') return;
    await store.decide(() => resolveSteer({ now: clock.now(), steerId: steer.id, what: 'refused' }));
  }

  /** A hosted session whose execution is closed has no more use for its process. */
  async #rest(session: Session): Promise<void> {
    if (session.hostedBy === null || !this.#conversation) return;
    const { hostedBy } = session;
    const host = await this.#context.store.read(() => ask('execution', hostedBy));
    if (!host?.closed) return;
    const conversation = this.#conversation;
    this.#conversation = undefined;
    if ((await conversation.end()) !== 'dead')
      this.#context.report('agent.unkillable', { sessionId: session.id });
    await buryAgent(this.#context, this.sessionId, conversation, 'its work is closed');
  }

  async #open(session: Session, adoptOnly: boolean): Promise<Conversation | undefined> {
    if (this.#conversation) return this.#conversation;
    const agent = this.#context.agent(session.agent);
    const opened = agent
      ? await this.#ask(session, agent, adoptOnly)
      : ({
          ok: false,
          code: 'AGENT_UNAVAILABLE',
          message: `No agent "${session.agent}" is configured.`,
        } as const);
    if (!opened.ok) {
      await this.#openFailed(session, opened);
      return undefined;
    }
    this.#conversation = opened.conversation;
    this.#driver = agent?.driver;
    const { store, clock, node } = this.#context;
    const { nativeId } = opened.conversation;
    const resolved = await resolveAfterOpen(this.#context, session, opened, {
      drain: () => this.#drain(),
      own: this.#own,
    });
    this.#sent = resolved.pending ?? this.#sent;
    await store.decide(() => sessionOpened({ now: clock.now(), sessionId: this.sessionId, nativeId, node }));
    return this.#conversation;
  }

  // Events that arrive while a conversation is being opened wait here, in order, until the old process is accounted for.
  #early: DriverEvent[] | undefined;

  async #ask(
    session: Session,
    agent: NonNullable<ReturnType<TurnsContext['agent']>>,
    adoptOnly: boolean,
  ): Promise<Opened> {
    this.#early = [];
    const steers = await this.#context.store.read(() => ask('openSteers', session.id));
    const tools = this.#context.tools(session.id);
    const opened = await agent.driver.open({
      sessionId: session.id,
      profile: agent.profile,
      cwd: session.cwd,
      directory: this.#context.directory(session.id),
      position: session.position,
      unresolved: [...(session.laneTurn ? [session.laneTurn] : []), ...steers.map((steer) => steer.id)],
      adoptOnly,
      emit: (event) => this.#receive(event),
      ...(tools ? { tools } : {}),
      ...(session.nativeId === null ? {} : { nativeId: session.nativeId }),
    });
    if (!opened.ok) this.#early = undefined;
    return opened;
  }

  async #tryLater(): Promise<void> {
    const { store, clock } = this.#context;
    await store.decide(() =>
      wakeLater({ now: clock.now(), sessionId: this.sessionId, delayMs: reopenDelayMs }),
    );
  }

  async #drain(): Promise<void> {
    for (const event of this.#early ?? []) await this.#handle(event);
    this.#early = undefined;
  }

  async #openFailed(session: Session, opened: Extract<Opened, { ok: false }>): Promise<void> {
    await buryAgent(this.#context, session.id, undefined, opened.message);
    if (opened.code === 'NOT_RUNNING') return;
    const turn = session.laneTurn === null ? await this.#laneTurn() : await this.#turn(session.laneTurn);
    this.#context.report('agent.notOpened', {
      sessionId: session.id,
      code: opened.code,
      message: opened.message,
    });
    if (turn?.state === 'starting') {
      await this.#failSend(
        turn,
        { code: opened.code, message: opened.message },
        opened.code !== 'AGENT_FAILED',
      );
    }
  }

  #receive(event: DriverEvent): void {
    if (this.#early) this.#early.push(event);
    else
      void this.#serial.run(() => this.#handle(event)).catch((error: unknown) => this.#report(event, error));
  }

  async #handle(event: DriverEvent): Promise<void> {
    if (event.type === 'exited') return this.#died(event.reason);
    const isProof = this.#driver?.capabilities.negativeProof === 'turnEnd';
    if (event.type === 'turnStarted') this.#deaths = 0;
    const consequence = await observe(this.#context, this.sessionId, event, isProof);
    if (event.type === 'turnEnded') await this.#withdrawLeftovers();
    if (consequence === 'mayDeliver' && !this.#early) await this.#deliver();
  }

  /** A driver that proves by withdrawal is asked for every text whose turn has ended without it. */
  async #withdrawLeftovers(): Promise<void> {
    const conversation = this.#conversation;
    if (!conversation || this.#driver?.capabilities.negativeProof !== 'withdraw') return;
    const { store, clock } = this.#context;
    for (const steer of await store.read(() => ask('openSteers', this.sessionId))) {
      const answer = await conversation.withdraw(steer.id);
      if (answer !== 'withdrawn') continue;
      await store.decide(() => resolveSteer({ now: clock.now(), steerId: steer.id, what: 'withdrawn' }));
    }
  }

  async #died(reason: string): Promise<void> {
    const conversation = this.#conversation;
    if (!conversation) return;
    this.#conversation = undefined;
    this.#sent = undefined;
    await buryAgent(this.#context, this.sessionId, conversation, reason);
    this.#deaths++;
    const turn = await this.#laneTurn();
    if (turn?.state !== 'starting') return;
    if (this.#deaths < openLimit) return this.#deliver();
    await this.#failSend(
      turn,
      { code: 'AGENT_UNAVAILABLE', message: `The agent died ${this.#deaths} times: ${reason}` },
      true,
    );
  }

  async #isCancelled(id: Turn['id']): Promise<boolean> {
    const owners = await this.#context.store.read(() => ask('owners', id));
    return owners.every((owner) => isSettled(owner.state) || owner.cancelRequested !== null);
  }

  #report(event: DriverEvent, error: unknown): void {
    this.#context.report('turns.failed', {
      sessionId: this.sessionId,
      event: event.type,
      error: String(error),
    });
  }

  #session(): Promise<Session | undefined> {
    return this.#context.store.read(() => ask('session', this.sessionId));
  }

  #turn(id: Turn['id']): Promise<Turn | undefined> {
    return this.#context.store.read(() => ask('turn', id));
  }

  async #laneTurn(): Promise<Turn | undefined> {
    const session = await this.#session();
    return session?.laneTurn ? this.#turn(session.laneTurn) : undefined;
  }
}
