import { Ids } from '../../src/base/ids.ts';
import type { NoticeId } from '../../src/base/ids.ts';
import type { Call, Principal } from '../../src/api/ports.ts';
import type { Event } from '../../src/contract/events.ts';
import type { Execution, Holding, MonitorRow, Notice, TreeView } from '../../src/contract/execution.ts';
import type { Run } from '../../src/contract/run.ts';
import type { Session } from '../../src/contract/session.ts';
import { toInstant } from '../../src/contract/text.ts';
import type { ToolName } from '../../src/contract/tools.ts';
import type { CallMeta, ToolAnswer } from '../../src/mcp/ports.ts';
import { MemorySchedules } from './memory-schedules.ts';
import { MemoryWorkflows } from './memory-workflows.ts';

/** A call of a tool as the port saw it. */
export interface SeenCall {
  readonly sessionId: string;
  readonly tool: string;
  readonly args: unknown;
  readonly meta: CallMeta;
}

/**
 * Enough of a ledger, in memory, to run real requests against: it registers, settles, closes by counting children,
 * publishes events with cursors, and remembers what it was asked.
 */
export class MemoryLedger {
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
  readonly runs = new Map<string, Run>();
  readonly schedules = new MemorySchedules();
  readonly workflows = new MemoryWorkflows(this);
  state: 'recovering' | 'ready' | 'stopping' = 'ready';
  /** The tools that agents are shown. */
  allowedTools: readonly ToolName[] = [
    'run_in_background',
    'list_executions',
    'get_execution',
    'send_to_execution',
    'cancel_execution',
  ];
  /** What the tools answer instead of a launch. */
  toolAnswer: ToolAnswer<never> | undefined;
  /** What a tool call waits for before it does anything. */
  toolGate: Promise<void> = Promise.resolve();
  /** Thrown by `queries.sessions`, to see what a bug looks like from outside. */
  bug: Error | undefined;
  readonly listeners = new Set<(event: Event) => void>();

  /** Forgets schedules, runs and calls, and is ready again: for the next test on the same edge. */
  forget(): void {
    this.schedules.forget();
    this.workflows.forget();
    this.runs.clear();
    this.calls.length = 0;
    this.state = 'ready';
  }

  publish(
    type: string,
    about: { rootId?: string; sessionId?: string; data?: Record<string, unknown> },
  ): Event {
    const { data = {}, ...rest } = about;
    const id = `${this.database}.${this.events.length + 1}`;
    const event: Event = { id, at: toInstant(Date.now()), type, ...rest, data };
    this.events.push(event);
    for (const listener of [...this.listeners]) listener(event);
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

  /** Live roots. */
  monitor(): MonitorRow[] {
    return [...this.executions.values()]
      .filter((each) => each.parentId === null && !each.closed)
      .map(({ id, name, kind, state, createdAt, open }) => ({
        id,
        name,
        kind,
        state,
        createdAt,
        ageMs: Date.now() - Date.parse(createdAt),
        open: { executions: open, notices: 0 },
        holding: this.tree(id)?.holding ?? [],
      }));
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
