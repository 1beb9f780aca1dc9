import type { CancelTimer, Clock } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';
import { Serial } from '../../base/serial.ts';
import { endGroup } from '../../processes/group.ts';
import { isAlive } from '../../processes/process-identity.ts';
import type { OpenRequest } from '../port.ts';
import { OpencodeApi } from './api.ts';
import { readDeadRecord } from './dead-record.ts';
import { EventStream } from './event-stream.ts';
import { HeldEvents, isIdleOf } from './held-events.ts';
import type { Journal } from './journal.ts';
import { markMs, Marks } from './marks.ts';
import { Questions } from './questions.ts';
import { reduce } from './reduce.ts';
import type { OpencodeServer } from './server.ts';
import type { Signal } from './signal.ts';
import { isOurs, type SessionState } from './state.ts';
import { type AskedQuestion, type Heard, readEvent } from './read-event.ts';
import { RecordReader } from './record-reader.ts';
import { Waiters } from './waiters.ts';
import type { Recorded } from './wire.ts';

const livenessMs = 400;
const idleDoubtMs = 5_000;
const betweenReadsMs = 100;
const graceMs = 2_000;

/** What a session begins with. */
export interface SessionParts {
  readonly request: OpenRequest;
  readonly server: OpencodeServer;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly state: SessionState;
  /** Nothing of the session was ever heard: what its record has is past, but for our open texts. */
  readonly isNew: boolean;
  /** The process was started just now: it works on nothing. */
  readonly isNewProcess: boolean;
}

/**
 * One conversation on its own server: hears its stream, keeps what it heard, and tells what it means, strictly in order.
 * While the stream is broken, what is heard waits until the record was read.
 */
export class OpencodeSession {
  readonly api: OpencodeApi;
  readonly request: OpenRequest;
  readonly clock: Clock;
  readonly server: OpencodeServer;
  readonly questions: Questions;
  /** One text, interruption or withdrawal at a time. */
  readonly serial = new Serial();
  hasExited = false;
  readonly #journal: Journal;
  readonly #stream: EventStream;
  #state: SessionState;
  readonly #reader: RecordReader;
  readonly #held = new HeldEvents();
  readonly #waiters: Waiters;
  #isMuted = false;
  readonly #marks: Marks;
  #cancelCheck: CancelTimer | undefined;
  #cancelDoubt: CancelTimer | undefined;
  #deadRecord: Promise<readonly Recorded[] | undefined> | undefined;
  readonly #readings = new Serial();
  readonly #over = new AbortController();

