import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { DriverEvent, DriverReport, OpenRequest } from '../port.ts';
import type { Hook } from './hooks.ts';
import { type Reduced, reduce, reduceRewound } from './reduce.ts';
import type { SentLog } from './sent-log.ts';
import type { ScreenState } from './state.ts';
import type { Signal } from './transcript.ts';

const callsKept = 500;
const lastEndWithinMs = 5_000;

/** The state of a conversation as it is heard, and its events as they are told. */
export class Live {
  readonly #request: OpenRequest;
  readonly #clock: Clock;
  readonly #unresolved: ReadonlySet<string>;
  /** In which turn a tool was called, by the call's own id: told by a hook before the call is made. */
  readonly #calls = new Map<string, string>();
  #state: ScreenState;
  #isClosed = false;
  #isAsking = false;
  /** What the hooks of before an adoption told last of a question, and the call that it is about. */
  #oldQuestion: { readonly hook: Hook; readonly callId: string | undefined } | undefined;
  /** The newest call of each tool that the same hooks told of: a question does not name its call. */
  readonly #oldCalls = new Map<string, string>();
  /** The calls of the running turn of which the outcome is written down. */
  readonly #returned = new Set<string>();
  #waiters: (() => void)[] = [];

  constructor(request: OpenRequest, clock: Clock, state: ScreenState) {
    this.#request = request;
    this.#clock = clock;
    this.#state = state;
    this.#unresolved = new Set(request.unresolved);
  }

  get state(): ScreenState {
    return this.#state;
  }

  turnOfCall(callId: string): string | undefined {
    return this.#calls.get(callId);
  }

