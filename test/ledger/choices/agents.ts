import type { ExecutionUsage } from '../../../src/ledger/execution.ts';
import type { Session } from '../../../src/ledger/session.ts';
import type { AgentEnded } from '../../../src/ledger/turn-end.ts';
import type { Choice, Choose, Context } from '../choice.ts';
import type { Turn } from '../../../src/ledger/turn.ts';
import { freshOf, hasWork, isRare, node, one, runningName, sessionOf, unendedTurns } from '../choice.ts';
import { personSends } from './messages.ts';
import { idleMs } from './wakes.ts';

const statuses = ['succeeded', 'succeeded', 'succeeded', 'failed', 'interrupted', 'lost'] as const;

/** Background work of an agent, by the few names that agents use again and again. */
function taskId(n: number): string {
  return `task ${n % 3}`;
}

function started(context: Context, session: Session, more: { deliveryId?: string; taskId?: string }): Choice {
  const { state, now, d } = context;
  // A driver may repeat what it has said.
  const old = isRare(d, 15) ? one(state.turns.values(), d)?.nativeTurnId : undefined;
  const about = { now, sessionId: session.id, nativeTurnId: old ?? `native ${now}`, position: now, node };
  return { call: { rule: 'agentStarted', command: { ...about, ...more, fresh: freshOf(context) } } };
}

/** The agent begins: mostly on the text of the lane, else by itself, for a task, or on another text of ours. */
export const agentBegins: Choose = (context) => {
  const { state, b, c } = context;
  const session = sessionOf(context);
  if (!session) return undefined;
  if (session.laneTurn !== null && b % 2 === 0)
    return started(context, session, { deliveryId: session.laneTurn });
  if (b % 4 === 1) return started(context, session, { taskId: taskId(c) });
  if (b % 4 === 3) return started(context, session, {});
  const texts = [...state.steers.keys(), ...state.turns.keys()];
  const deliveryId = one(texts, c);
  return started(context, session, deliveryId === undefined ? {} : { deliveryId });
};

/** The agent takes a steered text up; rarely one of another session, or the text of a turn. */
export const agentTakes: Choose = (context) => {
  const { state, now, b, c } = context;
  const open = [...state.steers.values()].filter((steer) => steer.endedAt === null);
  const steer = isRare(b, 8) ? one(state.steers.values(), c) : one(open, c);
  const turnId = one(state.turns.keys(), c);
  const deliveryId = steer && !isRare(b, 9) ? steer.id : turnId;
  const session = steer && !isRare(c, 9) ? state.sessions.get(steer.sessionId) : sessionOf(context);
  if (!session || deliveryId === undefined) return undefined;
  const about = { now, sessionId: session.id, nativeTurnId: runningName(context, session, b), deliveryId };
  return {
    call: { rule: 'agentTook', command: { ...about, position: now, node, fresh: freshOf(context) } },
  };
};

/**
 * A person types at the agent's own screen: what begins by it, or is joined by it. A driver may tell it again, or take a text
 * of ours for one.
 */
export const agentHearsAPerson: Choose = (context) => {
  const { state, now, b, c, d } = context;
  const session = sessionOf(context);
  if (!session) return undefined;
  const old = one(
    [...state.executions.values()].flatMap((row) =>
      row.kind === 'message' && row.nativeId !== null ? [row.nativeId] : [],
    ),
    d,
  );
  const ours = one([...state.turns.keys(), ...state.steers.keys()], c);
  const id = isRare(d, 9) ? ours : isRare(d, 5) ? old : undefined;
  const typed = { id: id ?? `typed ${now}`, text: `typed ${now}` };
  const [running] = unendedTurns(state, session).filter((turn) => turn.nativeTurnId !== null);
  const isNew = !running || isRare(b, 4);
  const nativeTurnId = isNew ? `native ${now}` : runningName(context, session, c);
  const about = { now, sessionId: session.id, nativeTurnId, typed, position: now, node };
  const rule = isNew && b % 2 === 0 ? 'agentStarted' : 'agentTyped';
  return { call: { rule, command: { ...about, fresh: freshOf(context) } } };
};

/** The agent is idle again, in one of the ways in which turns end, with or without work that lives on. */
export const agentEnds: Choose = (context) => {
  const session = sessionOf(context);
  return session && ending(context, session);
};