  constructor({ request, server, clock, journal, state, isNew, isNewProcess }: SessionParts) {
    this.request = request;
    this.server = server;
    this.clock = clock;
    this.#waiters = new Waiters(clock, () => this.hasExited || this.#isMuted);
    this.api = new OpencodeApi(server);
    this.questions = new Questions(this.api, request.profile);
    this.#journal = journal;
    this.#state = state;
    this.#marks = new Marks({ api: this.api, sessionId: this.id, clock, waiters: this.#waiters });
    const host = {
      api: this.api,
      state: () => this.#state,
      take: (signal: Signal) => this.#takeRead(signal),
      takeQuestion: (asked: AskedQuestion) => this.#takeQuestion(asked),
    };
    this.#reader = new RecordReader(host, isNew, isNewProcess);
    this.#stream = new EventStream(this.api, clock, {
      onOpen: () => {
        const { generation } = this.#held;
        void this.#readings.run(() => this.#catchUp(generation));
      },
      onBroken: () => {
        this.#held.restart();
        this.#waiters.wake();
        this.#check();
      },
      onEvent: (event) => this.#hear(event),
    });
  }

  get id(): string {
    return this.#state.sessionId;
  }

  /** After everything that was heard and kept so far. */
  get state(): SessionState {
    return this.#state;
  }

  /** Begins to listen. */
  start(): void {
    this.#stream.start();
    this.#check();
  }

  /** Resolves once the record was read and the stream is heard; false at the deadline, or when the process has died. */
  async ready(withinMs: number): Promise<boolean> {
    return (await this.until(() => (this.#held.isHolding ? undefined : true), withinMs)) ?? false;
  }

  /** Takes in a signal, at its place in the order. */
  take(signal: Signal): void {
    const before = this.#state;
    const { state, events } = reduce(before, signal);
    if (state === before && events.length === 0) return;
    try {
      this.#journal.append(signal);
    } catch (error) {
      // What cannot be kept is told all the same; a restart may tell it again.
      this.#tell([
        { type: 'noise', what: `the journal cannot be written: ${String(error)}`, position: before.position },
      ]);
    }
    this.#state = state;
    this.#tell(events);
    this.#waiters.wake();
  }

  /** Resolves with what `read` gives as soon as it is defined; undefined at the deadline, or when nothing is heard any more. */
  until<Value>(read: () => Value | undefined, withinMs: number): Promise<Value | undefined> {
    return this.#waiters.until(read, withinMs);
  }

  /** The barrier: true when everything that the server had said before this call was taken in. */
  async flushed(withinMs = markMs): Promise<boolean> {
    const deadline = this.clock.monotonic() + withinMs;
    if (!(await this.ready(withinMs))) return false;
    return this.#marks.taken(deadline - this.clock.monotonic(), () => !this.#held.isHolding);
  }

  /** What opencode has on its disk, once its process is dead. Read once. */
  deadRecord(): Promise<readonly Recorded[] | undefined> {
    this.#deadRecord ??= readDeadRecord(this.request, this.id, this.clock);
    return this.#deadRecord;
  }

  /** Ends the process and everything below it; its death is told before this resolves, and nothing after. */
  async end(): Promise<'dead' | 'unkillable'> {
    this.#over.abort();
    this.#cancelCheck?.();
    this.#cancelDoubt?.();
    await this.#stream.close();
    const outcome = await endGroup(this.server.identity, { graceMs, clock: this.clock });
    if (outcome === 'dead' && !this.hasExited) {
      this.hasExited = true;
      this.take({ type: 'exited', reason: 'it was ended' });
    }
    this.#isMuted = true;
    this.#waiters.wake();
    return outcome;
  }

  /** Hears and tells nothing any more. */
  async close(): Promise<void> {
    this.#isMuted = true;
    this.#over.abort();
    this.#cancelCheck?.();
    this.#cancelDoubt?.();
    this.#waiters.wake();
    await this.#stream.close();
  }

  #tell(events: readonly Parameters<OpenRequest['emit']>[0][]): void {
    for (const event of events) if (!this.#isMuted) this.request.emit(event);
  }

  #hear(event: unknown): void {
    const heard = readEvent(event);
    if (Array.isArray(heard) && heard.length === 0) return;
    if ('mark' in heard && heard.sessionId === this.id) this.#marks.hear(heard.mark);
    const outcome = this.#held.add(heard);
    if (outcome === 'free') this.#takeHeard(heard);
    if (outcome === 'full') this.#stream.reopen();
  }

  #takeHeard(heard: Heard): void {
    if (Array.isArray(heard)) for (const signal of heard) this.#takeLive(signal);
    else if ('mark' in heard) {
      if (heard.sessionId === this.id) this.#marks.take(heard.mark);
    } else this.#takeQuestion(heard);
  }

  #takeRead(signal: Signal): void {
    this.take(signal);
    if (signal.type === 'settled') this.questions.settled(signal.questionId);
  }

  #takeLive(signal: Signal): void {
    this.#takeRead(signal);
    if (signal.type === 'idle' && signal.sessionId === this.id && this.#state.turn) this.#doubt();
  }

  #takeQuestion(asked: AskedQuestion): void {
    if (!isOurs(this.#state, asked.signal.sessionId)) return;
    if (this.questions.take(asked)) this.take(asked.signal);
  }

  /** It says that it is idle, and its last message is not closed: that comes at once, or it never will. */
  #doubt(): void {
    this.#cancelDoubt?.();
    this.#cancelDoubt = this.clock.after(idleDoubtMs, () => void this.#readings.run(() => this.#lookAgain()));
  }

  async #lookAgain(): Promise<void> {
    const { turn } = this.#state;
    // While events are held, a reading is on its way that doubts again.
    if (!turn || this.#held.isHolding) return;
    const unfinished = turn.newest?.completedAt === undefined ? turn.newest?.messageId : undefined;
    const generation = this.#held.hold();
    const isRead = await this.#read(generation);
    if (!this.#isNewest(generation)) return;
    if (!isRead) {
      this.#letGo();
      this.#waiters.wake();
      return this.#doubt();
    }
    if (!this.#release()) await this.#catchUp(generation);
    this.#waiters.wake();
    const now = this.#state.turn;
    if (now && now.newest?.messageId === unfinished && !this.#reader.isAtWork)
      this.take({ type: 'closed', messageId: unfinished ?? '', isBroken: true });
  }

  async #catchUp(generation: number): Promise<void> {
    while (this.#isNewest(generation)) {
      const isRead = await this.#read(generation);
      if (isRead && this.#isNewest(generation) && this.#release()) break;
      if (!isRead) await pause(this.clock, betweenReadsMs, this.#over.signal);
    }
    this.#waiters.wake();
  }

  /**
   * Reads the record, and hears the stream up to there: what was said before the reading and heard behind it would be taken for
   * news, and its idle for the end of what the reading has shown.
   */
  async #read(generation: number): Promise<boolean> {
    return (await this.#reader.read()) && this.#marks.heard(() => this.#isNewest(generation));
  }

  /** Whether a reading for this generation is still wanted: none for a newer one will come. */
  #isNewest(generation: number): boolean {
    return !this.#over.signal.aborted && !this.hasExited && generation === this.#held.generation;
  }

  /**
   * Takes in what was held during a reading. False when that has to be read again: an idle may be older than the turn
   * which the reading has shown, so it ends nothing; the record behind it tells what was over.
   */
  #release(): boolean {
    const isStale = (heard: Heard): boolean =>
      (this.#state.turn !== undefined || this.#state.isBusy) && isIdleOf(heard, this.id);
    if (!this.#held.handOver((heard) => this.#takeHeard(heard), isStale)) return false;
    if (this.#state.turn && !this.#reader.isAtWork) this.#doubt();
    return true;
  }

  #letGo(): void {
    this.#held.handOver((heard) => this.#takeHeard(heard));
  }

  #check(): void {
    this.#cancelCheck?.();
    if (this.#isMuted || this.hasExited) return;
    if (isAlive(this.server.identity)) {
      this.#cancelCheck = this.clock.after(livenessMs, () => this.#check());
      return;
    }
    this.hasExited = true;
    void this.#bury();
  }

  /** What it had started is ended before its death is told. */
  async #bury(): Promise<void> {
    await this.#stream.close();
    const ended = await endGroup(this.server.identity, { graceMs, clock: this.clock });
    this.#letGo();
    const left = ended === 'unkillable' ? ', and something that it had started cannot be ended' : '';
    this.take({ type: 'exited', reason: `the opencode server is gone${left}` });
    this.#waiters.wake();
  }
}
