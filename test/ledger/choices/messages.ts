import type { FilledText } from '../../../src/ledger/advance.ts';
import type { Budget } from '../../../src/ledger/execution.ts';
import type { Gate } from '../../../src/ledger/planned-message.ts';
import type { PlannedMessage } from '../../../src/ledger/session.ts';
import type { PreparedWorkspace } from '../../../src/ledger/workspace.ts';
import type { Choose, Context } from '../choice.ts';
import { freshOf, isRare, one, sessionOf } from '../choice.ts';

/** A person sends a message: to be queued, steered or refused; with a check, a join rule, a rule for background work. */
export const personSends: Choose = (context) => {
  const { now, a, b, c, d } = context;
  const session = one(context.state.sessions.values(), context.a);
  if (!session) return undefined;
  const whenBusy = (['queue', 'queue', 'steer', 'reject'] as const)[b % 4] ?? 'queue';
  const message = {
    id: freshOf(context).at('execution', 0),
    sessionId: session.id,
    text: `message ${now}`,
    join: c % 3 === 0 ? ('all' as const) : ('own' as const),
    check: d % 5 === 0 ? 'true' : null,
    background: (['wait', 'wait', 'detach', 'cancel'] as const)[d % 4] ?? 'wait',
    timeoutMs: c % 4 === 0 ? 5_000 : 3_600_000,
    ...(a % 3 === 0 ? { budget: budgetOf(context) } : {}),
  };
  return { call: { rule: 'enqueue', command: { now, whenBusy, message } } };
};

/** Whoever launched a background agent sends it one more message; rarely something that is none gets it. */
export const programSends: Choose = (context) => {
  const { state, now, a, b } = context;
  const agents = [...state.executions.values()].filter((row) => row.kind === 'agent' && row.runsIn !== null);
  const parent = isRare(b, 10) ? one(state.executions.values(), a) : one(agents, a);
  const sessionId = parent?.runsIn ?? one(state.sessions.keys(), b);
  if (!parent || !sessionId) return undefined;
  const message = { id: freshOf(context).at('execution', 0), sessionId, text: `more ${now}` };
  return { call: { rule: 'enqueueBelow', command: { now, message, parentId: parent.id } } };
};

/** Little enough to be exceeded now and then. */
function budgetOf({ b, d }: Pick<Context, 'b' | 'd'>): Budget {
  const tokens = 50 + (d % 5) * 40;
  return b % 3 === 0 ? { usd: 0.02 * (1 + (d % 4)) } : b % 3 === 1 ? { tokens } : { tokens, usd: 0.5 };
}

/** What must hold behind a message, and may be mended. */
function gateOf(d: number): Gate {
  const outputs = d % 3 === 0 ? { report: { from: 'file', path: 'report.md' } as const } : null;
  return { command: outputs ? null : 'test -s out.md', outputs, repairs: d % 3, repairText: null };
}

/** A plan of one to three messages. */
export function planOf({ b, c, d }: Pick<Context, 'b' | 'c' | 'd'>): PlannedMessage[] {
  return Array.from({ length: 1 + (c % 3) }, (_, index) => ({
    text: `planned ${index} {{date}}`,
    timeoutMs: 3_600_000,
    onFailure: d % 2 === 0 ? ('stop' as const) : ('continue' as const),
    join: d % 3 === 0 ? ('all' as const) : ('own' as const),
    check: d % 7 === 0 ? 'true' : null,
    background: 'wait' as const,
    ...((c + d + index) % 2 === 0 ? { retry: { max: 1 + (d % 2), backoffMs: 1_000 * (1 + (c % 4)) } } : {}),
    ...((c + d) % 5 === 0 ? { templates: true as const } : {}),
    ...((b + d + index) % 4 === 0 ? { gate: gateOf(d) } : {}),
    ...((c + index) % 3 === 0 ? { budget: budgetOf({ b, d }) } : {}),
  }));
}

/** A directory that a run must have alone; rarely one that it shares. */
function workspaceOf({ c, d }: Pick<Context, 'c' | 'd'>): PreparedWorkspace {
  const path = d % 5 === 0 ? '/other' : '/repository';
  const isShared = c % 8 === 0;
  const how = isShared ? 'shared' : 'exclusive';
  return { how, from: path, path, lock: isShared ? null : path, checkout: null };
}

