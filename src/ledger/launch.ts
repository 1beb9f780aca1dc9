import type { ExecutionId, RunId } from '../base/ids.ts';
import type { Refusal, Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import { refusalOfWaiting, waitForClosing } from './dependency.ts';
import type { Budget, Execution, ExecutionKind, Waiting } from './execution.ts';
import { addGraph } from './graph-begin.ts';
import type { NewGraph } from './graph.ts';
import type { Caller, Parentage } from './parent.ts';
import { findParent } from './parent.ts';
import type { RowsOfRun } from './plan.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { depthLimit, newExecution, refusalBelow, refusalOfAnother } from './registration.ts';
import type { WantedStep } from './running-step.ts';
import { runningStep } from './running-step.ts';
import type { PlannedMessage, Session } from './session.ts';
import { newRun } from './session.ts';
import { uncountEarlierFailure } from './settle.ts';
import type { Orchestration } from './step-plan.ts';
import type { UsageTold } from './spending.ts';
import { refusalBelowBudgets, refusalOfBudget } from './spending.ts';

/** A conversation that an execution hosts, with the run that is its program. */
export interface Hosts {
  readonly session: Session;
  readonly runId: RunId;
  readonly plan: readonly PlannedMessage[];
  /** What its agent may give out in turn: then its session is a controller. */
  readonly todo?: Orchestration | null;
  /** For each of them the plan is gone through, or for those that another run had; absent: once, without rows. */
  readonly rows?: RowsOfRun;
  /** The place at which it begins; absent: the first. */
  readonly cursor?: number;
  /** What its agent tells of its usage: it must be enough for every budget at, above and below it. */
  readonly tells: UsageTold;
}

/** One launch, whatever path it comes by: the single way in which work begins below something. */
export interface Launch {
  readonly now: number;
  readonly id: ExecutionId;
  readonly caller: Caller;
  readonly kind: ExecutionKind;
  readonly name: string;
  /** What makes two launches attempts of one thing. */
  readonly key?: string;
  /** Unique with the key under the parent; not given, it is the next one of this key in the tree. */
  readonly attempt?: number;
  readonly project?: string;
  readonly correlationId?: string;
  readonly nativeId?: string;
  /** Must exist until this instant without a heartbeat, else it is lost (kind `outside`). */
  readonly deadlineAt?: number;
  /** A background agent: the session that it hosts and the run that is its program. */
  readonly hosts?: Hosts;
  /** A workflow: its program. */
  readonly graph?: NewGraph;
  /** From its beginning to its end; at its deadline it is ended with all below it. */
  readonly timeoutMs?: number | null;
  /** What it and all that comes of it may use. */
  readonly budget?: Budget | null;
  /** It begins when this one is closed. */
  readonly after?: ExecutionId;
  /** Does it run already in the open trees of the session that asks, that one is answered. */
  readonly joins?: WantedStep;
}

/** The registered execution: durable before whoever asked hears of it. */
export interface Launched {
  readonly execution: Execution;
  /** False when this very registration was made before. */
  readonly isNew: boolean;
}

/** Registers a child with its parent before whoever asked hears of it (invariant 1). */
export function* launch(command: Launch): Rule<Launched> {
  const existing = yield* ask('execution', command.id);
  if (existing) {
    const sessionId = command.caller.by === 'session' ? command.caller.sessionId : null;
    const refused = refusalOfAnother(existing, sessionId);
    return refused ?? new Draft(command.now).done({ execution: existing, isNew: false });
  }
  const found = yield* findParent(command.caller);
  if (!found.ok) return found;
  const running = yield* whatItJoins(command);
  if (running) return new Draft(command.now).done({ execution: running, isNew: false });
  const refused =
    (yield* refusalOf(command, found)) ??
    (command.after ? yield* refusalOfWaiting(command.after, found) : undefined) ??
    (command.hosts ? yield* refusalOfHost(command.hosts, found.parent) : undefined);
  if (refused) return refused;
  const draft = new Draft(command.now);
  const waiting = command.after ? yield* waitForClosing(draft, command.id, command.after) : null;
  const row = rowOf(command, found, yield* attemptOf(command, found), waiting);
  yield* uncountEarlierFailure(draft, row);
  draft.register(row, found.holders);
  if (command.hosts) addHosted(draft, row, command.hosts);
  if (command.graph) addGraph(draft, row, command.graph);
  if (command.deadlineAt !== undefined) draft.wake('heartbeat', row.id, command.deadlineAt);
  else if (row.deadlineAt !== null) draft.wake('deadline', row.id, row.deadlineAt);
  return draft.done({ execution: row, isNew: true });
}

function* whatItJoins({ joins, caller }: Launch): Asking<Execution | undefined> {
  return joins && caller.by === 'session' ? yield* runningStep(joins, caller.sessionId) : undefined;
}

/** Why the agent of a launch may not have what it was given, or work where it would. */
export function* refusalOfHost(
  { session, plan, tells }: Hosts,
  parent: Execution | null,
  own: Budget | null = null,
): Asking<Refusal | undefined> {
  for (const { budget } of [{ budget: own }, ...plan]) {
    const refused = budget ? refusalOfBudget(session.agent, tells, budget) : undefined;
    if (refused) return refused;
  }
  return parent ? yield* refusalBelowBudgets(parent, session.agent, tells) : undefined;
}

function* refusalOf(command: Launch, found: Parentage): Asking<Refusal | undefined> {
  const { parent } = found;
  if (!parent) return undefined;
  const refused = refusalBelow(parent);
  if (refused) return refused;
  if (parent.depth + 1 > depthLimit) {
    return refuse(
      'DEPTH_EXCEEDED',
      `The tree is ${depthLimit} deep; do this work here instead of launching it.`,
      {
        limit: depthLimit,
      },
    );
  }
  if (command.key === undefined || command.attempt === undefined) return undefined;
  const same = yield* ask('keyed', parent.id, command.key, command.attempt);
  if (!same) return undefined;
  const what = `Attempt ${command.attempt} of "${command.key}"`;
  return refuse('DUPLICATE_KEY', `${what} exists already as ${same.id}.`, { executionId: same.id });
}

function* attemptOf(command: Launch, found: Parentage): Asking<number> {
  if (command.attempt !== undefined) return command.attempt;
  if (command.key === undefined || !found.parent) return 1;
  const latest = yield* ask('latestKeyed', found.parent.rootId, command.key);
  let attempt = (latest?.attempt ?? 0) + 1;
  // A caller that numbers its attempts itself may have taken the next one already.
  while (yield* ask('keyed', found.parent.id, command.key, attempt)) attempt++;
  return attempt;
}

function rowOf(command: Launch, found: Parentage, attempt: number, waiting: Waiting | null): Execution {
  const { hosts, timeoutMs = null, budget = null } = command;
  // The clock of what waits starts when it begins.
  const clockEnd = timeoutMs === null || waiting ? null : command.now + timeoutMs;
  return newExecution(command.now, found.parent, found.source, {
    id: command.id,
    kind: command.kind,
    name: command.name,
    key: command.key ?? null,
    attempt,
    ...(command.project === undefined ? {} : { project: command.project }),
    runsIn: hosts?.session.id ?? null,
    reportsTo: found.reportsTo,
    mode: found.mode,
    cancelledBy: found.reportsTo,
    correlationId: command.correlationId ?? null,
    nativeId: command.nativeId ?? null,
    timeoutMs,
    budget,
    waiting,
    deadlineAt: command.deadlineAt ?? clockEnd,
    wakeOnClose: hosts ? `session:${hosts.session.id}` : null,
  });
}

/** Makes the conversation that an execution hosts, and its program, within a larger decision. */
export function addHosted(draft: Draft, row: Execution, hosts: Hosts): void {
  const { session, runId: id, plan, todo = null, rows, cursor = 0 } = hosts;
  const delivery = todo ? 'controller' : 'auto';
  const made = { ...session, hostedBy: row.id, project: row.project, delivery } as const;
  draft.add({ do: 'insertSession', row: made });
  const about = { id, project: row.project, name: row.name, sessionId: session.id, ownerId: row.id, plan };
  const rowCount = rows?.count ?? null;
  draft.add({ do: 'insertRun', row: newRun({ ...about, todo, rowCount, cursor, createdAt: draft.now }) });
  if (rows?.from !== undefined) draft.add({ do: 'copyRows', runId: id, from: rows.from });
  else if (rows) draft.add({ do: 'insertRows', runId: id, rows: rows.rows });
  // What waits for an execution to be closed begins when it is.
  if (row.waiting === null) draft.wake('run', id);
}