function ending(context: Context, session: Session): Choice {
  const { now, b, c, d } = context;
  const status = statuses[b % statuses.length] ?? 'succeeded';
  const tasks = Array.from({ length: Math.max(0, (d % 5) - 2) }, (_, i) => taskId(c + i)).map((id) => ({
    taskId: id,
    name: id,
  }));
  // A driver that lists a task twice must do no harm.
  if (isRare(d, 17)) tasks.push(...tasks);
  const kind = (['agent', 'capacity', 'login'] as const)[c % 3] ?? 'agent';
  const resets = d % 2 === 0 ? { resetsAt: now + 30_000 } : {};
  const error = { code: 'AGENT_FAILED', message: 'no', kind, ...resets };
  const command: AgentEnded = {
    now,
    sessionId: session.id,
    nativeTurnId: runningName(context, session, c),
    status,
    answer: `answer ${now}`,
    ...(status === 'failed' ? { error } : {}),
    ...(d % 3 > 0 ? { usage: usageOf(context) } : {}),
    tasks,
    position: now,
    endIsNegativeProof: d % 2 === 0,
    fresh: freshOf(context),
  };
  return { call: { rule: 'agentEnded', command } };
}

/** A total of a turn; rarely less than was told before. */
function usageOf({ b, c, d }: Context): ExecutionUsage {
  const tokens = { inputTokens: (c % 7) * 10, outputTokens: d % 20 };
  return b % 4 === 0 ? { ...tokens, usd: (c % 9) / 100 } : b % 4 === 1 ? { usd: (d % 9) / 100 } : tokens;
}

/** The agent tells what its turn has used so far; rarely of a turn that does not run. */
export const agentUses: Choose = (context) => {
  const session = sessionOf(context);
  if (!session) return undefined;
  const { now, c } = context;
  const about = { now, sessionId: session.id, nativeTurnId: runningName(context, session, c) };
  return { call: { rule: 'agentUsed', command: { ...about, usage: usageOf(context) } } };
};

/** What comes next of itself in a session: so that histories get somewhere. */
export const sessionGoesOn: Choose = (context) => {
  const { state, now, c } = context;
  const session = sessionOf(context);
  if (!session) return undefined;
  const [turn] = unendedTurns(state, session);
  if (!turn) {
    if (!hasWork(context, session)) return personSends(context);
    const command = { limits: context.limits, now, sessionId: session.id, node, fresh: freshOf(context) };
    return { call: { rule: 'takeLane', command } };
  }
  if (turn.state === 'starting') {
    if (turn.writtenAt === null && c % 2 === 0)
      return { call: { rule: 'markWritten', command: { now, turnId: turn.id } } };
    return started(context, session, { deliveryId: turn.id });
  }
  return runningGoesOn(context, session, turn);
};

/** Within a turn: what is on its way is written and taken up, something is launched, or the turn ends well. */
function runningGoesOn(context: Context, session: Session, turn: Turn): Choice | undefined {
  const { state, now, b } = context;
  const open = [...state.steers.values()].find(
    (steer) => steer.sessionId === session.id && steer.endedAt === null,
  );
  if (open?.state === 'claimed')
    return { call: { rule: 'resolveSteer', command: { now, steerId: open.id, what: 'written' } } };
  if (open && b % 3 > 0) {
    const about = { now, sessionId: session.id, nativeTurnId: turn.nativeTurnId ?? '', deliveryId: open.id };
    return {
      call: { rule: 'agentTook', command: { ...about, position: now, node, fresh: freshOf(context) } },
    };
  }
  if (b % 3 > 0) return launchFrom(context, session, turn);
  const { call } = ending(context, session);
  if (call.rule !== 'agentEnded') return undefined;
  const { error: _error, ...command } = call.command;
  return { call: { rule: 'agentEnded', command: { ...command, status: 'succeeded' } } };
}

function launchFrom(context: Context, session: Session, turn: Turn): Choice {
  const { now, c } = context;
  const call = { state: 'running', nativeTurnId: turn.nativeTurnId ?? '', byId: c % 2 === 0 } as const;
  const caller = { by: 'session', sessionId: session.id, call } as const;
  const about = {
    now,
    id: freshOf(context).at('execution', 0),
    kind: 'workflow',
    name: `work ${now}`,
  } as const;
  return { call: { rule: 'launch', command: { ...about, caller } } };
}

