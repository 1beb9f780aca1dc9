import type { ExecutionId, SessionId, SteerId, TurnId } from '../base/ids.ts';
import type { ExecutionUsage } from './execution.ts';

/** `starting`: the lane is taken, the agent was not seen to begin. `waiting`: it asked or is limited. */
export type TurnState = 'starting' | 'running' | 'waiting' | 'ended';

/** Why the agent works: a text of ours, its own wake, or nothing that we know of. */
export type TurnCause = 'message' | 'notices' | 'wake' | 'late';

/** One stretch of agent activity. Its id is also the delivery id of the text that begins it. */
export interface Turn {
  readonly id: TurnId;
  readonly sessionId: SessionId;
  /** The session's epoch when it began: which process ran it. */
  readonly epoch: number;
  readonly node: string;
  readonly cause: TurnCause;
  readonly state: TurnState;
  /** The exact text that begins it: sent again only when the agent provably never got it. */
  readonly text: string;
  readonly nativeTurnId: string | null;
  /** How far the driver's stream was read when this was last changed. */
  readonly position: number;
  /** Handed to the agent's process; its fate is then decided by evidence. */
  readonly writtenAt: number | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly status: TurnStatus | null;
  /** What of its usage was counted: a total that is told again counts once. */
  readonly usage: ExecutionUsage | null;
}

/** `joined`: its text was taken up in a turn that the agent had begun by itself, which its owners joined. */
export type TurnStatus = 'succeeded' | 'failed' | 'interrupted' | 'refused' | 'joined' | 'lost';

/** What may happen to a turn; the table says when. */
export type TurnInput = 'start' | 'wait' | 'resume' | 'end';

/** The lifecycle. `end` is missing for `starting` on purpose: an end counts only for a turn whose start was seen. */
export const turnTransitions: Readonly<Record<TurnState, Partial<Readonly<Record<TurnInput, TurnState>>>>> = {
  starting: { start: 'running' },
  running: { wait: 'waiting', end: 'ended' },
  // Several questions may be open at once: the last one that was told is shown.
  waiting: { wait: 'waiting', resume: 'running', end: 'ended' },
  ended: {},
};

/** Who settles with a turn, in the order in which they joined it. */
export interface TurnOwner {
  readonly turnId: TurnId;
  readonly executionId: ExecutionId;
  readonly position: number;
}

/** `claimed`: not yet written. `written`: with the agent, fate open. */
export type SteerState = 'claimed' | 'written' | 'taken' | 'refused' | 'withdrawn';

/** A text on its way into a running turn: notices of one parent, or a person's message. */
export interface Steer {
  readonly id: SteerId;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  /** Set when it is a person's message; else it carries the notices that name it. */
  readonly messageId: ExecutionId | null;
  readonly text: string;
  readonly state: SteerState;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** What may happen to a steer; the table says when. */
export type SteerInput = 'write' | 'take' | 'refuse' | 'withdraw';

/** The lifecycle. A written text ends as taken, or on negative proof; never by a clock. */
export const steerTransitions: Readonly<
  Record<SteerState, Partial<Readonly<Record<SteerInput, SteerState>>>>
> = {
  claimed: { write: 'written', take: 'taken', refuse: 'refused', withdraw: 'withdrawn' },
  written: { take: 'taken', refuse: 'refused', withdraw: 'withdrawn' },
  taken: {},
  refused: {},
  withdrawn: {},
};
