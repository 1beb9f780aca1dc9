import type { Clock } from '../../base/clock.ts';
import { within } from '../../base/pause.ts';
import type { DriverEvent, DriverReport } from '../port.ts';
import { type Context, reduce, reduceExit } from './reduce.ts';
import { type ClaudeState, withText } from './state.ts';
import type { Signal } from './wire.ts';

/** Who hears what the output means. */
export interface StreamOwner {
  readonly emit: (event: DriverEvent) => void;
  /** A line was taken; `end` is the position behind it. */
  readonly onTaken: (signal: Signal, end: number) => void;
  /** A person is asked what the agent wants to know. */
  readonly asks: boolean;
}

/**
 * The agent's output as events with positions. Several events of one line lie within it, the last one at its end, so that
 * none is lost or repeated when whoever reads dies between them. Events at or before `floor` are kept back.
 */
export class ClaudeStream {
  readonly #owner: StreamOwner;
  readonly #floor: number;
  readonly #clock: Clock;
  #state: ClaudeState;
  #end: number;
  #position: number;
  #hasExited = false;
  readonly #watchers = new Set<() => void>();

  constructor(
    owner: StreamOwner,
    clock: Clock,
    begin: { readonly state: ClaudeState; readonly from: number; readonly floor: number },
  ) {
    this.#owner = owner;
    this.#clock = clock;
    this.#state = begin.state;
    this.#floor = begin.floor;
    this.#end = begin.from;
    this.#position = begin.from;
  }

  get state(): ClaudeState {
    return this.#state;
  }

  /** How far the output was read. */
  get end(): number {
    return this.#end;
  }

  /** A text is on its way to the agent. */
  expect(uuid: string, id: string): void {
    this.#state = withText(this.#state, uuid, id);
  }

  /** A text certainly never got to the agent. */
  forget(uuid: string): void {
    const texts = new Map(this.#state.texts);
    texts.delete(uuid);
    this.#state = { ...this.#state, texts };
  }

  /** One line; `end` is the position behind it. */
  take(signal: Signal, end: number): void {
    const start = this.#end;
    this.#end = end;
    const context: Context = { at: start, asks: this.#owner.asks };
    const { state, reports } = reduce(this.#state, signal, context);
    this.#state = state;
    for (const [index, report] of reports.entries()) {
      const isLast = index === reports.length - 1;
      this.#place(report, isLast ? end : Math.min(start + 1 + index, end - 1));
    }
    this.#owner.onTaken(signal, end);
    this.#wake();
  }

  /** Something that is not in the output. */
  say(report: DriverReport): void {
    this.#send(report, this.#end);
  }

  /** The process is dead and its output read to the end. Nothing follows. */
  exit(reason: string): void {
    const { state, reports } = reduceExit(this.#state);
    this.#state = state;
    for (const report of [...reports, { type: 'exited', reason } as const]) this.#place(report, ++this.#end);
    this.#hasExited = true;
    this.#wake();
  }

  /** Waits until `find` finds something in what was read; undefined after `ms`, or when the process died without it. */
  async until<Found>(
    find: (state: ClaudeState) => Found | undefined,
    ms: number,
  ): Promise<Found | undefined> {
    const now = find(this.#state);
    if (now !== undefined || this.#hasExited) return now;
    let look = (): void => undefined;
    const found = new Promise<Found | undefined>((resolve) => {
      look = () => {
        const value = find(this.#state);
        if (value !== undefined || this.#hasExited) resolve(value);
      };
      this.#watchers.add(look);
    });
    const nothing: Found | undefined = undefined;
    try {
      return await within(this.#clock, ms, found, nothing);
    } finally {
      this.#watchers.delete(look);
    }
  }

  #wake(): void {
    for (const look of [...this.#watchers]) look();
  }

  #place(report: DriverReport, position: number): void {
    if (position > this.#floor) this.#send(report, position);
  }

  #send(report: DriverReport, position: number): void {
    this.#position = Math.max(this.#position, position);
    this.#owner.emit({ ...report, position: this.#position });
  }
}