/** The agent's process is verified dead. */
export const agentDies: Choose = (context) => {
  const session = sessionOf(context);
  const { now } = context;
  if (!session) return undefined;
  const command = { now, sessionId: session.id, reason: 'it died', fresh: freshOf(context) };
  return { call: { rule: 'agentExited', command } };
};

/** A conversation was opened. */
export const sessionOpens: Choose = (context) => {
  const session = sessionOf(context);
  const { now } = context;
  if (!session) return undefined;
  return {
    call: {
      rule: 'sessionOpened',
      command: { now, sessionId: session.id, nativeId: `conversation ${now}`, node, idleAt: now + idleMs },
    },
  };
};

/** The agent asks, is limited, or goes on. */
export const agentAsks: Choose = (context) => {
  const { now, b } = context;
  const session = sessionOf(context);
  if (!session) return undefined;
  const reason = (['input', 'capacity', 'login'] as const)[b % 3] ?? 'input';
  const waiting = b % 2 === 0 ? { for: reason, since: now, text: 'which?' } : null;
  return { call: { rule: 'agentWaits', command: { now, sessionId: session.id, waiting } } };
};

/** Background work of the agent begins or ends. */
export const taskBegins: Choose = (context) => {
  const { now, b } = context;
  const session = sessionOf(context);
  if (!session) return undefined;
  const task = { taskId: taskId(b), name: taskId(b) };
  return {
    call: { rule: 'taskStarted', command: { now, sessionId: session.id, task, fresh: freshOf(context) } },
  };
};

/** Background work of the agent ends; the agent wakes by itself for it, or does not. */
export const taskEnds: Choose = (context) => {
  const { state, now, b, c } = context;
  const live = [...state.executions.values()].filter((row) => row.kind === 'task' && row.endedAt === null);
  const task = one(live, b);
  const sessionId = task?.runsIn ?? sessionOf(context)?.id;
  if (!sessionId) return undefined;
  const id = isRare(c, 8) ? taskId(b) : (task?.nativeId ?? taskId(b));
  const status = (['succeeded', 'failed', 'cancelled'] as const)[c % 3] ?? 'succeeded';
  const about = { now, sessionId, taskId: id, status, result: 'done', wakesByItself: c % 2 === 0 };
  return { call: { rule: 'taskEnded', command: { ...about, fresh: freshOf(context) } } };
};

/** A text was handed to the process, or provably never got there. */
export const sendFails: Choose = (context) => {
  const { state, now, a, b } = context;
  const starting = [...state.turns.values()].filter((turn) => turn.state === 'starting');
  const turn = isRare(b, 8) ? one(state.turns.values(), a) : one(starting, a);
  if (!turn) return undefined;
  const code = b % 2 === 0 ? 'SESSION_GONE' : 'AGENT_UNAVAILABLE';
  const command = { now, turnId: turn.id, error: { code, message: 'never got it' }, isFinal: b % 4 === 0 };
  return { call: { rule: 'sendFailed', command: { ...command, fresh: freshOf(context) } } };
};

/** A text is claimed for the running turn. */
export const steerIsClaimed: Choose = (context) => {
  const { state, now, b } = context;
  const wanted = [...state.notices.values()].filter((notice) => notice.state === 'owed');
  const sessions = [...state.sessions.values()].filter(
    (each) => each.laneTurn !== null && wanted.some((notice) => notice.sessionId === each.id),
  );
  const session = isRare(b, 4) ? sessionOf(context) : (one(sessions, b) ?? sessionOf(context));
  if (!session) return undefined;
  return { call: { rule: 'claimSteer', command: { now, sessionId: session.id, fresh: freshOf(context) } } };
};

/** What became of a claimed text. */
export const steerIsResolved: Choose = ({ state, now, a, b }) => {
  const open = [...state.steers.values()].filter((steer) => steer.endedAt === null);
  const steer = isRare(b, 8) ? one(state.steers.values(), a) : one(open, a);
  const what = (['written', 'written', 'refused', 'withdrawn'] as const)[b % 4] ?? 'written';
  return steer && { call: { rule: 'resolveSteer', command: { now, steerId: steer.id, what } } };
};
