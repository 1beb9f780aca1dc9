import type { Wake, WakeKind } from '../ledger/effects.ts';

/** A wake-up as stored. `revision` grows each time the same kind and target is owed again while it waits. */
export interface WakeRow extends Wake {
  readonly revision: number;
}

/**
 * The rows behind the wake-ups of one process. They are written by the ledger's own transaction; the one who calls the
 * handlers only reads them and takes them away.
 */
export interface WakeRows {
  /**
   * Hears of every commit, in order, before its callers are answered. `at` is the instant that this commit asked for,
   * which may be later than the instant at which the row is due.
   */
  onCommit(listener: (committed: { readonly wakes: readonly WakeRow[] }) => void): () => void;
  /** Every row due after `after` and not after `until`, earliest first. `at` is the due instant. */
  dueWakes(after: number, until: number): Promise<WakeRow[]>;
  /** The earliest instant after `after` at which something is due. */
  nextWake(after: number): Promise<number | undefined>;
  /**
   * Says that the wake-up was handled: the row goes, or is due at `next` when it was owed again for later meanwhile.
   * False, and nothing changes, when its revision is another by now. Durable when it resolves.
   */
  finishWake(wake: FinishedWake, next: number | null): Promise<boolean>;
}

/** Names one revision of one wake-up. */
export interface FinishedWake {
  readonly kind: WakeKind;
  readonly target: string;
  readonly revision: number;
}
