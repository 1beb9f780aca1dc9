import type { ExecutionId, NoticeId, SessionId, SteerId } from '../base/ids.ts';
import type { Actor } from './execution.ts';

/** `owed → claimed → handed → handled`, back to `owed` only on negative proof, or out by `waived`. */
export type NoticeState = 'owed' | 'claimed' | 'handed' | 'handled' | 'waived';

/** A finished execution's result, owed to the session it reports to. */
export interface Notice {
  readonly id: NoticeId;
  /** Whose result it is. */
  readonly executionId: ExecutionId;
  readonly rootId: ExecutionId;
  /** Whose deficit counts it while owed or claimed: the parent, or the execution itself when it is a root. */
  readonly countedOn: ExecutionId;
  readonly sessionId: SessionId;
  readonly mode: 'each' | 'batch';
  readonly state: NoticeState;
  /** Failed deliveries so far. After three it is waived as undeliverable. */
  readonly attempt: number;
  /** Number of the hand-over; it is in the text, and evidence of an earlier one counts for nothing. */
  readonly epoch: number;
  readonly steerId: SteerId | null;
  readonly continuationId: ExecutionId | null;
  readonly reason: string | null;
  readonly actor: Actor | null;
  /** Not delivered before this instant (back-off). */
  readonly notBefore: number;
  readonly owedAt: number;
  /** When it was last handed over, also while it is owed again: then the next text says that it is a redelivery. */
  readonly handedAt: number | null;
  readonly handledAt: number | null;
}

/** What may happen to a notice; the table says when. */
export type NoticeInput = 'claim' | 'giveBack' | 'hand' | 'handle' | 'waive';

/** The lifecycle. Handing over without a claim is the lane's path: lane, continuation and hand-over are one transaction. */
export const noticeTransitions: Readonly<
  Record<NoticeState, Partial<Readonly<Record<NoticeInput, NoticeState>>>>
> = {
  owed: { claim: 'claimed', hand: 'handed', waive: 'waived' },
  claimed: { giveBack: 'owed', hand: 'handed', waive: 'waived' },
  handed: { handle: 'handled', giveBack: 'owed', waive: 'waived' },
  handled: {},
  waived: {},
};

/** Whether it counts in a deficit. */
export function isPending(state: NoticeState): boolean {
  return state === 'owed' || state === 'claimed';
}

/** Failed deliveries after which a notice is given up. */
export const deliveryAttempts = 3;

/** Back-off before delivery number `attempt + 1`, in milliseconds: 1 s, 4 s, 16 s. */
export function backOffMs(attempt: number): number {
  return 1000 * 4 ** Math.max(0, attempt - 1);
}
