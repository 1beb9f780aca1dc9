import type { SessionId } from '../base/ids.ts';

/** How many turns may run at once: in all, of each agent, in each project. What is absent is not limited. */
export interface TurnLimits {
  readonly turns?: number | undefined;
  readonly perAgent?: number | undefined;
  readonly perProject?: number | undefined;
}

/** A session that would take its lane, and must wait for a turn slot. Instants are UTC milliseconds. */
export interface Admission {
  readonly sessionId: SessionId;
  /** Those of the session: what the limits count by. */
  readonly agent: string;
  readonly project: string;
  /** Its place in the line, by the order of asking. */
  readonly place: number;
  readonly since: number;
  /** When it was called, and has not come yet: a slot is kept for it, for a while. */
  readonly calledAt: number | null;
}