/** A sequence begins. */
export const runBegins: Choose = (context) => {
  const { state, now, a } = context;
  const session = one(state.sessions.values(), a);
  if (!session) return undefined;
  const id = freshOf(context).at('run', 0);
  const about = { now, id, project: 'default', name: `run ${now}`, sessionId: session.id };
  const origin = isRare(context.c, 4) ? { budget: budgetOf(context) } : {};
  const workspace = isRare(context.b, 4) ? {} : { workspace: workspaceOf(context) };
  return { call: { rule: 'beginRun', command: { ...about, plan: planOf(context), origin, ...workspace } } };
};

/** A text whose templates were filled in; now and then a file is missing. */
export function filledBy({ b, now }: Pick<Context, 'b' | 'now'>): FilledText {
  return isRare(b, 4) ? { ok: false, message: 'no file notes.md' } : { ok: true, text: `filled ${now}` };
}

/** A person wants a run to go on: from one of its messages, or where it stopped. */
export const runGoesOnAgain: Choose = ({ state, now, a, b, c }) => {
  const ended = [...state.runs.values()].filter((run) => run.state === 'ended' && run.ownerId === null);
  const run = isRare(b, 4) ? one(state.runs.values(), a) : one(ended, a);
  if (!run) return undefined;
  if (b % 2 === 0) return { call: { rule: 'resumeRun', command: { now, id: run.id } } };
  const from = isRare(c, 9) ? run.plan.length : c % run.plan.length;
  return { call: { rule: 'rerun', command: { now, id: run.id, from } } };
};

/** The runner looks whether a run may go on; rarely it believes something of it that is not true any more. */
export const runAdvances: Choose = (context) => {
  const { state, now, a, b, c } = context;
  const run = one(state.runs.values(), a);
  if (!run) return undefined;
  const moves = isRare(c, 3) ? Math.max(0, run.moves + (b % 3) - 1) : run.moves;
  const text = isRare(b, 5) ? {} : { text: filledBy(context) };
  return { call: { rule: 'advance', command: { now, id: run.id, moves, ...text, fresh: freshOf(context) } } };
};

/** Somebody who looked before a back-off began acts on what it saw. */
export const backOffIsUnknown: Choose = (context) => {
  const { state, now, a } = context;
  const run = one(
    [...state.runs.values()].filter((row) => row.retryAt !== null),
    a,
  );
  if (!run) return undefined;
  const command = { now, id: run.id, moves: run.moves - 1, text: filledBy(context), fresh: freshOf(context) };
  return { call: { rule: 'advance', command } };
};

/** Somebody asks a run to stop. */
export const runIsCancelled: Choose = (context) => {
  const { state, now, a } = context;
  const run = one(state.runs.values(), a);
  const request = { actor: { kind: 'person' } as const, at: now };
  return (
    run && { call: { rule: 'cancelRun', command: { now, id: run.id, request, fresh: freshOf(context) } } }
  );
};

/** A composite, or something else, is looked at because its deficit may have fallen. */
export const drains: Choose = (context) => {
  const { state, now, a, b } = context;
  const owners = [...state.runs.values()].flatMap((run) => (run.ownerId === null ? [] : [run.ownerId]));
  const id = isRare(b, 5) ? one(state.executions.keys(), a) : one(owners, a);
  return id && { call: { rule: 'drained', command: { now, id, fresh: freshOf(context) } } };
};

/** A check is asked to start, whether or not there is one. */
export const checkIsAsked: Choose = (context) => {
  const { state, now, a, b } = context;
  const checked = [...state.executions.values()].filter((row) => row.check !== null);
  const messageId = isRare(b, 5) ? one(state.executions.keys(), a) : one(checked, a)?.id;
  if (!messageId) return undefined;
  return { call: { rule: 'startCheck', command: { now, messageId } } };
};

/** A session that was never opened, or one more. */
export const sessionTaken: Choose = (context) => {
  const { state, now, b } = context;
  const session = isRare(b, 20) ? undefined : sessionOf(context);
  const sessionId = session?.id ?? freshOf(context).at('session', 0);
  if (!session && state.sessions.size === 0) return undefined;
  const command = { now, sessionId, node: 'local', limits: context.limits, fresh: freshOf(context) };
  return { call: { rule: 'takeLane', command } };
};
