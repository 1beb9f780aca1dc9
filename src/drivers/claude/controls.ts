import type { Clock } from '../../base/clock.ts';
import { within } from '../../base/pause.ts';
import type { ControlAnswer } from './wire.ts';

/** How a line gets to the agent. */
export type WriteLine = (line: string) => Promise<'written' | 'refused' | 'uncertain'>;

/** Requests to the program itself, beside the texts for the model. Their answers come among its output. */
export class Controls {
  readonly #write: WriteLine;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, (answer: ControlAnswer | undefined) => void>();
  readonly #prefix: string;
  #count = 0;

  constructor(write: WriteLine, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
    // Whoever had this process before us has used names too.
    this.#prefix = `stemma:${clock.now()}`;
  }

  /** Asks, and waits for the answer. Undefined: none came within `ms`, or none can come. */
  async ask(request: Readonly<Record<string, unknown>>, ms: number): Promise<ControlAnswer | undefined> {
    const id = `${this.#prefix}:${++this.#count}`;
    const answered = new Promise<ControlAnswer | undefined>((resolve) => this.#waiting.set(id, resolve));
    const line = JSON.stringify({ type: 'control_request', request_id: id, request });
    const sent = this.#write(line).then((outcome) => {
      if (outcome === 'refused') this.take(id, undefined);
    });
    try {
      const nothing: ControlAnswer | undefined = undefined;
      return await within(
        this.#clock,
        ms,
        Promise.all([answered, sent]).then(([answer]) => answer),
        nothing,
      );
    } finally {
      this.#waiting.delete(id);
    }
  }

  /** An answer was read, or certainly never comes. */
  take(id: string, answer: ControlAnswer | undefined): void {
    this.#waiting.get(id)?.(answer);
  }

  /** The process is dead: no answer comes any more. */
  giveUp(): void {
    for (const resolve of [...this.#waiting.values()]) resolve(undefined);
  }
}
