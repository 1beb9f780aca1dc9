import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import { Ids } from '../../src/base/ids.ts';
import type { ExecutionId, NoticeId, RunId, SessionId } from '../../src/base/ids.ts';
import { createApi } from '../../src/api/app.ts';
import type { Api, ApiOptions } from '../../src/api/app.ts';
import { listen } from '../../src/api/listener.ts';
import type { Listener } from '../../src/api/listener.ts';
import { loadPage } from '../../src/api/pages.ts';
import type { Answer, ApiPorts, Call, FeedFilter, Principal, StoredAnswer } from '../../src/api/ports.ts';
import type { Event } from '../../src/contract/events.ts';
import type { Execution, Holding, Notice, TreeView } from '../../src/contract/execution.ts';
import type { Page } from '../../src/contract/page.ts';
import type { Session } from '../../src/contract/session.ts';
import { toInstant } from '../../src/contract/text.ts';
import { createToolEndpoint } from '../../src/mcp/endpoint.ts';
import type { CallMeta, ToolAnswer, ToolCalls } from '../../src/mcp/ports.ts';

/** A call of a tool as the port saw it. */
export interface SeenCall {
  readonly sessionId: string;
  readonly tool: string;
  readonly args: unknown;
  readonly meta: CallMeta;
}

/**
 * Everything behind the HTTP edge, in memory: enough of a ledger to run real requests against. It registers, settles,
 * closes by counting children, publishes events with cursors, and remembers what it was asked.
 */
export class MemoryEdge {
  readonly ids = new Ids(() => Date.now(), Math.random);
  readonly executions = new Map<string, Execution>();
  readonly sessions = new Map<string, Session>();
  readonly notices = new Map<string, Notice>();
  readonly calls: { readonly what: string; readonly call: Call; readonly body?: unknown }[] = [];
  readonly toolCalls: SeenCall[] = [];
  readonly tokens = new Map<string, Principal>();
  readonly codes = new Set<string>();
  readonly database = Math.random().toString(36).slice(2, 8);
  readonly events: Event[] = [];
  state: 'recovering' | 'ready' | 'stopping' = 'ready';
  /** What the tools answer instead of a launch. */
  toolAnswer: ToolAnswer<never> | undefined;
  /** Thrown by `queries.sessions`, to see what a bug looks like from outside. */
  bug: Error | undefined;
  readonly #listeners = new Set<(event: Event) => void>();
  readonly #answers = new Map<string, { bodyHash: string; answer: Promise<StoredAnswer> }>();

  get listenerCount(): number {
    return this.#listeners.size;
  }

