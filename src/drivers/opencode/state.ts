import { createHash } from 'node:crypto';
import type { LiveTask } from '../port.ts';
import type { AskedSignal, AssistantSignal, OpencodeError } from './signal.ts';

/** What is known of one session. Immutable plain data, so that it can be kept; `reduce` makes the next one. */
export interface SessionState {
  readonly sessionId: string;
  /** How many events were emitted, over all processes of the session: the position of the newest. */
  readonly position: number;
  readonly turn?: RunningTurn;
  /** Whether opencode said that it is at work since it was last idle. */
  readonly isBusy: boolean;
  /** Messages of users that no request of the agent is known to have carried, in the order in which they were heard. */
  readonly waiting: readonly WaitingText[];
  /** Texts of ours by delivery id, and what became of them; the newest thousand. */
  readonly deliveries: Readonly<Record<string, DeliveryState>>;
  /** Turns whose end is known, newest last; the newest few hundred. */
  readonly ended: readonly string[];
  /** Messages that belong to the past, so that a late word about them changes nothing; the newest thousand. */
  readonly past: readonly string[];
  /** The last error without a turn to which it belongs. */
  readonly error?: OpencodeError;
  /** Sub-agents that go on without the turn that started them, by session id. */
  readonly tasks: Readonly<Record<string, TaskState>>;
  /** Sessions of sub-agents, and the session that started each. */
  readonly children: Readonly<Record<string, { readonly parentId: string; readonly title: string }>>;
  /** Questions that are open, by id, in the order in which they were asked. */
  readonly questions: Readonly<Record<string, AskedSignal>>;
}

/** The turn that runs: from the first request that carries its first text to the agent being idle again. */
export interface RunningTurn {
  /** The message of a user that began it. */
  readonly id: string;
  /** The newest request of the agent to its model. */
  readonly newest?: AssistantSignal;
  /** What the agent said after the last thing it did, by part. */
  readonly answer: Readonly<Record<string, string>>;
  /** What was told of its parts. */
  readonly told: readonly string[];
  readonly usage: Readonly<
    Record<string, { readonly input: number; readonly output: number; readonly usd: number }>
  >;
  readonly isLimited: boolean;
  /** UTC milliseconds: the last time of a next try that was told. */
  readonly limitedUntil?: number;
  /** Calls that run, by part, and the session in which they do. */
  readonly calls: Readonly<Record<string, { readonly sessionId: string; readonly tool: string }>>;
}

/** A text of a user that waits to be taken up. */
export interface WaitingText {
  readonly messageId: string;
  readonly parts: Readonly<Record<string, string>>;
  /** Every part so far was written by the agent in the user's name. */
  readonly isSynthetic: boolean;
}

/**
 * A text of ours. `isSent`: it may be on its way to the process that lives. `isHeard`: opencode has it in its record.
 * `turnId`: where it was taken up.
 */
export interface DeliveryState {
  readonly messageId: string;
  readonly isSent: boolean;
  readonly isHeard: boolean;
  readonly turnId?: string;
}

/** A task, what its agent said last, and whether anybody was told of it. */
export interface TaskState extends LiveTask {
  readonly answer: string;
  readonly error?: OpencodeError;
  readonly isTold: boolean;
}

/**
 * A session of which nothing is known yet. `unresolved`: texts of ours that an earlier process handed over; `isSent`: or that it
 * may have, since nothing is noted of them.
 */
export function newSessionState(
  sessionId: string,
  position: number,
  unresolved: readonly string[] = [],
  isSent = true,
): SessionState {
  return {
    sessionId,
    position,
    isBusy: false,
    waiting: [],
    deliveries: Object.fromEntries(
      unresolved.map((id) => [id, { messageId: messageIdOf(id), isSent, isHeard: false }]),
    ),
    ended: [],
    past: [],
    tasks: {},
    children: {},
    questions: {},
  };
}

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The name under which opencode gets a text of ours, the same each time. It has the form of opencode's own: milliseconds
 * in hex and twelve bits of a counter, then 14 characters. opencode orders messages by its own clock; only its screen sorts them
 * by these names.
 */
export function messageIdOf(deliveryId: string): string {
  const born = /^[a-z]{3}_([0-9A-HJKMNP-TV-Z]{10})/.exec(deliveryId)?.[1] ?? '';
  const ms = born.split('').reduce((value, digit) => value * 32n + BigInt(base32.indexOf(digit)), 0n);
  const time = BigInt.asUintN(48, ms * 0x1000n)
    .toString(16)
    .padStart(12, '0');
  const hash = createHash('sha256').update(deliveryId).digest();
  const tail = [...hash.subarray(0, 14)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `msg_${time}${tail}`;
}

/** The text of ours that went out under this name, if it is one. */
export function deliveryOf(state: SessionState, messageId: string): string | undefined {
  return Object.entries(state.deliveries).find(([, delivery]) => delivery.messageId === messageId)?.[0];
}

/** Whether a session is this one or a sub-agent's below it. */
export function isOurs(state: SessionState, sessionId: string): boolean {
  return sessionId === state.sessionId || state.children[sessionId] !== undefined;
}
