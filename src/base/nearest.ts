/**
 * The candidate that was probably meant by `word`, or undefined when none is near enough to be worth saying: at most
 * one wrong letter in three, where case, dashes and underscores count for nothing.
 */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  const plain = simplify(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = plain.length > 100 ? bestDistance : editDistance(plain, simplify(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function simplify(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '');
}

// Levenshtein's distance, where two neighbours that changed places count once: it is how people mistype.
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replace = at(last, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwap ? at(beforeLast, j - 2) + 1 : replace;
      row.push(Math.min(replace, swap, at(last, j) + 1, at(row, j - 1) + 1));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.MAX_SAFE_INTEGER;
}
