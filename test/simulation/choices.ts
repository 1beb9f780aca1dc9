/** A small fast generator (mulberry32): the same seed gives the same numbers on every machine. Values in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Every decision of a history, in order, as a tape of small numbers. A history is a function of its tape: recorded from
 * a seed, replayed to see it again, and edited to make it shorter. Zero always means the least that can happen (no fault,
 * the first of the actions that make progress), so a tape with more zeros, or one that ends earlier, is a simpler history.
 */
export class Choices {
  readonly tape: number[] = [];
  readonly #random: () => number;
  readonly #replayed: readonly number[] | undefined;

  constructor(seed: number, replayed?: readonly number[]) {
    this.#random = seededRandom(seed);
    this.#replayed = replayed;
  }

  /** A number in [0, bound). */
  below(bound: number): number {
    const recorded = this.#replayed?.[this.tape.length] ?? 0;
    const value = this.#replayed ? recorded % bound : Math.floor(this.#random() * bound);
    this.tape.push(value);
    return value;
  }

  /** True in `percent` of all cases, never for a zero. */
  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }

  /** One of these; the first for a zero. Throws for an empty list. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** One of these, the heavier the likelier; the first for a zero. Weights are whole numbers above zero. */
  weighted<Item extends { readonly weight: number }>(items: readonly Item[]): Item {
    let rest = this.below(items.reduce((sum, item) => sum + item.weight, 0));
    for (const item of items) {
      if (rest < item.weight) return item;
      rest -= item.weight;
    }
    throw new Error('nothing to pick from');
  }
}
