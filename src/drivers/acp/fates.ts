import { hashOf, type SentLog } from './sent-log.ts';

const manyPieces = 40;

/**
 * Decides what became of texts whose process died before it showed work on them: a conversation that was loaded tells its
 * past, and a text that is in it more often than we know of was taken up. A dead process takes up nothing any more.
 */
export function decideFates(log: SentLog, past: readonly (readonly string[])[]): void {
  const told = past.flatMap(possibleTexts).map(hashOf);
  for (const [id, { hash, fate }] of log.past) {
    if (fate !== undefined) continue;
    const isTold = told.filter((other) => other === hash).length > log.timesConsumed(hash);
    log.append({ t: 'fate', id, fate: isTold ? 'consumed' : 'absent' });
  }
}

/** A loaded text may come in pieces, and two texts with no answer between them look like the pieces of one. */
function possibleTexts(pieces: readonly string[]): string[] {
  if (pieces.length > manyPieces) return [pieces.join('')];
  return pieces.flatMap((_, from) =>
    pieces.slice(from).map((__, length) => pieces.slice(from, from + length + 1).join('')),
  );
}
