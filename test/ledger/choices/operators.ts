import type { Actor } from '../../../src/ledger/execution.ts';
import type { Choose } from '../choice.ts';
import { freshOf, isRare, one, sessionOf } from '../choice.ts';

const actors: readonly Actor[] = [
  { kind: 'person', name: 'ann' },
  { kind: 'agent', name: 'another' },
  { kind: 'deadline' },
];

/** A person, an agent or a deadline cancels something and all below it. */
export const treeIsCancelled: Choose = (context) => {
  const { state, now, a, b } = context;
  const open = [...state.executions.values()].filter((row) => !row.closed);
  const row = isRare(b, 8) ? one(state.executions.values(), a) : one(open, a);
  const actor = actors[b % actors.length];
  if (!row || !actor) return undefined;
  const verdict = actor.kind === 'deadline' ? 'TIMED_OUT' : 'CANCELLED';
  const command = { now, id: row.id, request: { actor, at: now }, verdict, fresh: freshOf(context) };
  return { call: { rule: 'cancel', command } };
};

/** A person stops a session. */
export const sessionIsStopped: Choose = (context) => {
  const session = sessionOf(context);
  const { now } = context;
  if (!session) return undefined;
  const request = { actor: { kind: 'person', name: 'ann' } as const, at: now };
  return { call: { rule: 'stopSession', command: { now, sessionId: session.id, request } } };
};

/** A person takes something out of what is waited for. */
export const workIsDetached: Choose = ({ state, now, a, b }) => {
  const below = [...state.executions.values()].filter((row) => row.parentId !== null && !row.closed);
  const row = isRare(b, 8) ? one(state.executions.values(), a) : one(below, a);
  return row && { call: { rule: 'detach', command: { now, id: row.id, actor: { kind: 'person' } } } };
};

/** A person drops a notice, or has it delivered now. */
export const noticeIsHandled: Choose = ({ state, now, a, b }) => {
  const pending = [...state.notices.values()].filter(
    (row) => row.state === 'owed' || row.state === 'claimed',
  );
  const row = isRare(b, 5) ? one(state.notices.values(), a) : one(pending, a);
  if (!row) return undefined;
  if (b % 2 === 0) return { call: { rule: 'redeliver', command: { now, id: row.id } } };
  const actor: Actor = { kind: 'person', name: 'ann' };
  return { call: { rule: 'waiveNotice', command: { now, id: row.id, reason: 'not needed', actor } } };
};

/** A person decides about what waits for a usage limit or a sign-in. */
export const limitIsDecided: Choose = (context) => {
  const session = sessionOf(context);
  const { now, b } = context;
  if (!session) return undefined;
  const action = b % 2 === 0 ? 'resume' : 'giveUp';
  const fresh = freshOf(context);
  const command = { now, sessionId: session.id, action, actor: { kind: 'person' }, fresh } as const;
  return { call: { rule: 'decideLimit', command } };
};

/** Small things that happen beside: a look later, a position, a note that a text was written. */
export const bookIsKept: Choose = ({ state, now, a, b }) => {
  const session = one(state.sessions.values(), a);
  if (!session) return undefined;
  const sessionId = session.id;
  if (b % 11 === 0) return { call: { rule: 'processGone', command: { now, sessionId } } };
  if (b % 3 === 0)
    return { call: { rule: 'wakeLater', command: { now, sessionId, delayMs: 1000 * (b % 7) } } };
  if (b % 3 === 1) return { call: { rule: 'markPosition', command: { now, sessionId, position: b * 7 } } };
  const turnId = one(state.turns.keys(), b);
  if (turnId === undefined) return undefined;
  return b % 2 === 0
    ? { call: { rule: 'markWritten', command: { now, turnId } } }
    : { call: { rule: 'moveTurn', command: { now, turnId } } };
};

/** The server starts again: with other limits, or with none. */
export const limitsChange: Choose = ({ now, a, b, c }) => {
  const turns = { turns: 1 + (b % 2) };
  const limits = [undefined, turns, turns, { perAgent: 1 }, { turns: 2, perProject: 1 }][a % 5];
  const agents = c % 4 === 0 && limits ? { ...limits, perAgent: 1 } : limits;
  return { call: { rule: 'callNext', command: { now, limits: agents } } };
};
