import type { Clock } from '../../base/clock.ts';

/** Whoever waits for a state of something, and looks again when it is woken. */
export class Waiters {
  readonly #clock: Clock;
  readonly #isOver: () => boolean;
  #looks: (() => void)[] = [];

  /** `isOver`: nothing will change any more, so nobody waits on. */
  constructor(clock: Clock, isOver: () => boolean) {
    this.#clock = clock;
    this.#isOver = isOver;
  }

  /** Resolves with what `read` gives as soon as it is defined; undefined after `withinMs`, or when all is over. */
  until<Value>(read: () => Value | undefined, withinMs: number): Promise<Value | undefined> {
    return new Promise((resolve) => {
      const finish = (value: Value | undefined): void => {
        cancel();
        this.#looks = this.#looks.filter((other) => other !== look);
        resolve(value);
      };
      const look = (): void => {
        const value = read();
        if (value !== undefined || this.#isOver()) finish(value);
      };
      const cancel = this.#clock.after(withinMs, () => finish(undefined));
      this.#looks.push(look);
      look();
    });
  }

  /** Something has changed. */
  wake(): void {
    for (const look of [...this.#looks]) look();
  }
}
