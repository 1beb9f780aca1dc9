import type { LiveTask } from '../port.ts';
import type { Tokens } from './transcript.ts';

/** What is known of one conversation. Immutable; `reduce` makes the next one. */
export interface ScreenState {
  readonly turn: RunningTurn | undefined;
  /** Turns whose end was seen, newest last; the newest few hundred. */
  readonly ended: readonly string[];
  /** Texts that wait in the agent's own queue, oldest first. */
  readonly queue: readonly string[];
  /** Our texts by id, and the turn in which each was taken up, if it was. */
  readonly sent: ReadonlyMap<string, SentText>;
  /** Background work that lives, by task id. `isTold`: it outlived the turn in which it began. */
  readonly tasks: ReadonlyMap<string, LiveTask & { readonly isTold: boolean }>;
  /** Of the newest event: how far the transcript was read. */
  readonly position: number;
}

/** One of our texts, as the agent keeps texts. */
export interface SentText {
  readonly text: string;
  /** How far the transcript was read when it was typed: what took it up is behind that. */
  readonly sentAt: number;
  readonly turnId?: string;
  /** It may have been taken up in a conversation that nobody followed. */
  readonly isLost?: true;
}

/** The turn that runs. */
export interface RunningTurn {
  readonly id: string;
  /** The position behind the line that began it. */
  readonly startedAt: number;
  /** What began it. */
  readonly text: string;
  readonly deliveryId?: string;
  /** The last thing the agent said after the last thing it did. */
  readonly answer: string;
  /** Whether the model has answered anything. */
  readonly hasWorked: boolean;
  /** What each of its messages has used; a message may be told in several lines. */
  readonly messages: ReadonlyMap<string, Tokens | undefined>;
}

/** A conversation of which nothing was read yet. */
export function newScreenState(sent: ReadonlyMap<string, SentText> = new Map()): ScreenState {
  return {
    turn: undefined,
    ended: [],
    queue: [],
    sent,
    tasks: new Map(),
    position: 0,
  };
}
