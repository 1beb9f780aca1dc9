import type { ConversationParts } from './parts.ts';
import type { Texts } from './texts.ts';

/** So much of output is worth giving back. */
const releaseBytes = 4 * 1024 * 1024;

/**
 * Gives back what was read. pi repeats everything it said so far with each piece of an answer, so its output grows fast. To
 * be called before a next text, which proves that what lies before it was processed for good. Throws when the log cannot
 * be written.
 */
export function releaseRead(
  { log, process }: ConversationParts,
  { decided, position }: { readonly decided: ReturnType<Texts['decided']>; readonly position: number },
): void {
  if (position - log.from < releaseBytes) return;
  for (const { id, fate } of decided) log.append({ t: 'fate', id, fate });
  log.append({ t: 'released', at: position });
  process.release(position - log.base);
}
