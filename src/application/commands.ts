import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type {
  Answer,
  Call,
  ExecutionCommands,
  NoticeCommands,
  Principal,
  QueryRequest,
} from '../api/ports.ts';
import { withIdentity } from '../base/identity.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { QueryAnswer, RegisterBody } from '../contract/requests.ts';
import type { LaunchCaller } from '../launching/launcher.ts';
import { heartbeat } from '../ledger/deadline.ts';
import { enqueue } from '../ledger/enqueue.ts';
import type { Execution } from '../ledger/execution.ts';
import { isSettled } from '../ledger/execution.ts';
import { detach, redeliver, waiveNotice } from '../ledger/notice-actions.ts';
import { openSession } from '../ledger/open-session.ts';
import { ask } from '../ledger/questions.ts';
import { newSession } from '../ledger/session.ts';
import { settle } from '../ledger/settle.ts';
import type { Decided } from '../ledger/store.ts';
import { budgetOf } from '../workflows/planned-message.ts';
import { refusalOfBudgets } from './budgets.ts';
import { answerExecution } from './answering.ts';
import { actorOf, nothing } from './caller.ts';
import type { ApplicationContext } from './context.ts';

/** An outside program that has not been heard of for this long is lost. */
export const heartbeatMs = 90_000;

/** Commands about executions. */
export function createExecutionCommands(context: ApplicationContext): ExecutionCommands {
  const { store, clock, ids, launcher, stopping, signer } = context;
  const execution = (id: ExecutionId): Promise<Execution | undefined> =>
    store.read(() => ask('execution', id));
  return {
    query: (request, call) => query(context, request, call),
    async register(request, call) {
      const id = await newId(context, call, 'execution');
      const launched = await asCaller(context, call.caller, (from) =>
        launcher.launch({ ...launchOf(request), id, caller: from, deadlineAt: clock.now() + heartbeatMs }),
      );
      if (!launched.ok) return launched;
      const executionId = launched.value.execution.id;
      return { ok: true, value: { executionId, token: signer.sign({ kind: 'execution', executionId }) } };
    },
    async settle(id, request) {
      const { state, result, error } = request;
      const failure = error ? { code: error.code ?? 'AGENT_FAILED', message: error.message } : null;
      const ending = { state, result: result ?? null, error: failure };
      const command = { now: clock.now(), id, noticeId: ids.make('notice'), ending };
      const settled = await store.decide(() => settle(command));
      if (!settled.ok || settled.value.state === state) return nothing(settled);
      const message = `${id} had already ended as ${settled.value.state}.`;
      return { ok: false, code: 'ILLEGAL_STATE', message, data: { state: settled.value.state } };
    },
    async heartbeat(id) {
      const beat = await store.decide(() =>
        heartbeat({ now: clock.now(), id, until: clock.now() + heartbeatMs }),
      );
      if (!beat.ok) return beat;
      const row = await execution(id);
      const { cancelRequested } = beat.value;
      return {
        ok: true,
        value: { state: row?.state ?? 'lost', closed: row?.closed ?? true, cancelRequested },
      };
    },
    async cancel(id, { reason, scope }, { caller }) {
      const request = { actor: actorOf(caller), ...(reason === undefined ? {} : { reason }) };
      const row = await execution(id);
      if (row?.closed) return { ok: true, value: undefined };
      if (scope === 'execution' && row && row.open > 0 && isSettled(row.state)) {
        const message = `${id} has ended already; what is open is below it. Cancel the tree instead.`;
        return { ok: false, code: 'ILLEGAL_STATE', message, data: { state: row.state } };
      }
      return nothing(await stopping.cancelTree({ id, request, verdict: 'CANCELLED', join: true }));
    },
    answer: (id, body, call) => answerExecution(context, id, body, call),
    async detach(id, _reason, { caller }) {
      return nothing(await store.decide(() => detach({ now: clock.now(), id, actor: actorOf(caller) })));
    },
  };
}

