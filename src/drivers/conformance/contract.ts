import type { DriverEvent } from '../port.ts';

/** Watches one conversation's events for what no driver may ever do, whatever its agent did. */
export class Contract {
  /** What was violated, a sentence each. */
  readonly violations: string[] = [];
  readonly #delivered: ReadonlySet<string>;
  readonly #running = new Set<string>();
  readonly #assumed = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #begunFor = new Set<string>();
  #position: number;
  #silence: string | undefined;
  #hasExited = false;

  /** `delivered`: the ids of the texts that were sent, as it grows. `position`: what was processed before. */
  constructor(delivered: ReadonlySet<string>, position: number) {
    this.#delivered = delivered;
    this.#position = position;
  }

  /** From now on no event may come; `why` completes the sentence "an event came after …". */
  expectSilence(why: string): void {
    this.#silence ??= why;
  }

  /**
   * Turns that an earlier conversation of the same process left running. The start of such a turn on a text of ours may be
   * told once more: an adopter that is asked about the text rather says it twice than not at all.
   */
  assumeRunning(turns: Iterable<string>): void {
    for (const turn of turns) {
      this.#running.add(turn);
      this.#assumed.add(turn);
    }
  }

  /** The conversation goes on with a new process: the exit that was told was that of the one before. */
  expectNewProcess(): void {
    this.#hasExited = false;
  }

  /** Turns that have begun and not ended. */
  running(): string[] {
    return [...this.#running];
  }

  /** Takes in one event, in the order of the driver. */
  see(event: DriverEvent): void {
    if (this.#silence !== undefined) this.#violate(`an event came after ${this.#silence}: ${event.type}`);
    if (this.#hasExited) this.#violate(`an event came after the exit: ${event.type}`);
    if (!Number.isFinite(event.position) || event.position < 0)
      this.#violate(`${event.position} is no position`);
    if (event.position < this.#position)
      this.#violate(`the position fell from ${this.#position} to ${event.position}`);
    this.#position = event.position;
    if (event.type === 'turnStarted') this.#seeStart(event);
    if (event.type === 'taken') this.#seeTaken(event);
    if (event.type === 'turnEnded') this.#seeEnd(event);
    if (event.type === 'exited') this.#seeExit();
  }

  #seeStart(event: Extract<DriverEvent, { type: 'turnStarted' }>): void {
    const { nativeTurnId: turn, deliveryId } = event;
    const isToldAgain = deliveryId !== undefined && this.#assumed.delete(turn) && this.#running.has(turn);
    if (isToldAgain) this.#running.delete(turn);
    if (this.#running.has(turn) || this.#ended.has(turn)) this.#violate(`turn ${turn} started twice`);
    for (const other of this.#running) this.#violate(`turn ${turn} started while ${other} was running`);
    this.#running.add(turn);
    if (deliveryId === undefined) return;
    if (!this.#delivered.has(deliveryId))
      this.#violate(`turn ${turn} started on ${deliveryId}, which was never sent`);
    if (this.#begunFor.has(deliveryId)) this.#violate(`two turns started on ${deliveryId}`);
    this.#begunFor.add(deliveryId);
  }

  #seeTaken({ nativeTurnId: turn, deliveryId }: Extract<DriverEvent, { type: 'taken' }>): void {
    if (!this.#running.has(turn))
      this.#violate(`${deliveryId} was taken in turn ${turn}, which is not running`);
    if (!this.#delivered.has(deliveryId)) this.#violate(`${deliveryId} was taken and never sent`);
    if (this.#begunFor.has(deliveryId)) this.#violate(`${deliveryId} was taken twice`);
    this.#begunFor.add(deliveryId);
  }

  #seeEnd(event: Extract<DriverEvent, { type: 'turnEnded' }>): void {
    const { nativeTurnId: turn, status, error } = event;
    if (this.#ended.has(turn)) this.#violate(`turn ${turn} ended twice`);
    else if (!this.#running.has(turn)) this.#violate(`turn ${turn} ended before it started`);
    this.#running.delete(turn);
    this.#ended.add(turn);
    if (status === 'failed' && !error) this.#violate(`turn ${turn} failed without an error`);
    if (status === 'succeeded' && error)
      this.#violate(`turn ${turn} succeeded with an error: ${error.message}`);
  }

  /** A dead process runs no turns; no end of theirs will come. */
  #seeExit(): void {
    this.#hasExited = true;
    this.#running.clear();
  }

  #violate(sentence: string): void {
    this.violations.push(sentence);
  }
}
