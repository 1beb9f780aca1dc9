import type { Notification } from '../ledger/notification.ts';

/** What goes to a target at once: one notification, or several that were owed together. */
export interface Message {
  /** The same for each attempt: whoever gets it twice can tell by it. Letters that fit a header. */
  readonly id: string;
  readonly target: string;
  /** The oldest first; never empty. */
  readonly notifications: readonly Notification[];
}

/**
 * What an attempt came to. `refused`: the target is there and said no to this message, so the next may fare better. `down`:
 * nothing can be told about the target now. `message` is for a person; a secret in it is taken out by whoever keeps it.
 */
export type Attempt =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly kind: 'refused' | 'down';
      readonly message: string;
      /** How long the target asks to be left alone, in milliseconds. */
      readonly retryAfterMs?: number;
    };

/** Somebody or something that is told. */
export interface Target {
  /**
   * Sends once, within the time limit of the target. Never rejects. An abort ends it early, as `down`; whether it arrived is
   * not known then.
   */
  send(message: Message, signal: AbortSignal): Promise<Attempt>;
}
