import { pino } from 'pino';
import type { Logger } from 'pino';
import type { ExecutionId, RunId, SessionId } from '../../src/base/ids.ts';
import { createCallers } from '../../src/application/access.ts';
import { systemClock } from '../../src/base/clock.ts';
import { TokenSigner } from '../../src/base/tokens.ts';
import type { Answer, ApiPorts, Call, FeedFilter, StoredAnswer, Terminals } from '../../src/api/ports.ts';
import type { Event } from '../../src/contract/events.ts';
import type { Page } from '../../src/contract/page.ts';
import { createToolEndpoint } from '../../src/mcp/endpoint.ts';
import type { ToolCalls } from '../../src/mcp/ports.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { EchoTerminals } from './echo-terminals.ts';
import type { MemoryLedger } from './memory-ledger.ts';

/** A log that says nothing. */
export const quietLog: Logger = pino({ level: 'silent' });

/** The ports of the HTTP edge over a ledger in memory. */
export function memoryPorts(ledger: MemoryLedger, terminals: Terminals = new EchoTerminals()): ApiPorts {
  const callers = createCallers({
    records: new MemoryStore({ clock: systemClock }).records,
    signer: new TokenSigner(Buffer.alloc(32)),
    clock: systemClock,
    audit: () => undefined,
  });
  return {
    ...reading(ledger),
    ...commands(ledger),
    schedules: ledger.schedules,
    scheduleQueries: ledger.schedules,
    workflows: ledger.workflows,
    workflowQueries: ledger.workflows,
    waiting: { waitClosed: (id, { timeoutMs, signal }) => waitClosed(ledger, id, timeoutMs, signal) },
    feed: feed(ledger),
    access: access(ledger, callers.access),
    tokens: callers.tokens,
    idempotency: idempotency(),
    notifications: {
      list: async () => ({ items: [] }),
      test: async (target) =>
        target === 'ops'
          ? { ok: true, value: { target, sent: false, message: 'ops.example answered 500' } }
          : { ok: false, code: 'NOT_FOUND', message: `No target ${target}.`, data: { name: target } },
    },
    agents: {
      list: () => [{ name: 'demo', driver: 'acp', command: ['demo'] }],
      listChecked: async () => [
        { name: 'demo', driver: 'acp', command: ['demo'], check: { found: true, warnings: [] } },
      ],
      check: async (name) =>
        name === 'demo'
          ? { ok: true, value: { name, found: true, version: '1.0', warnings: [] } }
          : { ok: false, code: 'NOT_FOUND', message: `No agent ${name}.`, data: { id: name } },
    },
    health: {
      state: () => ledger.state,
      isStoreUsable: async () => true,
      version: () => '0.0.0-test',
      metrics: () => [
        { name: 'stemma_executions', help: 'Executions', type: 'gauge', value: ledger.executions.size },
      ],
    },
    settings: {
      read: async () => ({
        version: '0.0.0-test',
        dataDir: '/data',
        targets: [],
        storage: { parts: [], lowBytes: 0 },
      }),
    },
    mcp: createToolEndpoint(
      { toolCalls: tools(ledger), untilOpen: () => Promise.resolve(ledger.state !== 'recovering') },
      { log: quietLog, version: '0.0.0-test' },
    ),
    terminals,
  };
}

function reading(ledger: MemoryLedger): Pick<ApiPorts, 'queries' | 'ids'> {
  return {
    ids: {
      resolve: async (kind, prefix) => {
        const all = {
          execution: ledger.executions,
          session: ledger.sessions,
          notice: ledger.notices,
          run: ledger.runs,
        };
        const matches = [...all[kind].keys()].filter((id) => id.startsWith(prefix));
        const [first] = matches;
        if (first === undefined) return { found: 'none' };
        if (matches.length === 1) return { found: 'one', id: first as never };
        return { found: 'several', matches: matches.slice(0, 10) as never[] };
      },
    },
    queries: {
      executions: async ({ limit = 50, state }) =>
        page(
          [...ledger.executions.values()].filter((each) => !state || each.state === state).slice(0, limit),
        ),
      execution: async (id) => ledger.executions.get(id),
      tree: async (id) => ledger.tree(id),
      monitor: async () => page(ledger.monitor()),
      notices: async () => page([...ledger.notices.values()]),
      notice: async (id) => ledger.notices.get(id),
      sessions: async () => {
        if (ledger.bug) throw ledger.bug;
        return page([...ledger.sessions.values()]);
      },
      session: async (id) => ledger.sessions.get(id),
      runs: async () => page([...ledger.runs.values()]),
      run: async (id) => ledger.runs.get(id),
    },
  };
}