  publish(
    type: string,
    about: { rootId?: string; sessionId?: string; data?: Record<string, unknown> },
  ): Event {
    const { data = {}, ...rest } = about;
    const id = `${this.database}.${this.events.length + 1}`;
    const event: Event = { id, at: toInstant(Date.now()), type, ...rest, data };
    this.events.push(event);
    for (const listener of [...this.#listeners]) listener(event);
    return event;
  }

  register(given: Partial<Execution> & { name: string }): Execution {
    const id = this.ids.make('execution');
    const parent = given.parentId ? this.executions.get(given.parentId) : undefined;
    const execution: Execution = {
      id,
      rootId: parent?.rootId ?? id,
      parentId: null,
      parentSource: 'none',
      kind: 'message',
      attempt: 1,
      state: 'running',
      open: 0,
      closed: false,
      createdAt: toInstant(Date.now()),
      ...given,
    };
    this.executions.set(id, execution);
    if (parent) this.#change(parent.id, { open: parent.open + 1 });
    this.publish('execution.registered', this.#about(execution));
    return execution;
  }

  settle(id: string, state: Execution['state'], more: Partial<Execution> = {}): void {
    const execution = this.#change(id, { state, endedAt: toInstant(Date.now()), ...more });
    this.publish('execution.settled', this.#about(execution));
    this.#closeIfDone(id);
  }

  addSession(): Session {
    const now = toInstant(Date.now());
    const session: Session = {
      id: this.ids.make('session'),
      agent: 'demo',
      cwd: '/tmp',
      state: 'live',
      queued: 0,
      createdAt: now,
      lastActivityAt: now,
    };
    this.sessions.set(session.id, session);
    return session;
  }

  tree(id: string): TreeView | undefined {
    const rootId = this.executions.get(id)?.rootId;
    const root = this.executions.get(rootId ?? '');
    if (!root) return undefined;
    const executions = [...this.executions.values()].filter((each) => each.rootId === rootId);
    return {
      root: root.id,
      closed: root.closed,
      ...(root.outcome ? { outcome: root.outcome } : {}),
      executions,
      notices: [],
      holding: this.#holding(executions),
    };
  }

  ports(): ApiPorts {
    return {
      ...this.#reading(),
      ...this.#commands(),
      waiting: { waitClosed: (id, { timeoutMs, signal }) => this.#waitClosed(id, timeoutMs, signal) },
      feed: this.#feed(),
      access: this.#access(),
      idempotency: { once: (...args) => this.#once(...args) },
      agents: {
        list: () => [{ name: 'demo', driver: 'acp', command: ['demo'] }],
        check: async (name) =>
          name === 'demo'
            ? { ok: true, value: { name, found: true, version: '1.0', warnings: [] } }
            : { ok: false, code: 'NOT_FOUND', message: `No agent ${name}.`, data: { id: name } },
      },
      health: {
        state: () => this.state,
        isStoreUsable: async () => true,
        version: () => '0.0.0-test',
        metrics: () => [
          { name: 'stemma_executions', help: 'Executions', type: 'gauge', value: this.executions.size },
        ],
      },
      mcp: createToolEndpoint(
        { toolCalls: this.#tools(), isRecovering: () => this.state === 'recovering' },
        { log: quietLog, version: '0.0.0-test' },
      ),
    };
  }

  #reading(): Pick<ApiPorts, 'queries' | 'ids'> {
    return {
      ids: {
        resolve: async (kind, prefix) => {
          const all = {
            execution: this.executions,
            session: this.sessions,
            notice: this.notices,
            run: new Map(),
          };
          const matches = [...all[kind].keys()].filter((id: string) => id.startsWith(prefix));
          const [first] = matches;
          if (first === undefined) return { found: 'none' };
          return matches.length === 1
            ? { found: 'one', id: first as never }
            : { found: 'several', matches: matches.slice(0, 10) as never[] };
        },
      },
      queries: {
        executions: async ({ limit = 50, state }) =>
          page(
            [...this.executions.values()].filter((each) => !state || each.state === state).slice(0, limit),
          ),
        execution: async (id) => this.executions.get(id),
        tree: async (id) => this.tree(id),
        monitor: async () =>
          page(
            [...this.executions.values()]
              .filter((each) => each.parentId === null && !each.closed)
              .map((each) => ({
                id: each.id,
                name: each.name,
                kind: each.kind,
                state: each.state,
                createdAt: each.createdAt,
                ageMs: Date.now() - Date.parse(each.createdAt),
                open: { executions: each.open, notices: 0 },
                holding: this.tree(each.id)?.holding ?? [],
              })),
          ),
        notices: async () => page([...this.notices.values()]),
        notice: async (id) => this.notices.get(id),
        sessions: async () => {
          if (this.bug) throw this.bug;
          return page([...this.sessions.values()]);
        },
        session: async (id) => this.sessions.get(id),
        runs: async () => page([]),
        run: async () => undefined,
      },
    };
  }

  #commands(): Pick<ApiPorts, 'executions' | 'notices' | 'sessions' | 'runs'> {
    const done = async (what: string, call: Call, body?: unknown): Promise<Answer<void>> => {
      this.calls.push({ what, call, body });
      return { ok: true, value: undefined };
    };
    return {
      executions: {
        query: async (body, call) => {
          await done('query', call, body);
          const sessionId = body.sessionId ?? this.addSession().id;
          const { id } = this.register({ name: body.title ?? 'message', runsIn: sessionId });
          return { ok: true, value: { queryId: id, sessionId, disposition: 'started' } };
        },
        register: async (body, call) => {
          await done('register', call, body);
          const parentId = call.caller.kind === 'execution' ? call.caller.executionId : null;
          if (parentId !== null && this.executions.get(parentId)?.closed) {
            return {
              ok: false,
              code: 'PARENT_CLOSED',
              message: `${parentId} is closed.`,
              data: { parentId },
            };
          }
          const { id } = this.register({ ...defined(body), name: body.name, parentId });
          const token = this.addToken(`stm_exe_${id}`, { kind: 'execution', executionId: id as ExecutionId });
          return { ok: true, value: { executionId: id as ExecutionId, token } };
        },
        settle: async (id, body, call) => {
          await done('settle', call, body);
          this.settle(id, body.state, body.result === undefined ? {} : { result: body.result });
          return { ok: true, value: undefined };
        },
        heartbeat: async (id, call) => {
          await done('heartbeat', call);
          const execution = this.executions.get(id);
          return {
            ok: true,
            value: {
              state: execution?.state ?? '',
              closed: execution?.closed ?? false,
              cancelRequested: false,
            },
          };
        },
        cancel: async (id, body, call) => {
          this.settle(id, 'cancelled');
          return done('cancel', call, body);
        },
        detach: (_id, reason, call) => done('detach', call, reason),
      },
      notices: {
        waive: (_id, reason, call) => done('waive', call, reason),
        redeliver: (_id, reason, call) => done('redeliver', call, reason),
      },
      sessions: {
        create: async (body, call) => {
          await done('createSession', call, body);
          return { ok: true, value: { sessionId: this.addSession().id as SessionId } };
        },
        interrupt: (_id, reason, call) => done('interrupt', call, reason),
        stop: (_id, reason, call) => done('stop', call, reason),
        decideCapacity: (_id, action, call) => done('capacity', call, action),
        transcript: async () => page([]),
      },
      runs: {
        create: async (body, call) => {
          await done('createRun', call, body);
          return { ok: true, value: { runId: this.ids.make('run') as RunId } };
        },
        cancel: (_id, reason, call) => done('cancelRun', call, reason),
      },
    };
  }

  addToken(token: string, principal: Principal): string {
    this.tokens.set(token, principal);
    return token;
  }

  addNotice(executionId: string, sessionId: string): Notice {
    const id: NoticeId = this.ids.make('notice');
    const notice: Notice = {
      id,
      executionId,
      sessionId,
      attempt: 1,
      state: 'owed',
      owedAt: toInstant(Date.now()),
    };
    this.notices.set(id, notice);
    return notice;
  }

  #access(): ApiPorts['access'] {
    return {
      verify: async (token) => this.tokens.get(token),
      createSignInCode: async () => {
        const code = `code-${this.codes.size}-${Math.random()}`;
        this.codes.add(code);
        return { code, expiresAtMs: Date.now() + 60_000 };
      },
      redeem: async (code) => {
        if (!this.codes.delete(code)) return undefined;
        const cookie = `cookie-${code}`;
        this.addToken(cookie, { kind: 'api', scope: 'admin', name: 'page' });
        return { cookie, maxAgeSeconds: 3_600 };
      },
      verifyCookie: async (value) => this.tokens.get(value),
    };
  }

  #tools(): ToolCalls {
    return {
      call: async (sessionId, tool, args, meta) => {
        this.toolCalls.push({ sessionId, tool, args, meta });
        if (this.toolAnswer) return this.toolAnswer;
        const { id, rootId, parentId, state } = this.register({
          name: tool,
          kind: 'agent',
          runsIn: sessionId,
        });
        const launched = { executionId: id, rootId, parentId, state };
        return { ok: true, result: (tool === 'list_executions' ? { items: [] } : launched) as never };
      },
    };
  }

  #feed(): ApiPorts['feed'] {
    const cursorAt = (position: number): string => `${this.database}.${position}`;
    const positionOf = (cursor: string): number | undefined =>
      cursor.startsWith(`${this.database}.`) ? Number(cursor.slice(this.database.length + 1)) : undefined;
    const wanted = (filter: FeedFilter, event: Event): boolean =>
      (filter.root === undefined || event.rootId === filter.root) &&
      (filter.session === undefined || event.sessionId === filter.session);
    return {
      currentCursor: () => cursorAt(this.events.length),
      since: async (cursor, filter, limit) => {
        const from = positionOf(cursor);
        if (from === undefined) return { state: 'foreign' };
        const found = this.events.map((event, index) => ({ event, index })).slice(from);
        const events = found.filter(({ event }) => wanted(filter, event)).slice(0, limit);
        const last = events.length < limit ? this.events.length : (events.at(-1)?.index ?? from) + 1;
        return { state: 'events', events: events.map(({ event }) => event), next: cursorAt(last) };
      },
      subscribe: (filter, onEvent) => {
        const listener = (event: Event): void => {
          if (wanted(filter, event)) onEvent(event);
        };
        this.#listeners.add(listener);
        const from = filter.after === undefined ? this.events.length : (positionOf(filter.after) ?? 0);
        for (const event of this.events.slice(from)) listener(event);
        return () => this.#listeners.delete(listener);
      },
    };
  }

  async #waitClosed(id: string, timeoutMs: number, signal: AbortSignal) {
    const closed = (): boolean => this.executions.get(id)?.closed === true;
    if (!closed()) {
      await new Promise<void>((resolve) => {
        const finish = (): void => {
          clearTimeout(timer);
          this.#listeners.delete(look);
          resolve();
        };
        const look = (): void => {
          if (closed()) finish();
        };
        const timer = setTimeout(finish, timeoutMs);
        signal.addEventListener('abort', finish, { once: true });
        this.#listeners.add(look);
      });
    }
    const { outcome } = this.executions.get(id) ?? {};
    const value = closed()
      ? { closed: true, ...(outcome ? { outcome } : {}) }
      : { closed: false, holding: this.tree(id)?.holding ?? [] };
    return { ok: true as const, value };
  }

  async #once(token: string, route: string, key: string, bodyHash: string, run: () => Promise<StoredAnswer>) {
    const scope = `${token} ${route} ${key}`;
    const before = this.#answers.get(scope);
    if (before && before.bodyHash !== bodyHash) return { state: 'mismatch' as const };
    const answer = before?.answer ?? run();
    if (!before) this.#answers.set(scope, { bodyHash, answer });
    try {
      return { state: 'answered' as const, answer: await answer };
    } catch (error) {
      this.#answers.delete(scope);
      throw error;
    }
  }

