import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Event } from '../contract/events.ts';
import type * as wire from '../contract/execution.ts';
import type { Session as WireSession } from '../contract/session.ts';
import { toInstant } from '../contract/text.ts';
import type { Actor, Execution, Waiting } from '../ledger/execution.ts';
import type { BackOff, HeldBack, Holding } from '../ledger/holding.ts';
import { holding } from '../ledger/holding.ts';
import type { Notice } from '../ledger/notice.ts';
import { waitingFor } from '../ledger/limit.ts';
import type { Limit, Session } from '../ledger/session.ts';
import type { Schedule } from '../ledger/schedule.ts';
import type { StoredEvent } from '../ledger/store.ts';
import type { LiveRoot, Tree } from '../store/views.ts';

/** Leaves out what is null: on the wire, absent things are absent. */
export function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** The wire form of an instant that there may not be. */
export function at(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined || ms >= 8.64e15 ? null : toInstant(ms);
}

/** What a thing waits for, as the wire shows it. */
export function toWaiting(waiting: Waiting | null): wire.Waiting | null {
  if (!waiting) return null;
  const { for: waitsFor, since, until, text, choices, questionId } = waiting;
  return {
    for: waitsFor,
    since: toInstant(since),
    ...present({ until: at(until), text, choices: choices ? [...choices] : undefined, questionId }),
  };
}

/** An execution as the wire shows it. */
export function toExecution(row: Execution): wire.Execution {
  return {
    id: row.id,
    rootId: row.rootId,
    parentId: row.parentId,
    parentSource: row.parentSource,
    kind: row.kind,
    name: row.name,
    attempt: row.attempt,
    state: row.state,
    open: row.open,
    closed: row.closed,
    createdAt: toInstant(row.createdAt),
    ...present({
      runsIn: row.runsIn,
      reportsTo: row.reportsTo === null ? null : { sessionId: row.reportsTo, mode: row.mode },
      key: row.key,
      waiting: toWaiting(row.waiting),
      outcome: row.outcome,
      outcomeCode: row.outcomeCode,
      correlationId: row.correlationId,
      cancelledBy: row.cancelledBy,
      runId: row.runId,
      runIndex: row.runIndex,
      deadlineAt: row.closed ? null : at(row.deadlineAt),
      startedAt: at(row.startedAt),
      endedAt: at(row.endedAt),
      closedAt: at(row.closedAt),
      error: row.error,
      result: row.result,
      cancelReason: row.cancelRequested?.actor.kind === 'parent' ? null : row.cancelRequested?.reason,
      usage: row.usage,
      spent: row.spent,
      budget: row.budget,
    }),
  };
}

/** How much of a result or of an error's message a brief tree has; characters. */
const briefChars = 200;

/** An execution with the beginnings of its result and of its error: a tree of many is not many answers. */
export function briefly(execution: wire.Execution): wire.Execution {
  const { result = '', error } = execution;
  if (result.length <= briefChars && (error?.message.length ?? 0) <= briefChars) return execution;
  return {
    ...execution,
    resultCut: true,
    ...(result === '' ? {} : { result: beginning(result) }),
    ...(error ? { error: { ...error, message: beginning(error.message) } } : {}),
  };
}

// Never half of a character.
function beginning(text: string): string {
  return text.slice(0, briefChars).replace(/[\ud800-\udbff]$/, '');
}

/** `person anna`, `deadline`: how an actor is shown. */
function actorName(actor: Actor): string {
  return actor.name ? `${actor.kind} ${actor.name}` : actor.kind;
}

/** A notice as the wire shows it. */
export function toNotice(row: Notice): wire.Notice {
  return {
    id: row.id,
    executionId: row.executionId,
    attempt: row.attempt,
    sessionId: row.sessionId,
    state: row.state,
    owedAt: toInstant(row.owedAt),
    ...present({
      continuationId: row.continuationId,
      reason: row.reason,
      actor: row.actor ? actorName(row.actor) : null,
      handedAt: at(row.handedAt),
      handledAt: at(row.handledAt),
    }),
  };
}

function toHolding(found: Holding, names: ReadonlyMap<ExecutionId, string>): wire.Holding {
  const { executionId, noticeId, why, since, evidence, until } = found;
  const name = executionId === undefined ? undefined : names.get(executionId);
  return {
    why,
    since: toInstant(since),
    evidence,
    ...present({ executionId, noticeId, name, until: at(until) }),
  };
}

