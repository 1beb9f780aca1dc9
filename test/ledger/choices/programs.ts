import type { ExecutionKind } from '../../../src/ledger/execution.ts';
import type { Launch } from '../../../src/ledger/launch.ts';
import type { CallEvidence, Caller } from '../../../src/ledger/parent.ts';
import type { RowsOfRun } from '../../../src/ledger/plan.ts';
import { newSession } from '../../../src/ledger/session.ts';
import type { Choice, Choose, Context } from '../choice.ts';
import { freshOf, isOfTurn, isRare, node, one, runningName, runningPrograms, sessionOf } from '../choice.ts';
import { planOf } from './messages.ts';

const kinds: readonly ExecutionKind[] = ['agent', 'outside', 'workflow', 'step', 'review', 'service'];

/** What the driver would say of a call: mostly the running turn, by the call's own word or by order only. */
function evidenceOf(context: Context): { sessionId: Launch['id'] | string; call: CallEvidence } | undefined {
  const session = sessionOf(context);
  if (!session) return undefined;
  const { b, c } = context;
  const call: CallEvidence = isRare(b, 7)
    ? endedOrUnknown(b)
    : { state: 'running', nativeTurnId: runningName(context, session, c), byId: c % 2 === 0 };
  return { sessionId: session.id, call };
}

function endedOrUnknown(n: number): CallEvidence {
  return n % 2 === 0 ? { state: 'unknown' } : { state: 'ended', byId: n % 3 === 0 };
}

function callerOf(context: Context): Caller | undefined {
  const { state, a, c, d } = context;
  if (d % 8 === 7) {
    const reportsTo = one(state.sessions.keys(), a);
    return { by: 'person', ...(c % 2 === 0 && reportsTo ? { reportsTo } : {}) };
  }
  if (d % 4 === 1) {
    const executionId = one(state.executions.keys(), a);
    return executionId && { by: 'execution', executionId };
  }
  const found = evidenceOf(context);
  return found && ({ by: 'session', ...found } as Caller);
}

function launching(context: Context, more: Partial<Launch>): Choice | undefined {
  const { now, c, d } = context;
  const caller = callerOf(context);
  if (!caller) return undefined;
  const kind = kinds[c % kinds.length] ?? 'outside';
  // Four tries with one key, now and then numbered by the caller itself.
  const key = d % 3 === 0 ? { key: `key ${c % 2}` } : {};
  const attempt = d % 6 === 0 && c % 3 === 0 ? { attempt: 1 + (c % 4) } : {};
  const lives = kind === 'outside' && !more.hosts ? { deadlineAt: now + 90_000 } : {};
  const about = { now, id: freshOf(context).at('execution', 0), caller, kind, name: `${kind} ${now}` };
  return { call: { rule: 'launch', command: { ...about, ...key, ...attempt, ...lives, ...more } } };
}

/** An agent, a program or a person launches something. */
export const workIsLaunched: Choose = (context) => {
  // Registering once more under an id that is known: the same session gets it again, another does not.
  const known = isRare(context.d, 20) ? one(context.state.executions.keys(), context.b) : undefined;
  return launching(context, known ? { id: known } : {});
};

function rowsOf(count: number): RowsOfRun {
  return { count, rows: Array.from({ length: count }, (_, row) => ({ row })) };
}

/** A background agent, with a session of its own and a run as its program. */
export const agentIsLaunched: Choose = (context) => {
  const fresh = freshOf(context);
  const id = fresh.at('session', 0);
  const about = { id, project: 'default', agent: 'demo', cwd: '/', title: null, node };
  const session = newSession({ ...about, createdAt: context.now });
  const tells = (['cost', 'cost', 'tokens', 'none'] as const)[context.d % 4] ?? 'cost';
  const onChildFailure = context.b % 2 === 0 ? ('cancel' as const) : ('wait' as const);
  const gives = { agents: {}, generic: true, maxRounds: 1 + (context.c % 2), onChildFailure };
  const todo = context.a % 3 === 0 ? gives : null;
  const rows = context.b % 3 === 0 ? { rows: rowsOf(context.c % 3) } : {};
  const hosts = { session, runId: fresh.at('run', 0), plan: planOf(context), todo, tells, ...rows };
  return launching(context, { kind: 'agent', name: `agent ${context.now}`, hosts });
};

/** A program ends; rarely somebody claims the end of what a turn settles. */
export const workEnds: Choose = (context) => {
  const { state, now, a, b } = context;
  const running = runningPrograms(state).filter((row) => !isHostedByRun(context, row.id));
  const row = isRare(b, 15) ? one(state.executions.values(), a) : one(running, a);
  if (!row) return undefined;
  const ended = (['succeeded', 'succeeded', 'failed', 'lost'] as const)[b % 4] ?? 'succeeded';
  const error = ended === 'succeeded' ? null : { code: 'AGENT_FAILED', message: 'no' };
  const asked = row.cancelRequested && b % 3 > 0 && !isOfTurn(row);
  const ending = { state: asked ? ('cancelled' as const) : ended, result: `result ${now}`, error };
  return {
    call: {
      rule: 'settle',
      command: { now, id: row.id, noticeId: freshOf(context).at('notice', 0), ending },
    },
  };
};

function isHostedByRun({ state }: Context, id: Launch['id']): boolean {
  return [...state.runs.values()].some((run) => run.ownerId === id);
}

/** An outside program says that it lives. */
export const programBeats: Choose = ({ state, now, a, b }) => {
  const outside = [...state.executions.values()].filter((row) => row.kind === 'outside');
  const row = isRare(b, 8) ? one(state.executions.values(), a) : one(outside, a);
  return row && { call: { rule: 'heartbeat', command: { now, id: row.id, until: now + 90_000 } } };
};

/** Somebody looks whether a program still beats, or a deadline has passed. */
export const deadlineIsLookedAt: Choose = (context) => {
  const { state, now, a, b } = context;
  const row = one(state.executions.values(), a);
  if (!row) return undefined;
  if (b % 2 === 0) return { call: { rule: 'nextDeadline', command: { now, id: row.id } } };
  const outside = one(
    [...state.executions.values()].filter((other) => other.kind === 'outside'),
    a,
  );
  const id = isRare(b, 9) ? row.id : outside?.id;
  if (!id) return undefined;
  return { call: { rule: 'beatOrLose', command: { now, id, noticeId: freshOf(context).at('notice', 0) } } };
};
