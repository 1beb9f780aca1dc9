import { expect } from 'vitest';
import type { PlayOptions } from './history.ts';
import { playHistory } from './history.ts';
import { shrink } from './shrink.ts';

/** Plays the histories of these seeds, and fails with the first one that goes wrong, as short as it can be made. */
export async function expectNoViolation(seeds: Iterable<number>, options: PlayOptions = {}): Promise<void> {
  for (const seed of seeds) {
    const history = await playHistory(seed, options);
    if (!history.violation) continue;
    const { trace, violation } = await shrink(seed, history, options);
    expect.fail(`seed ${seed}: ${history.violation.kind}\n${trace.join('\n')}\n${violation?.message}`);
  }
}

/** From `first` to `last`, every `step`-th number. */
export function* every(step: number, first: number, last: number): Generator<number> {
  for (let number = first; number <= last; number += step) yield number;
}
