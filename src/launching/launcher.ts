import { resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { reach } from '../base/faults.ts';
import { currentIdentity } from '../base/identity.ts';
import type { ExecutionId, Ids, SessionId } from '../base/ids.ts';
import type { Budget, ExecutionKind } from '../ledger/execution.ts';
import type { NewGraph } from '../ledger/graph.ts';
import type { Launch, Launched } from '../ledger/launch.ts';
import { launch } from '../ledger/launch.ts';
import type { Caller } from '../ledger/parent.ts';
import { ask } from '../ledger/questions.ts';
import type { WantedStep } from '../ledger/running-step.ts';
import type { PlannedMessage, Session } from '../ledger/session.ts';
import { newSession } from '../ledger/session.ts';
import type { UsageTold } from '../ledger/spending.ts';
import type { Orchestration } from '../ledger/step-plan.ts';
import type { Decided, LedgerStore } from '../ledger/store.ts';
import type { Sessions } from '../turns/sessions.ts';

/** What the launcher needs from outside. */
export interface LaunchingContext {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly node: string;
  readonly sessions: Sessions;
  /** What the agent of this name tells of its usage; undefined when none is configured. */
  readonly tells: (name: string) => UsageTold | undefined;
}

/** Who asks. `session`: an agent, by a tool call. `execution`: a program. `ambient`: whoever this code runs as. */
export type LaunchCaller =
  | {
      readonly by: 'session';
      readonly sessionId: SessionId;
      readonly meta: Readonly<Record<string, unknown>>;
    }
  | { readonly by: 'execution'; readonly executionId: ExecutionId }
  | { readonly by: 'ambient' }
  | { readonly by: 'person'; readonly reportsTo?: SessionId };

/** What is to be launched, and for whom, before anybody knows whose child it is. */
export interface LaunchRequest {
  /** Given where a repetition of the same request must find what the first one registered. */
  readonly id?: ExecutionId;
  readonly caller: LaunchCaller;
  readonly kind: ExecutionKind;
  readonly name: string;
  readonly key?: string;
  readonly attempt?: number;
  /** Groups a display; it never finds a parent. */
  readonly correlationId?: string;
  readonly deadlineAt?: number;
  /** A background agent, with the messages of its conversation. */
  readonly agent?: {
    readonly name?: string;
    /** Relative to the directory of the session that asks; absent: that. */
    readonly cwd?: string;
    readonly plan: readonly PlannedMessage[];
    /** What it may give out in turn. */
    readonly todo?: Orchestration | null;
  };
  /** A workflow, or one step of it. */
  readonly graph?: NewGraph;
  /** From its beginning to its end; null: as long as it takes. */
  readonly timeoutMs?: number | null;
  readonly budget?: Budget | null;
  /** It begins when this one is closed. */
  readonly after?: ExecutionId;
  /** Does it run already, that one is answered instead. */
  readonly joins?: WantedStep;
}

/**
 * The one way in which work is launched, whatever it is and by whatever path it is asked for. It returns when the child is
 * registered with its parent, durably, and never waits for the work. What it starts belongs to the ledger, not to the call.
 */
export class Launcher {
  readonly #context: LaunchingContext;

  constructor(context: LaunchingContext) {
    this.#context = context;
  }

  async launch(request: LaunchRequest): Promise<Decided<Launched>> {
    reach('call.received');
    const { store, clock, ids } = this.#context;
    const caller = await this.#caller(request.caller);
    const hosts = request.agent ? await this.#hosted(request, request.agent) : undefined;
    if (hosts && !hosts.ok) return hosts;
    const command: Launch = {
      now: clock.now(),
      id: request.id ?? ids.make('execution'),
      caller,
      kind: request.kind,
      name: request.name,
      ...(request.key === undefined ? {} : { key: request.key }),
      ...(request.attempt === undefined ? {} : { attempt: request.attempt }),
      ...(request.correlationId === undefined ? {} : { correlationId: request.correlationId }),
      ...(request.deadlineAt === undefined ? {} : { deadlineAt: request.deadlineAt }),
      ...(hosts ? { hosts: hosts.value } : {}),
      ...(request.graph === undefined ? {} : { graph: request.graph }),
      timeoutMs: request.timeoutMs ?? null,
      budget: request.budget ?? null,
      ...(request.after === undefined ? {} : { after: request.after }),
      ...(request.joins === undefined ? {} : { joins: request.joins }),
    };
    const launched = await store.decide(() => launch(command));
    reach('call.registered');
    return launched;
  }

  async #caller(caller: LaunchCaller): Promise<Caller> {
    switch (caller.by) {
      case 'session':
        return { ...caller, call: await this.#context.sessions.locate(caller.sessionId, caller.meta) };
      case 'ambient': {
        const identity = currentIdentity();
        return identity ? { by: 'execution', executionId: identity.executionId } : { by: 'person' };
      }
      default:
        return caller;
    }
  }

  async #hosted(
    request: LaunchRequest,
    agent: NonNullable<LaunchRequest['agent']>,
  ): Promise<Decided<NonNullable<Launch['hosts']>>> {
    const { store, clock, ids, node, tells } = this.#context;
    const from =
      request.caller.by === 'session'
        ? request.caller.sessionId
        : request.caller.by === 'person'
          ? request.caller.reportsTo
          : undefined;
    const session = from === undefined ? undefined : await store.read(() => ask('session', from));
    const name = agent.name ?? session?.agent;
    const told = name === undefined ? undefined : tells(name);
    if (name === undefined || told === undefined) {
      const message = `No agent "${name ?? ''}" is configured; leave "agent" out to use the one of this session.`;
      return { ok: false, code: 'AGENT_UNAVAILABLE', message, data: { agent: name } };
    }
    const directory = session?.cwd ?? '.';
    const hosted: Session = newSession({
      id: ids.make('session'),
      project: session?.project ?? 'default',
      agent: name,
      cwd: agent.cwd === undefined ? directory : resolve(directory, agent.cwd),
      title: request.name,
      node,
      createdAt: clock.now(),
    });
    const { plan, todo = null } = agent;
    return { ok: true, value: { session: hosted, runId: ids.make('run'), plan, todo, tells: told } };
  }
}
