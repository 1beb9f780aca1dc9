import { Garbage } from '../../processes/garbage.ts';

/** Watches what pi, or a program in it, prints that nobody understands. */
export class Flood {
  readonly #garbage = new Garbage();
  readonly #onFlood: (why: string) => void;
  #why: string | undefined;

  /** `onFlood` is called once, when there was too much of it in a row: pi is to be ended. */
  constructor(onFlood: (why: string) => void) {
    this.#onFlood = onFlood;
  }

  /** A line was understood. */
  understood(): void {
    this.#garbage.understood();
  }

  /** So many bytes were not; whether that is to be told. */
  mayTell(bytes: number): boolean {
    const verdict = this.#garbage.hear(bytes);
    if (verdict === 'flood' && this.#why === undefined) {
      this.#why = this.#garbage.sentence('pi');
      this.#onFlood(this.#why);
    }
    return verdict === 'told';
  }

  /** How pi died, with what it was ended for. */
  explain(reason: string): string {
    return this.#why === undefined ? reason : `${reason}: ${this.#why}`;
  }
}
