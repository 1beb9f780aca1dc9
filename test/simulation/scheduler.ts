import type { Choices } from './choices.ts';

/** Something that may happen next. */
export interface Action {
  readonly name: string;
  /** How likely it is among the actions that are possible now. */
  readonly weight: number;
  /** Progress must happen sooner or later in a fair world. Whatever else may happen, or never. */
  readonly isProgress: boolean;
  readonly run: () => void;
}

/** An action that a fair world performs sooner or later. */
export function progress(name: string, run: () => void, weight = 10): Action {
  return { name, weight, isProgress: true, run };
}

/** An action that nobody may count on: a fault, a person's whim, an agent's idea. */
export function maybe(name: string, run: () => void, weight = 4): Action {
  return { name, weight, isProgress: false, run };
}

/**
 * Where asynchronous work of the server waits until the scheduler lets it go on: the time that a request takes to the
 * agent, an answer takes back, a wake-up takes to be noticed. Whoever waits when the server dies waits for ever.
 */
export class Gates {
  #waiting: { readonly name: string; readonly open: () => void }[] = [];

  /** Resolves when the scheduler chose it. */
  pass(name: string): Promise<void> {
    return new Promise((resolve) => {
      const entry = {
        name,
        open: () => {
          this.#waiting = this.#waiting.filter((other) => other !== entry);
          resolve();
        },
      };
      this.#waiting.push(entry);
    });
  }

  actions(): Action[] {
    return this.#waiting.map((entry) => progress(entry.name, entry.open));
  }

  /** Nobody who waits goes on. */
  close(): void {
    this.#waiting = [];
  }
}

/** Lets every microtask run. Nothing in a history waits for anything else, so afterwards all is still. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Limits on what may go wrong in one history: each is drawn once, and spent. */
export class Budgets {
  readonly #left = new Map<string, number>();

  constructor(choices: Choices, most: Readonly<Record<string, number>>) {
    for (const [name, limit] of Object.entries(most)) {
      // A history that has everything shows less than many that have a few things each.
      const isOn = choices.chance(45);
      this.#left.set(name, isOn ? 1 + choices.below(limit) : 0);
    }
  }

  /** Allows so many of something for certain. */
  allow(name: string, count: number): void {
    this.#left.set(name, count);
  }

  has(name: string): boolean {
    return (this.#left.get(name) ?? 0) > 0;
  }

  /** Takes one; false when none is left. */
  spend(name: string): boolean {
    const left = this.#left.get(name) ?? 0;
    if (left <= 0) return false;
    this.#left.set(name, left - 1);
    return true;
  }

  /** Nothing goes wrong any more. */
  exhaust(): void {
    this.#left.clear();
  }
}