  hear(signal: Signal, endOffset: number): void {
    this.#accept(reduce(this.#state, signal, endOffset));
    if (signal.type === 'returned') this.#returned.add(signal.callId);
    if (!this.#state.turn) this.#returned.clear();
    // The call about which it asks may be written down after the question; what comes of it, only after the answer.
    if (!this.#isAsking || signal.type === 'called') return;
    this.#isAsking = false;
    if (this.#state.turn) this.emit({ type: 'resumed' });
  }

  hearHook(hook: Hook): void {
    this.#noteCall(hook);
    if (hook.hook_event_name === 'PermissionRequest') this.#ask(hook);
  }

  /** A hook that an earlier process of ours has heard: what it told is not told again, but for an open question. */
  hearOldHook(hook: Hook): void {
    this.#noteCall(hook);
    const { hook_event_name: name, tool_use_id: callId, tool_name: tool = '' } = hook;
    if (name === 'PreToolUse' && callId !== undefined) this.#oldCalls.set(tool, callId);
    if (name === 'PermissionRequest')
      this.#oldQuestion = { hook, callId: callId ?? this.#oldCalls.get(tool) };
  }

  /**
   * Tells the last question of the old hooks, or that it was answered. `isShown`: the screen shows a dialog; it may be another
   * one when the call has an outcome.
   */
  askAgain(isShown: boolean): void {
    const { turn } = this.#state;
    const { hook, callId } = this.#oldQuestion ?? {};
    if (!turn || !hook || this.#isAsking) return;
    const isOfBefore = hook.prompt_id !== undefined && hook.prompt_id !== turn.id;
    const isAnswered = isOfBefore || (callId !== undefined && this.#returned.has(callId));
    if (isShown && !isAnswered) this.#ask(hook);
    else this.emit({ type: 'resumed' });
  }

  #noteCall({ hook_event_name: name, tool_use_id: callId, prompt_id: turnId }: Hook): void {
    if (name !== 'PreToolUse' || callId === undefined || turnId === undefined) return;
    this.#calls.set(callId, turnId);
    for (const old of [...this.#calls.keys()].slice(0, Math.max(0, this.#calls.size - callsKept)))
      this.#calls.delete(old);
  }

  #ask({ tool_name: tool = 'a tool' }: Hook): void {
    this.#isAsking = true;
    this.emit({
      type: 'waiting',
      waitsFor: 'input',
      text: `The agent asks at its own screen whether it may use ${tool}; attach to the session and answer there.`,
    });
  }

  /** A text of ours is about to be typed. */
  send(id: string, text: string): void {
    const { sent, position: sentAt } = this.#state;
    // Typed again, it is the newest.
    const others = [...sent].filter(([other]) => other !== id);
    this.#state = { ...this.#state, sent: new Map([...others, [id, { text, sentAt }]]) };
  }

  /** A text of ours was typed and will never be taken up. */
  forgetSent(id: string): void {
    this.#state = { ...this.#state, sent: new Map([...this.#state.sent].filter(([other]) => other !== id)) };
  }

  /** The agent had a conversation that nobody followed: whether it took up there what it had not taken up here, nobody knows. */
  loseUntaken(log: SentLog): void {
    const sent = [...this.#state.sent].map(([id, text]) => {
      if (text.turnId !== undefined) return [id, text] as const;
      log.lose(id);
      return [id, { ...text, isLost: true as const }] as const;
    });
    this.#state = { ...this.#state, sent: new Map(sent) };
  }

  /**
   * The conversation is left for a new one, as happens between turns: resolves when its last turn is over. One of which no end
   * is told in time has none.
   */
  async leave(): Promise<void> {
    await this.until(({ turn }) => (turn ? undefined : true), lastEndWithinMs);
    this.#accept(reduce(this.#state, { type: 'interrupted' }, this.#state.position));
  }

  rewind(turnId: string): void {
    this.#accept(reduceRewound(this.#state, turnId));
  }

  /** What ran in a process that is dead will not end: nothing of it is left but the record. */
  forgetDead(): void {
    if (this.#state.turn) this.emit({ type: 'exited', reason: 'the agent died while nobody watched' });
    this.#state = { ...this.#state, turn: undefined, queue: [], tasks: new Map() };
  }

  /**
   * A turn that was taken back has no end in the transcript. Where that end was told, the position of the session, which only
   * an end or a death moves, is at its start or behind it.
   */
  forgetEnded(): void {
    const { turn, ended } = this.#state;
    if (!turn || turn.startedAt > this.#request.position) return;
    if (turn.deliveryId !== undefined && this.#unresolved.has(turn.deliveryId)) return;
    this.#state = { ...this.#state, turn: undefined, ended: [...ended, turn.id] };
  }

  emit(event: DriverReport): void {
    this.#tell({ ...event, position: Math.max(this.#state.position, this.#request.position) });
  }

  /** Resolves with what `read` gives as soon as it is defined, or with undefined at the deadline or when closed. */
  until<Value>(
    read: (state: ScreenState) => Value | undefined,
    withinMs: number,
  ): Promise<Value | undefined> {
    return new Promise((resolve) => {
      let cancel: CancelTimer = () => undefined;
      const finish = (value: Value | undefined): void => {
        cancel();
        this.#waiters = this.#waiters.filter((other) => other !== look);
        resolve(value);
      };
      const look = (): void => {
        const value = read(this.#state);
        if (value !== undefined || this.#isClosed) finish(value);
      };
      cancel = this.#clock.after(withinMs, () => finish(undefined));
      this.#waiters.push(look);
      look();
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const look of [...this.#waiters]) look();
  }

  #accept({ state, events }: Reduced): void {
    this.#state = state;
    for (const event of events) if (this.#isNews(event)) this.#tell(event);
    for (const look of [...this.#waiters]) look();
  }

  #isNews(event: DriverEvent): boolean {
    if (event.position > this.#request.position) return true;
    const isOurs = event.type === 'turnStarted' || event.type === 'taken';
    return isOurs && event.deliveryId !== undefined && this.#unresolved.has(event.deliveryId);
  }

  #tell(event: DriverEvent): void {
    const position = Math.max(event.position, this.#request.position);
    if (!this.#isClosed) this.#request.emit({ ...event, position });
  }
}