function launchOf(
  request: RegisterBody,
): Omit<Parameters<ApplicationContext['launcher']['launch']>[0], 'caller'> {
  const { kind, name, key, attempt, correlationId } = request;
  return {
    kind,
    name,
    ...(key === undefined ? {} : { key }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(correlationId === undefined ? {} : { correlationId }),
  };
}

/** Runs a launch as whoever calls: the identity of a program's execution token is the identity of what it starts. */
async function asCaller<T>(
  context: ApplicationContext,
  caller: Principal,
  work: (from: LaunchCaller) => Promise<Decided<T>>,
): Promise<Decided<T>> {
  if (caller.kind === 'api') return work({ by: 'person' });
  if (caller.kind === 'session') return work({ by: 'session', sessionId: caller.sessionId, meta: {} });
  const { executionId } = caller;
  const row = await context.store.read(() => ask('execution', executionId));
  if (!row)
    return {
      ok: false,
      code: 'NOT_FOUND',
      message: `No execution ${executionId}.`,
      data: { id: executionId },
    };
  return withIdentity({ rootId: row.rootId, executionId }, () => work({ by: 'ambient' }));
}

/** A message for a session, new or existing. A repeated idempotency key finds the same message. */
async function query(
  context: ApplicationContext,
  request: QueryRequest,
  call: Call,
): Promise<Answer<QueryAnswer>> {
  const { store, clock } = context;
  const id = await newId(context, call, 'execution');
  const known = await store.read(() => ask('execution', id));
  if (known?.runsIn) return queryAnswer(context, id, known.runsIn, 'queued');
  const budget = request.budget && budgetOf(request.budget);
  const refused = budget && refusalOfBudgets(context.agents, await agentFor(context, request), [budget]);
  if (refused) return refused;
  const session = await sessionFor(context, request, call);
  if (typeof session !== 'string') return session;
  const { message, join, timeout, background, whenBusy = 'queue' } = request;
  const decided = await store.decide(() =>
    enqueue({
      now: clock.now(),
      whenBusy,
      message: {
        id,
        sessionId: session,
        text: message,
        ...(request.title === undefined ? {} : { name: request.title }),
        ...(join === undefined ? {} : { join }),
        ...(timeout === undefined ? {} : { timeoutMs: timeout }),
        ...(background === undefined ? {} : { background }),
        ...(budget === undefined ? {} : { budget }),
      },
    }),
  );
  if (!decided.ok) return decided;
  return queryAnswer(context, id, session, decided.value.disposition);
}

/** The agent that a message will go to. */
async function agentFor(
  { store, agents }: ApplicationContext,
  { sessionId, agent }: QueryRequest,
): Promise<string> {
  const session = sessionId === undefined ? undefined : await store.read(() => ask('session', sessionId));
  return session?.agent ?? agent ?? agents.defaultName;
}

async function queryAnswer(
  { store }: ApplicationContext,
  queryId: ExecutionId,
  sessionId: SessionId,
  disposition: QueryAnswer['disposition'],
): Promise<Answer<QueryAnswer>> {
  const session = await store.read(() => ask('session', sessionId));
  const agent = session ? { agent: session.agent } : {};
  return { ok: true, value: { queryId, sessionId, ...agent, disposition } };
}

/** The session of a message. One that exists keeps its agent and its directory: to name others would be ignored silently. */
async function sessionFor(
  context: ApplicationContext,
  request: QueryRequest,
  call: Call,
): Promise<SessionId | Refusal> {
  const { sessionId, agent, cwd } = request;
  if (sessionId === undefined) {
    return createSession(context, request, await newId(context, call, 'session'));
  }
  const session = await context.store.read(() => ask('session', sessionId));
  if (!session) return sessionId;
  const differs = (name: string, has: string, wanted: string | undefined): Refusal | undefined => {
    if (wanted === undefined || wanted === has) return undefined;
    const message = `Session ${sessionId} has the ${name} ${has} and keeps it; leave out the session to begin a new one with ${wanted}.`;
    return { ok: false, code: 'ILLEGAL_STATE', message, data: { sessionId, [name]: has } };
  };
  const isElsewhere = cwd !== undefined && resolve(cwd) !== resolve(session.cwd);
  return (
    differs('agent', session.agent, agent) ??
    differs('directory', session.cwd, isElsewhere ? cwd : undefined) ??
    sessionId
  );
}

type Refusal = Extract<Answer<never>, { ok: false }>;

/**
 * An id for what a request makes. With an idempotency key it is the one that was kept before the request was carried out,
 * so that a repetition after a crash finds what the first one made.
 */
export async function newId<K extends 'execution' | 'session' | 'run'>(
  context: ApplicationContext,
  call: Call,
  kind: K,
): Promise<ReturnType<typeof context.ids.make<K>>> {
  const made = context.ids.make(kind);
  if (!call.idempotency) return made;
  const { tokenName, route, key, bodyHash } = call.idempotency;
  const place = { token: tokenName, route, key, bodyHash, rootId: null, at: context.clock.now() };
  const { rootId } = await context.records.reserve(place);
  // The ids of all kinds differ in their prefix only.
  return rootId === null ? made : (`${made.slice(0, 4)}${rootId.slice(4)}` as typeof made);
}

/** A new session for an agent that is configured; the one that has this id, if it was made before. */
export async function createSession(
  context: ApplicationContext,
  wanted: {
    agent?: string | undefined;
    cwd?: string | undefined;
    title?: string | undefined;
    project?: string | undefined;
  },
  id: SessionId,
): Promise<SessionId | Refusal> {
  const { store, clock, node, agents, defaultCwd } = context;
  if (await store.read(() => ask('session', id))) return id;
  const agent = wanted.agent ?? agents.defaultName;
  if (!agents.find(agent)) {
    const names = agents.list().map(({ profile }) => profile.name);
    const message = `No agent "${agent}" is configured; there are ${names.join(', ')}.`;
    return { ok: false, code: 'NOT_FOUND', message, data: { agent } };
  }
  const { cwd } = wanted;
  if (cwd !== undefined && !(await isDirectory(cwd))) {
    const message = `The working directory ${cwd} is no directory on the machine of the server; nothing was sent.`;
    return { ok: false, code: 'INVALID_INPUT', message, data: { key: 'cwd', cwd } };
  }
  const session = newSession({
    id,
    project: wanted.project ?? 'default',
    agent,
    cwd: cwd ?? defaultCwd,
    title: wanted.title ?? null,
    node,
    createdAt: clock.now(),
  });
  const opened = await store.decide(() => openSession({ now: clock.now(), session }));
  return opened.ok ? session.id : opened;
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Commands about notices. */
export function createNoticeCommands(context: ApplicationContext): NoticeCommands {
  const { store, clock } = context;
  return {
    async waive(id, reason, { caller }) {
      return nothing(
        await store.decide(() => waiveNotice({ now: clock.now(), id, reason, actor: actorOf(caller) })),
      );
    },
    async redeliver(id) {
      return nothing(await store.decide(() => redeliver({ now: clock.now(), id })));
    },
  };
}
