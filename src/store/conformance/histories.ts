import type { SessionId } from '../../base/ids.ts';
import { FreshIds, Ids } from '../../base/ids.ts';
import { agentExited, agentWaits } from '../../ledger/agent-process.ts';
import { taskEnded, taskStarted } from '../../ledger/tasks.ts';
import { cancel, cancelRun, stopSession } from '../../ledger/cancel.ts';
import type { Rule } from '../../ledger/decision.ts';
import { enqueue } from '../../ledger/enqueue.ts';
import type { Actor } from '../../ledger/execution.ts';
import { takeLane } from '../../ledger/lane.ts';
import { launch } from '../../ledger/launch.ts';
import { detach, redeliver, waiveNotice } from '../../ledger/notice-actions.ts';
import { sendFailed } from '../../ledger/send-failed.ts';
import { advance } from '../../ledger/advance.ts';
import { drained } from '../../ledger/run-end.ts';
import { beginRun } from '../../ledger/sequence.ts';
import { settle } from '../../ledger/settle.ts';
import { claimSteer, resolveSteer } from '../../ledger/steer.ts';
import { agentEnded } from '../../ledger/turn-end.ts';
import { agentStarted, agentTook } from '../../ledger/turn-start.ts';
import type { Dump } from './adapters.ts';
import { run, session, start } from './rows.ts';