  #holding(executions: readonly Execution[]): Holding[] {
    return executions
      .filter(({ state }) => state === 'running' || state === 'queued')
      .map(({ id, name, createdAt }) => ({
        executionId: id,
        name,
        why: 'running',
        since: createdAt,
        evidence: 'its program runs',
      }));
  }

  #closeIfDone(id: string): void {
    const execution = this.executions.get(id);
    if (!execution || execution.closed || execution.open > 0) return;
    if (execution.state === 'running' || execution.state === 'queued') return;
    const isRoot = execution.parentId === null;
    const closedAt = toInstant(Date.now());
    const outcome = execution.state === 'succeeded' ? 'succeeded' : 'failed';
    const closed = this.#change(id, { closed: true, closedAt, ...(isRoot ? { outcome } : {}) });
    const parent = this.executions.get(execution.parentId ?? '');
    if (parent) this.#change(parent.id, { open: parent.open - 1 });
    this.publish('execution.closed', this.#about(closed));
    if (parent) this.#closeIfDone(parent.id);
  }

  #change(id: string, changes: Partial<Execution>): Execution {
    const before = this.executions.get(id);
    if (!before) throw new Error(`no execution ${id}`);
    const after = { ...before, ...changes };
    this.executions.set(id, after);
    return after;
  }

  #about(execution: Execution) {
    const { rootId, runsIn, id } = execution;
    return { rootId, ...(runsIn ? { sessionId: runsIn } : {}), data: { executionId: id } };
  }
}

