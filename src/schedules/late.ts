import type { CatchUp } from '../ledger/schedule-definition.ts';
import { instantText, spanText } from './words.ts';

/** What is noticed so much later than its instant is late, in milliseconds: catching up decides. */
export const lateMs = 60_000;

/** What is to become of an instant when it is noticed. */
export interface InstantFate {
  readonly state: 'due' | 'waiting' | 'skipped' | 'missed' | 'superseded';
  readonly reason: string | null;
  readonly inTurn: boolean;
}

/** What a decision about an instant looks at. */
export interface InstantMoment {
  readonly now: number;
  readonly isPaused: boolean;
  readonly pauseReason: string | null;
  readonly catchUp: CatchUp;
  /** The last instant of the rule that is not later than now. */
  readonly newest: number;
  /** Whether others that are caught up wait for their turn: whoever wants all of them wants them in their order. */
  readonly hasLine: boolean;
}

/**
 * What becomes of an instant: on time it is due. Late, and older than the window, it is missed; within it the policy says:
 * `none` misses it, `latest` runs the newest instant alone, `all` runs each, oldest first.
 */
export function fateOf(instant: number, moment: InstantMoment): InstantFate {
  const { now, catchUp } = moment;
  if (moment.isPaused) {
    const why = moment.pauseReason === null ? 'paused' : `paused: ${moment.pauseReason}`;
    return { state: 'skipped', reason: why, inTurn: false };
  }
  const behindMs = now - instant;
  if (behindMs <= lateMs) return catchUp.policy === 'all' && moment.hasLine ? inTurn : due;
  if (behindMs > catchUp.windowMs)
    return { state: 'missed', reason: `window: ${spanText(behindMs)} late`, inTurn: false };
  switch (catchUp.policy) {
    case 'none':
      return {
        state: 'missed',
        reason: `policy: none, and it was ${spanText(behindMs)} late`,
        inTurn: false,
      };
    case 'latest':
      if (instant === moment.newest) return due;
      return {
        state: 'superseded',
        reason: `latest: ${instantText(moment.newest)} stands for it`,
        inTurn: false,
      };
    case 'all':
      return inTurn;
  }
}

const due: InstantFate = { state: 'due', reason: null, inTurn: false };
const inTurn: InstantFate = { state: 'waiting', reason: 'turn: those before it go first', inTurn: true };

/** The codes of reasons for which nothing ran only because it was noticed late: a clock that is set back undoes them. */
export const lateCodes: ReadonlySet<string> = new Set(['window', 'policy', 'latest']);
