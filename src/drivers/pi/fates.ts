import { hashOf, type SentLog } from './sent-log.ts';
import { readSessionFile } from './session-file.ts';

/**
 * Decides what became of texts that a dead process had and that its output does not show: what stands in the file of the
 * conversation more often than we know of was taken up. A dead process takes up nothing any more. Throws when the file is
 * there and cannot be read, or the log cannot be written.
 */
export function decideFates(log: SentLog, file: string): void {
  if (log.undecided.size === 0) return;
  const found = readSessionFile(file);
  const told = found.state === 'found' ? found.userTexts.map(hashOf) : [];
  for (const [id, hash] of log.undecided) {
    const isTold = told.filter((other) => other === hash).length > log.timesConsumed(hash, file);
    log.append({ t: 'fate', id, fate: isTold ? 'consumed' : 'absent' });
  }
}
