import type { ExecutionId, RunId, ScheduleId, SessionId } from '../base/ids.ts';
import type { Failure } from './execution.ts';

/** What people are told of, each once. */
export const transitions = [
  'failed',
  'recovered',
  'waiting',
  'missed',
  'undeliverable',
  'lateActivity',
  'diskLow',
  'diskOk',
  'test',
] as const;
/** A change that somebody wants to hear of. */
export type Transition = (typeof transitions)[number];

/** A transition that is told, or was. Its id is made of what it is about, so that none is ever told twice. */
export interface Notification {
  /** `TRANSITION:SUBJECT`. It goes out as the id of the event. */
  readonly id: string;
  readonly transition: Transition;
  /** What it happened to, and which time: ids and instants, in letters that fit a header. */
  readonly subject: string;
  readonly project: string | null;
  /** How people call what it is about. Anybody's text. */
  readonly name: string | null;
  /** A code of the error table, where there is one. */
  readonly code: string | null;
  /** Why, in the words of whoever said it: an agent, a program. Bounded; anybody's text. */
  readonly text: string | null;
  readonly rootId: ExecutionId | null;
  readonly sessionId: SessionId | null;
  readonly runId: RunId | null;
  readonly scheduleId: ScheduleId | null;
  /** Names of the targets, as the schedule has them; null: it has no schedule, and `notifyAlways` says who hears. */
  readonly to: readonly string[] | null;
  /** `owed`: nobody has looked yet who hears of it. */
  readonly state: 'owed' | 'addressed';
  readonly at: number;
}

/** `owed → sending → sent | givenUp`; the last two never change. */
export type DispatchState = 'owed' | 'sending' | 'sent' | 'givenUp';

/** One notification on its way to one target. */
export interface Dispatch {
  /** `TARGET:NOTIFICATION`. */
  readonly id: string;
  readonly notificationId: string;
  readonly target: string;
  readonly state: DispatchState;
  /** The dispatch that leads the group it goes with: itself, or an older one. What is tried is the group. */
  readonly leadId: string | null;
  /** Of a leader: how often its group was tried. */
  readonly attempt: number;
  /** Of a leader: when its group may be tried (UTC milliseconds). */
  readonly notBefore: number;
  /** Why the last attempt failed, or why it was given up. */
  readonly error: Failure | null;
  readonly owedAt: number;
  readonly endedAt: number | null;
}

/** The lifecycle of a dispatch. An input that is missing for a state is illegal there. */
export const dispatchTransitions: Readonly<
  Record<DispatchState, Partial<Readonly<Record<'claim' | 'send' | 'giveUp', DispatchState>>>>
> = {
  owed: { claim: 'sending', giveUp: 'givenUp' },
  sending: { send: 'sent', giveUp: 'givenUp' },
  sent: {},
  givenUp: {},
};

/** The code of an attempt that the target answered with no: the next group may fare better. All others mean it is down. */
export const refusedCode = 'REFUSED';
