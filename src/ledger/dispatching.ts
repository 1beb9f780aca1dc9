import type { Decision, Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Failure } from './execution.ts';
import type { Dispatch, Notification } from './notification.ts';
import { dispatchTransitions, refusedCode } from './notification.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';

/** How long what is owed to a target waits for more of it, from the first on. Milliseconds. It decides nothing else. */
export const groupWindowMs = 2_000;
/** Most notifications of one message to a target; what is beyond goes with the next. */
export const largestGroup = 500;
/** How long a group is tried before it is given up, counted from its oldest notification. Milliseconds. */
export const giveUpAfterMs = 24 * 3_600_000;
/** And at least so often: a machine that slept for longer than a day has tried nothing meanwhile. */
const fewestAttempts = 8;
/** What waits longer than any back-off was begun by a clock that was ahead, and is not waited for. Milliseconds. */
const longestWaitMs = 2 * 3_600_000;
/** Most groups of one target that wait for another attempt; what is owed meanwhile goes together later. */
const mostOpenGroups = 10;

/** A notification is owed: who hears of it? */
export interface Address {
  readonly now: number;
  readonly id: string;
  /** Who hears of what has no schedule. */
  readonly always: readonly string[];
  /** The targets that there are. */
  readonly known: readonly string[];
}

/** Writes a dispatch for each target. One that does not exist is given up at once, visibly. Answers how many are owed. */
export function* address(command: Address): Rule<number> {
  const draft = new Draft(command.now);
  const notification = yield* ask('notification', command.id);
  if (notification?.state !== 'owed') return draft.done(0);
  const names = [...new Set(notification.to ?? command.always)];
  for (const target of names) {
    const isKnown = command.known.includes(target);
    const row = newDispatch(draft.now, notification, target, isKnown ? null : noTarget(target));
    draft.add({ do: 'insertDispatch', row });
    if (isKnown) draft.wake('dispatch', target, draft.now + groupWindowMs);
    else alarm(draft, target, 1, noTarget(target));
  }
  draft.add({ do: 'patchNotification', id: notification.id, set: { state: 'addressed' } });
  return draft.done(names.length);
}

function newDispatch(now: number, { id }: Notification, target: string, error: Failure | null): Dispatch {
  return {
    id: `${target}:${id}`,
    notificationId: id,
    target,
    state: error ? 'givenUp' : 'owed',
    leadId: null,
    attempt: 0,
    notBefore: now,
    error,
    owedAt: now,
    endedAt: error ? now : null,
  };
}

/** Why nothing can be sent to a target that the configuration does not have. */
export function noTarget(target: string): Failure {
  return { code: 'NO_TARGET', message: `The configuration has no target "${target}" under notify.` };
}

/** What goes to a target as one message. */
export interface Group {
  readonly lead: Dispatch;
  /** The leader's first, then as they came. */
  readonly notifications: readonly Notification[];
}

/**
 * The next group that may be tried now: one whose back-off is over, or else what is owed, taken together. Which notifications
 * go together is durable before the first attempt, so that a repetition has the same id and the same content. While a target
 * is down nothing new is begun. Owes the look at whatever may be tried later.
 */
export function* takeGroup(command: {
  readonly now: number;
  readonly target: string;
}): Rule<Group | undefined> {
  const { now, target } = command;
  const draft = new Draft(now);
  const open = yield* ask('openGroups', target);
  const due = open.find(({ notBefore }) => notBefore <= now || notBefore - now > longestWaitMs);
  if (due) return draft.done<Group | undefined>(yield* groupOf(due, yield* ask('dispatchesOf', due.id)));
  const soonest = Math.min(...open.map((lead) => lead.notBefore));
  if (open.length > 0) draft.wake('dispatch', target, soonest);
  const isDown = open.some(({ error }) => error !== null && error.code !== refusedCode);
  if (isDown || open.length >= mostOpenGroups) return nothing(draft);
  const owed = yield* ask('owedDispatches', target, largestGroup);
  const first = owed[0];
  if (!first) return nothing(draft);
  // Instants ahead are those of a clock that was set back since: nobody waits for them.
  const readyAt = first.owedAt > now ? now : first.owedAt + groupWindowMs;
  if (readyAt > now) {
    draft.wake('dispatch', target, Math.min(readyAt, soonest));
    return nothing(draft);
  }
  for (const row of owed) patch(draft, row, 'claim', { leadId: first.id });
  if (owed.length === largestGroup) draft.wake('dispatch', target);
  return draft.done<Group | undefined>(yield* groupOf(first, owed));
}