function commands(
  ledger: MemoryLedger,
): Pick<ApiPorts, 'executions' | 'notices' | 'sessions' | 'runs' | 'standingRuns'> {
  const done = async (what: string, call: Call, body?: unknown): Promise<Answer<void>> => {
    ledger.calls.push({ what, call, body });
    return { ok: true, value: undefined };
  };
  return {
    executions: executionCommands(ledger, done),
    notices: {
      waive: (_id, reason, call) => done('waive', call, reason),
      redeliver: (_id, reason, call) => done('redeliver', call, reason),
    },
    sessions: {
      create: async (body, call) => {
        await done('createSession', call, body);
        return { ok: true, value: { sessionId: ledger.addSession().id as SessionId } };
      },
      interrupt: (_id, reason, call) => done('interrupt', call, reason),
      stop: (_id, reason, call) => done('stop', call, reason),
      decideCapacity: (_id, action, call) => done('capacity', call, action),
      transcript: async () => page([]),
      messages: async () => page([]),
    },
    runs: {
      create: async (body, call) => {
        await done('createRun', call, body);
        return { ok: true, value: { runId: ledger.ids.make('run') as RunId } };
      },
      cancel: (_id, reason, call) => done('cancelRun', call, reason),
    },
    standingRuns: {
      resume: (_id, call) => done('resumeRun', call),
      rerun: (_id, from, call) => done('rerunRun', call, from),
    },
  };
}

function executionCommands(
  ledger: MemoryLedger,
  done: (what: string, call: Call, body?: unknown) => Promise<Answer<void>>,
): ApiPorts['executions'] {
  return {
    query: async (body, call) => {
      await done('query', call, body);
      const sessionId = body.sessionId ?? ledger.addSession().id;
      const { id } = ledger.register({ name: body.title ?? 'message', runsIn: sessionId });
      return { ok: true, value: { queryId: id, sessionId, disposition: 'started' } };
    },
    register: async (body, call) => {
      await done('register', call, body);
      const parentId = call.caller.kind === 'execution' ? call.caller.executionId : null;
      if (parentId !== null && ledger.executions.get(parentId)?.closed) {
        return { ok: false, code: 'PARENT_CLOSED', message: `${parentId} is closed.`, data: { parentId } };
      }
      const { id } = ledger.register({ kind: body.kind, name: body.name, parentId });
      const token = ledger.addToken(`stm_exe_${id}`, { kind: 'execution', executionId: id as ExecutionId });
      return { ok: true, value: { executionId: id as ExecutionId, token } };
    },
    settle: async (id, body, call) => {
      ledger.settle(id, body.state, body.result === undefined ? {} : { result: body.result });
      return done('settle', call, body);
    },
    heartbeat: async (id, call) => {
      await done('heartbeat', call);
      const { state = '', closed = false } = ledger.executions.get(id) ?? {};
      return { ok: true, value: { state, closed, cancelRequested: false } };
    },
    cancel: async (id, body, call) => {
      ledger.settle(id, 'cancelled');
      return done('cancel', call, body);
    },
    answer: async (id, body, call) => {
      await done('answer', call, body.choice ?? body.text);
      return { ok: true, value: id };
    },
    detach: (_id, reason, call) => done('detach', call, reason),
  };
}

function access(ledger: MemoryLedger, named: ApiPorts['access']): ApiPorts['access'] {
  return {
    verify: async (token) => ledger.tokens.get(token) ?? (await named.verify(token)),
    createSignInCode: async () => {
      const code = `code-${ledger.codes.size}-${Math.random()}`;
      ledger.codes.add(code);
      return { code, expiresAtMs: Date.now() + 60_000 };
    },
    redeem: async (code) => {
      if (!ledger.codes.delete(code)) return undefined;
      const cookie = `cookie-${code}`;
      ledger.addToken(cookie, { kind: 'api', scope: 'admin', name: 'page' });
      return { cookie, maxAgeSeconds: 3_600 };
    },
    verifyCookie: async (value) => ledger.tokens.get(value),
  };
}