const quietLog = pino({ level: 'silent' });

/** The whole edge on a real loopback port. */
export interface RunningEdge {
  readonly edge: MemoryEdge;
  readonly api: Api;
  readonly listener: Listener;
  readonly url: string;
  readonly admin: string;
  stop(): Promise<void>;
}

/** Starts the edge on a free port. The caller stops it. */
export async function startEdge(
  options: Partial<Omit<ApiOptions, 'port' | 'page'>> & { readonly clock?: Clock } = {},
): Promise<RunningEdge> {
  const edge = new MemoryEdge();
  const admin = edge.addToken('stm_api_admin', { kind: 'api', scope: 'admin', name: 'first' });
  edge.addToken('stm_api_read', { kind: 'api', scope: 'read', name: 'reader' });
  edge.addToken('stm_api_operate', { kind: 'api', scope: 'operate', name: 'operator' });
  let port = 0;
  const page = await loadPage('web/public');
  const api = createApi(edge.ports(), {
    clock: systemClock,
    log: quietLog,
    page,
    ...options,
    port: () => port,
  });
  const listener = await listen({ host: '127.0.0.1', port: 0, clock: systemClock, fetch: api.fetch });
  port = listener.port;
  const stop = async (): Promise<void> => {
    edge.state = 'stopping';
    api.stop();
    await listener.close(200);
  };
  return { edge, api, listener, url: `http://127.0.0.1:${port}`, admin, stop };
}

/** The SHA-256 of a text, in hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function page<T>(items: T[]): Page<T> {
  return { items };
}

function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never;
}
