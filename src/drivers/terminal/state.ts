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
  readonly turnId?: string;
}

/** The turn that runs. */
export interface RunningTurn {
  readonly id: string;
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
export function newScreenState(sent: ReadonlyMap<string, string> = new Map()): ScreenState {
  return {
    turn: undefined,
    ended: [],
    queue: [],
    sent: new Map([...sent].map(([id, text]) => [id, { text }])),
    tasks: new Map(),
    position: 0,
  };
}