function tools(ledger: MemoryLedger): ToolCalls {
  return {
    allowed: async () => ledger.allowedTools,
    call: async (sessionId, tool, args, meta) => {
      ledger.toolCalls.push({ sessionId, tool, args, meta });
      await ledger.toolGate;
      if (ledger.bug) throw ledger.bug;
      if (ledger.toolAnswer) return ledger.toolAnswer;
      const { id, rootId, parentId, state } = ledger.register({
        name: tool,
        kind: 'agent',
        runsIn: sessionId,
      });
      const launched = { executionId: id, rootId, parentId, state };
      return { ok: true, result: (tool === 'list_executions' ? { items: [] } : launched) as never };
    },
  };
}

function feed(ledger: MemoryLedger): ApiPorts['feed'] {
  const cursorAt = (position: number): string => `${ledger.database}.${position}`;
  const positionOf = (cursor: string): number | undefined =>
    cursor.startsWith(`${ledger.database}.`) ? Number(cursor.slice(ledger.database.length + 1)) : undefined;
  const wanted = (filter: FeedFilter, event: Event): boolean =>
    (filter.root === undefined || event.rootId === filter.root) &&
    (filter.session === undefined || event.sessionId === filter.session);
  return {
    currentCursor: () => cursorAt(ledger.events.length),
    since: async (cursor, filter, limit) => {
      const from = positionOf(cursor);
      if (from === undefined) return { state: 'foreign' };
      const found = ledger.events.map((event, index) => ({ event, index })).slice(from);
      const events = found.filter(({ event }) => wanted(filter, event)).slice(0, limit);
      const last = events.length < limit ? ledger.events.length : (events.at(-1)?.index ?? from) + 1;
      return { state: 'events', events: events.map(({ event }) => event), next: cursorAt(last) };
    },
    subscribe: (filter, onEvent) => {
      const listener = (event: Event): void => {
        if (wanted(filter, event)) onEvent(event);
      };
      ledger.listeners.add(listener);
      const from = filter.after === undefined ? ledger.events.length : (positionOf(filter.after) ?? 0);
      for (const event of ledger.events.slice(from)) listener(event);
      return () => ledger.listeners.delete(listener);
    },
  };
}

async function waitClosed(ledger: MemoryLedger, id: string, timeoutMs: number, signal: AbortSignal) {
  const isClosed = (): boolean => ledger.executions.get(id)?.closed === true;
  if (!isClosed()) await closedOrOver(ledger, isClosed, timeoutMs, signal);
  const { outcome } = ledger.executions.get(id) ?? {};
  const value = isClosed()
    ? { closed: true, ...(outcome ? { outcome } : {}) }
    : { closed: false, holding: ledger.tree(id)?.holding ?? [] };
  return { ok: true as const, value };
}

function closedOrOver(ledger: MemoryLedger, isClosed: () => boolean, timeoutMs: number, signal: AbortSignal) {
  return new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      ledger.listeners.delete(look);
      resolve();
    };
    const look = (): void => {
      if (isClosed()) finish();
    };
    const timer = setTimeout(finish, timeoutMs);
    signal.addEventListener('abort', finish, { once: true });
    ledger.listeners.add(look);
  });
}

function idempotency(): ApiPorts['idempotency'] {
  const answers = new Map<string, { bodyHash: string; answer: Promise<StoredAnswer> }>();
  return {
    once: async (token, route, key, bodyHash, run) => {
      const scope = `${token} ${route} ${key}`;
      const before = answers.get(scope);
      if (before && before.bodyHash !== bodyHash) return { state: 'mismatch' };
      const answer = before?.answer ?? run();
      if (!before) answers.set(scope, { bodyHash, answer });
      try {
        return { state: 'answered', answer: await answer };
      } catch (error) {
        answers.delete(scope);
        throw error;
      }
    },
  };
}

function page<T>(items: T[]): Page<T> {
  return { items };
}