/** One step of a random history: which command, and three small numbers that say about what. */
export interface Choice {
  readonly command: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

type Command = () => Rule<unknown>;
type Pick = (choice: Choice, context: Context) => Command;

interface Context {
  readonly state: Dump;
  readonly now: number;
  readonly fresh: FreshIds;
}

const node = 'local';
const error = { code: 'AGENT_FAILED', message: 'no' };
const person: Actor = { kind: 'person', name: 'ann' };
const statuses = ['succeeded', 'failed', 'interrupted', 'lost'] as const;

function one<Row>(rows: readonly Row[], n: number): Row | undefined {
  return rows.length === 0 ? undefined : rows[n % rows.length];
}

const nothing: Command = () => takeLane({ now: 0, sessionId: '' as SessionId, node, fresh: unused });
const unused = new FreshIds(
  new Ids(
    () => 0,
    () => 0,
  ),
);

/** What the driver of a session would name: mostly the turn that runs, sometimes another. */
function nativeTurn({ state }: Context, sessionId: SessionId, n: number): string {
  const running = state.turns.filter((turn) => turn.sessionId === sessionId && turn.state === 'running');
  return (n % 4 === 0 ? undefined : one(running, n)?.nativeTurnId) ?? `native ${n}`;
}

/** Every rule of the ledger that anything outside calls, with arguments from the state as it is. */
const commands: readonly Pick[] = [
  ({ a, b, c }, { state, now, fresh }) => {
    const row = one(state.sessions, a);
    if (!row) return nothing;
    const message = { id: fresh.at('execution', 0), sessionId: row.id, text: `message ${now}` };
    const options =
      c % 3 === 0 ? ({ join: 'all', check: 'true' } as const) : ({ background: 'detach' } as const);
    const whenBusy = (['queue', 'steer', 'reject'] as const)[b % 3] ?? 'queue';
    return () => enqueue({ now, whenBusy, message: { ...message, ...options } });
  },
  ({ a }, { state, now, fresh }) => {
    const row = one(state.sessions, a);
    return row ? () => takeLane({ now, sessionId: row.id, node, fresh }) : nothing;
  },
  ({ a, b, c }, { state, now, fresh }) => {
    const row = one(state.sessions, a);
    if (!row) return nothing;
    const texts = [
      row.laneTurn,
      ...state.steers.map((steer) => steer.id),
      ...state.turns.map((turn) => turn.id),
    ];
    const deliveryId = b % 4 > 0 ? row.laneTurn : one(texts, b);
    const event = { now, sessionId: row.id, nativeTurnId: `native ${now}`, position: now, node, fresh };
    const task = c % 2 === 0 ? { taskId: `task ${b % 3}` } : {};
    return () => agentStarted({ ...event, ...(deliveryId ? { deliveryId } : task) });
  },
  ({ a, b, c }, context) => {
    const { state, now, fresh } = context;
    const row = one(state.sessions, a);
    const steer = one(state.steers, b);
    if (!row || !steer) return nothing;
    const nativeTurnId = nativeTurn(context, row.id, c);
    return () =>
      agentTook({ now, sessionId: row.id, nativeTurnId, deliveryId: steer.id, position: now, node, fresh });
  },
  ({ a, b, c }, context) => {
    const { state, now, fresh } = context;
    const row = one(state.sessions, a);
    if (!row) return nothing;
    const status = statuses[b % 8] ?? 'succeeded';
    const nativeTurnId = nativeTurn(context, row.id, c);
    const tasks = Array.from({ length: c % 3 }, (_, i) => ({ taskId: `task ${i}`, name: `task ${i}` }));
    const more =
      status === 'failed' ? { error: c % 2 === 0 ? { ...error, kind: 'capacity' as const } : error } : {};
    const event = { now, sessionId: row.id, nativeTurnId, status, answer: 'done', tasks, position: now };
    return () => agentEnded({ ...event, ...more, endIsNegativeProof: b % 2 === 0, fresh });
  },
  ({ a, b, c }, context) => {
    const { state, now, fresh } = context;
    const row = one(state.sessions, a);
    const about = { now, id: fresh.at('execution', 0), kind: 'agent', name: 'child' } as const;
    const key = b % 3 === 0 ? { key: `key ${c % 2}` } : {};
    if (c % 4 === 0 || !row) return () => launch({ ...about, ...key, caller: { by: 'person' } });
    const parent = one(state.executions, b);
    if (c % 4 === 1 && parent) {
      return () => launch({ ...about, ...key, caller: { by: 'execution', executionId: parent.id } });
    }
    const call = {
      state: 'running',
      nativeTurnId: nativeTurn(context, row.id, b),
      byId: b % 2 === 0,
    } as const;
    return () => launch({ ...about, ...key, caller: { by: 'session', sessionId: row.id, call } });
  },
  ({ a, b }, { state, now, fresh }) => {
    const parent = one(state.executions, a);
    if (!parent) return nothing;
    const { plan } = run(1, session(1).id);
    const hosted = { ...session(1), id: fresh.at('session', 0), state: 'cold' as const };
    const hosts = { session: hosted, runId: fresh.at('run', 0), plan, tells: 'cost' as const };
    const caller =
      b % 2 === 0 ? { by: 'person' as const } : { by: 'execution' as const, executionId: parent.id };
    return () => launch({ now, id: fresh.at('execution', 0), kind: 'agent', name: 'host', caller, hosts });
  },
  ({ a, b }, { state, now, fresh }) => {
    // What a turn does not settle.
    const inTurns = ['message', 'continuation', 'late'];
    const open = state.executions.filter((each) => each.endedAt === null && !inTurns.includes(each.kind));
    const row = one(open, a);
    if (!row) return nothing;
    const ended = (['succeeded', 'failed', 'lost'] as const)[b % 3] ?? 'succeeded';
    const ending = { state: ended, result: `result ${b}`, error: ended === 'failed' ? error : null };
    return () => settle({ now, id: row.id, noticeId: fresh.at('notice', 0), ending });
  },
  ({ a }, { state, now, fresh }) => {
    const row = one(state.sessions, a);
    return row ? () => claimSteer({ now, sessionId: row.id, fresh }) : nothing;
  },
  ({ a, b }, { state, now }) => {
    const row = one(state.steers, a);
    const what = (['written', 'refused', 'withdrawn'] as const)[b % 3] ?? 'written';
    return row ? () => resolveSteer({ now, steerId: row.id, what }) : nothing;
  },
  ({ a, b }, { state, now, fresh }) => {
    const row = one(state.executions, a);
    if (!row || b % 3 > 0) return nothing;
    return () =>
      cancel({ now, id: row.id, request: { actor: person, at: now }, verdict: 'CANCELLED', fresh });
  },
  ({ a, b }, { state, now, fresh }) => {
    const row = one(
      state.turns.filter((turn) => turn.state === 'starting'),
      a,
    );
    return row ? () => sendFailed({ now, turnId: row.id, error, isFinal: b % 4 === 0, fresh }) : nothing;
  },
  ({ a, b }, { state, now, fresh }) => {
    const row = one(state.sessions, a);
    const task = { taskId: `task ${b % 3}`, name: 'task' };
    return row ? () => taskStarted({ now, sessionId: row.id, task, fresh }) : nothing;
  },
  ({ a, b }, { state, now, fresh }) => {
    const row = one(state.sessions, a);
    const end = {
      taskId: `task ${b % 3}`,
      status: 'succeeded',
      result: 'r',
      fresh,
      wakesByItself: b % 2 === 0,
    } as const;
    return row ? () => taskEnded({ now, sessionId: row.id, ...end }) : nothing;
  },
  ({ a, b }, { state, now, fresh }) => {
    const row = one(state.sessions, a);
    if (!row || b % 3 > 0) return nothing;
    return () => agentExited({ now, sessionId: row.id, reason: 'died', fresh });
  },
  ({ a, b }, { state, now }) => {
    const row = one(state.sessions, a);
    const waiting = b % 2 === 0 ? { for: 'input' as const, since: now, text: 'which?' } : null;
    return row ? () => agentWaits({ now, sessionId: row.id, waiting }) : nothing;
  },
  ({ a, b }, { state, now }) => {
    const row = one(state.notices, a);
    if (!row) return nothing;
    return b % 2 === 0
      ? () => redeliver({ now, id: row.id })
      : () => waiveNotice({ now, id: row.id, reason: 'not needed', actor: person });
  },
  ({ a, b }, { state, now }) => {
    const row = one(state.executions, a);
    return row && b % 3 === 0 ? () => detach({ now, id: row.id, actor: person }) : nothing;
  },
  ({ a }, { state, now, fresh }) => {
    const row = one(state.sessions, a);
    const { plan, project, name } = run(1, session(1).id);
    return row
      ? () => beginRun({ now, id: fresh.at('run', 0), project, name, sessionId: row.id, plan })
      : nothing;
  },
  ({ a, b }, { state, now, fresh }) => {
    const row = one(state.runs, a);
    if (!row) return nothing;
    if (b % 8 === 0) return () => cancelRun({ now, id: row.id, request: { actor: person, at: now }, fresh });
    const { ownerId } = row;
    if (b % 8 === 1 && ownerId !== null) return () => drained({ now, id: ownerId, fresh });
    return () => advance({ now, id: row.id, moves: b % 8 === 2 ? row.moves - 1 : row.moves, fresh });
  },
  ({ a, b }, { state, now }) => {
    const row = one(state.sessions, a);
    if (!row || b % 6 > 0) return nothing;
    return () => stopSession({ now, sessionId: row.id, request: { actor: person, at: now } });
  },
];

/** Which command comes how often: those at the beginning are what makes a history go on. */
export const weights: readonly { readonly weight: number; readonly command: number }[] = commands.map(
  (_, command) => ({ command, weight: command === 6 ? 1 : command < 10 ? 8 : 1 }),
);

/** What a choice means in this state. `ids` must give the same ids in the same order whenever a history is made again. */
export function commandOf(choice: Choice, state: Dump, step: number, ids: Ids): Command {
  const pick = commands[choice.command];
  if (!pick) throw new Error(`no command ${choice.command}`);
  return pick(choice, { state, now: start + step, fresh: new FreshIds(ids) });
}
