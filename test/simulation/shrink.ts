import type { History, PlayOptions } from './history.ts';
import { playHistory } from './history.ts';

/** Histories that may be played to make one shorter. */
const mostTries = 1000;

/**
 * Makes a failing history shorter: blocks of its tape are cut out or set to zero, the end first, as long as it keeps
 * failing in the same way.
 */
export async function shrink(seed: number, failing: History, options: PlayOptions = {}): Promise<History> {
  const shape = shapeOf(failing);
  let best = failing;
  let tries = 0;
  const accept = async (tape: readonly number[]): Promise<boolean> => {
    if (tries++ >= mostTries) return false;
    const history = await playHistory(seed, { ...options, tape });
    if (shapeOf(history) !== shape) return false;
    const isBetter = weightOf(history) < weightOf(best);
    if (isBetter) best = history;
    return isBetter;
  };
  for (let isShorter = true; isShorter && tries < mostTries; ) {
    isShorter = false;
    for (let size = Math.max(1, best.tape.length >> 1); size >= 1; size = size >> 1) {
      for (let at = best.tape.length - size; at >= 0 && tries < mostTries; at -= size) {
        const { tape } = best;
        const cut = [...tape.slice(0, at), ...tape.slice(at + size)];
        const zeroed = tape.map((value, index) => (index >= at && index < at + size ? 0 : value));
        if ((await accept(cut)) || (await accept(zeroed))) isShorter = true;
      }
    }
  }
  return best;
}

/** What went wrong, without the names of those to whom it happened. */
function shapeOf({ violation }: History): string {
  return violation ? `${violation.kind}: ${violation.message.replace(/\w*\d\S*/g, '_')}` : '';
}

/** A shorter trace is simpler, then a shorter tape, then smaller numbers in it. */
function weightOf(history: History): number {
  const sum = history.tape.reduce((total, value) => total + Math.min(value, 1000), 0);
  return history.trace.length * 1e9 + history.tape.length * 1e6 + sum;
}
