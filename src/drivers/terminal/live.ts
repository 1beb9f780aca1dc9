import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { DriverEvent, DriverReport, OpenRequest } from '../port.ts';
import type { Hook } from './hooks.ts';
import { type Reduced, reduce, reduceRewound } from './reduce.ts';
import type { ScreenState } from './state.ts';
import type { Signal } from './transcript.ts';

const callsKept = 500;

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
    // The call about which it asks may be written down after the question; what comes of it, only after the answer.
    if (!this.#isAsking || signal.type === 'called') return;
    this.#isAsking = false;
    if (this.#state.turn) this.emit({ type: 'resumed' });
  }

  hearHook(hook: Hook): void {
    const {
      hook_event_name: name,
      tool_use_id: callId,
      prompt_id: turnId,
      tool_name: tool = 'a tool',
    } = hook;
    if (name === 'PreToolUse' && callId !== undefined && turnId !== undefined) {
      this.#calls.set(callId, turnId);
      for (const old of [...this.#calls.keys()].slice(0, Math.max(0, this.#calls.size - callsKept)))
        this.#calls.delete(old);
    }
    if (name !== 'PermissionRequest') return;
    this.#isAsking = true;
    this.emit({
      type: 'waiting',
      waitsFor: 'input',
      text: `The agent asks at its own screen whether it may use ${tool}; attach to the session and answer there.`,
    });
  }

  /** A text of ours is about to be typed. */
  send(id: string, text: string): void {
    this.#state = { ...this.#state, sent: new Map(this.#state.sent).set(id, { text }) };
  }

  rewind(turnId: string): void {
    this.#accept(reduceRewound(this.#state, turnId));
  }

  /** What ran in a process that is dead will not end: nothing of it is left but the record. */
  forgetDead(): void {
    this.#state = { ...this.#state, turn: undefined, queue: [], tasks: new Map() };
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
