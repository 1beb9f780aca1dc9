import type { Refusal, Rule } from './decision.ts';
import type { LedgerEvent, Wake } from './effects.ts';
import type { Asking } from './questions.ts';

/** What a decision came to, once it is durable. */
export type Decided<T> = { readonly ok: true; readonly value: T } | Refusal;

/** A committed event and its place in the order of commits. */
export interface StoredEvent extends LedgerEvent {
  readonly sequence: number;
}

/** What a commit brought, told after it returned and before its callers are answered. */
export interface Committed {
  readonly events: readonly StoredEvent[];
  readonly wakes: readonly Wake[];
}

/**
 * The durable ledger.
 *
 * `decide` runs a rule against the state and applies its effects in one transaction; the promise resolves after the
 * commit. Rules of one event-loop turn may share a commit; one that fails never fails its neighbours, and a rule may be
 * run twice (so it is pure, and its ids come from outside). A refusal changes nothing. Rejects with `DISK_FULL` or
 * `DATA_DIR_UNUSABLE` when nothing could be stored, and with a plain Error for a bug.
 */
export interface LedgerStore {
  decide<T>(rule: () => Rule<T>): Promise<Decided<T>>;
  /** Reads one consistent state. */
  read<T>(asking: () => Asking<T>): Promise<T>;
  /** Hears of every commit, in order. Returns the way to stop. The listener must not throw. */
  onCommit(listener: (committed: Committed) => void): () => void;
  /** Waits for what was accepted, then closes. A second call does nothing. */
  close(): Promise<void>;
}