function nothing(draft: Draft): Decision<Group | undefined> {
  return draft.done<Group | undefined>(undefined);
}

function* groupOf(lead: Dispatch, members: readonly Dispatch[]): Asking<Group> {
  const notifications: Notification[] = [];
  for (const { notificationId } of members) {
    const notification = yield* ask('notification', notificationId);
    if (notification) notifications.push(notification);
  }
  return { lead, notifications };
}

/** The target has taken the message. */
export function* groupSent(command: { readonly now: number; readonly leadId: string }): Rule<number> {
  const draft = new Draft(command.now);
  const members = yield* ask('dispatchesOf', command.leadId);
  const open = members.filter((row) => row.state === 'sending');
  for (const row of open) patch(draft, row, 'send', { error: null, endedAt: draft.now });
  return draft.done(open.length);
}

/** An attempt failed. */
export interface GroupFailed {
  readonly now: number;
  readonly leadId: string;
  readonly error: Failure;
  /** How long until the next attempt, in milliseconds. */
  readonly delayMs: number;
  /** No attempt can succeed any more. */
  readonly isFinal?: boolean;
}

/** Tried again later, or, after a day, given up: with all that has waited as long behind it. */
export function* groupFailed(command: GroupFailed): Rule<'later' | 'givenUp' | 'over'> {
  const { now, error } = command;
  const draft = new Draft(now);
  const members = yield* ask('dispatchesOf', command.leadId);
  const lead = members.find((row) => row.id === command.leadId);
  if (lead?.state !== 'sending') return draft.done<'later' | 'givenUp' | 'over'>('over');
  const isLongEnough = now - lead.owedAt >= giveUpAfterMs && lead.attempt + 1 >= fewestAttempts;
  if (!command.isFinal && !isLongEnough) {
    const notBefore = now + command.delayMs;
    const set = { attempt: lead.attempt + 1, notBefore, error };
    draft.add({ do: 'patchDispatch', id: lead.id, set });
    draft.wake('dispatch', lead.target, notBefore);
    return draft.done<'later' | 'givenUp' | 'over'>('later');
  }
  const behind = yield* ask('owedDispatches', lead.target, largestGroup);
  const late = behind.filter((row) => command.isFinal === true || now - row.owedAt >= giveUpAfterMs);
  const lost = [...members.filter((row) => row.state === 'sending'), ...late];
  for (const row of lost) {
    const set = row.id === lead.id ? { attempt: lead.attempt + 1 } : {};
    patch(draft, row, 'giveUp', { ...set, error, endedAt: now });
  }
  alarm(draft, lead.target, lost.length, error);
  draft.wake('dispatch', lead.target);
  return draft.done<'later' | 'givenUp' | 'over'>('givenUp');
}

/** Owes another look at what a target is owed: this one was cut short. */
export function* lookAgain(command: { readonly now: number; readonly target: string }): Rule<boolean> {
  const draft = new Draft(command.now);
  draft.wake('dispatch', command.target);
  return draft.done(true);
}

function patch(
  draft: Draft,
  row: Dispatch,
  input: 'claim' | 'send' | 'giveUp',
  set: Partial<Dispatch>,
): void {
  const state = dispatchTransitions[row.state][input];
  if (!state) throw new Error(`dispatch ${row.id}: ${input} is illegal while ${row.state}`);
  draft.add({ do: 'patchDispatch', id: row.id, set: { ...set, state } });
}

function alarm(draft: Draft, target: string, count: number, error: Failure): void {
  const data = { what: 'notificationGivenUp', target, count, code: error.code, message: error.message };
  draft.tell({ type: 'alarm', rootId: null, sessionId: null, data });
}