/** A tree with what its results wait for: the limits of the sessions that they are owed to, and the slots of those. */
export interface LimitedTree extends Tree {
  readonly limits: ReadonlyMap<SessionId, Limit>;
  readonly heldBack: ReadonlyMap<SessionId, HeldBack>;
  readonly workflows: ReadonlyMap<ExecutionId, readonly BackOff[]>;
}

/** What holds a tree open, by name. */
export function holdingOf(rows: LimitedTree, now: number): wire.Holding[] {
  const names = new Map([...rows.executions, ...rows.held].map((row) => [row.id, row.name]));
  const turns = new Map(rows.turns.map(({ executionId, turn }) => [executionId, turn]));
  return holding({ ...rows, turns, now }).map((found) => toHolding(found, names));
}

/** A tree with what holds its root, as the wire shows it. `open`: what is open in it, where it is not all there. */
export function toTree(
  root: Execution,
  rows: LimitedTree,
  now: number,
  open: LimitedTree = rows,
): wire.TreeView {
  return {
    root: root.id,
    closed: root.closed,
    executions: rows.executions.map(toExecution),
    notices: rows.notices.map(toNotice),
    holding: root.closed ? [] : holdingOf(open, now),
    ...present({ outcome: root.outcome, outcomeCode: root.outcomeCode }),
  };
}

/** What the results of a tree wait for, if any is held up. */
function resultsWait({ notices, limits, heldBack }: LimitedTree): Waiting | null {
  const owed = notices.filter((notice) => notice.state === 'owed').map((notice) => notice.sessionId);
  const limit = owed.map((id) => limits.get(id)).find((found) => found !== undefined);
  if (limit) return waitingFor(limit);
  const held = owed.map((id) => heldBack.get(id)).find((found) => found !== undefined);
  return held ? { for: 'slot', ...held } : null;
}

/** What is known of a live root beside its tree. */
export interface RootFacts {
  readonly session: Session | undefined;
  /** Whose occurrence its run is for. */
  readonly schedule: Schedule | undefined;
  readonly activity: readonly number[];
}

/** A live root in the list of the monitor. */
export function toMonitorRow(
  live: LiveRoot,
  rows: LimitedTree,
  { session, schedule, activity }: RootFacts,
  now: number,
): wire.MonitorRow {
  const { root } = live;
  const waits = rows.executions.flatMap((row) => (row.closed ? [] : (row.waiting ?? [])));
  // What only a person can end is said first.
  const waiting = waits.find((each) => each.for === 'input') ?? waits[0] ?? resultsWait(rows);
  return {
    id: root.id,
    name: root.name,
    kind: root.kind,
    state: root.state,
    createdAt: toInstant(root.createdAt),
    ageMs: Math.max(0, now - root.createdAt),
    open: { executions: live.openExecutions, notices: live.openNotices },
    holding: holdingOf(rows, now),
    ...present({
      project: root.project,
      runId: root.runId,
      schedule: schedule && `${schedule.project}/${schedule.name}`,
      labels: schedule && [...schedule.definition.labels],
      activity: [...activity],
      sessionId: root.runsIn,
      agent: session?.agent,
      waiting: toWaiting(waiting),
      costUsd: root.spent?.usd,
      spent: root.spent,
      budget: root.budget,
    }),
  };
}

/** A session as the wire shows it, with who owns what it does now. */
export function toSession(
  row: Session,
  owners: readonly ExecutionId[],
  queued: number,
  held: HeldBack | undefined,
): WireSession {
  const turn = row.wakeTurn ?? row.laneTurn;
  return {
    id: row.id,
    project: row.project,
    agent: row.agent,
    cwd: row.cwd,
    state: row.state,
    queued,
    createdAt: toInstant(row.createdAt),
    lastActivityAt: toInstant(row.lastActivityAt),
    ...present({
      title: row.title,
      turn: turn === null ? null : { id: turn, owners: [...owners] },
      nativeId: row.nativeId,
      waiting: toWaiting(row.limit ? waitingFor(row.limit) : held ? { for: 'slot', ...held } : null),
    }),
  };
}

/** A committed event with its place in the stream. */
export function toEvent(event: StoredEvent, cursor: string): Event {
  return {
    id: cursor,
    at: toInstant(event.at),
    type: event.type,
    data: event.data,
    ...present({ rootId: event.rootId, sessionId: event.sessionId }),
  };
}
