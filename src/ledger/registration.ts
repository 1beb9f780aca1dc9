import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Refusal } from './decision.ts';
import { refuse } from './decision.ts';
import type { Execution, ExecutionKind, ParentSource } from './execution.ts';
import { rules } from './rules.ts';

/** The depth from which launches are refused. Deliveries never are: a result must always find its way home. */
export const depthLimit = 1000;

/** How long a message may take, lane to closed, when nobody says: 4 hours. */
export const defaultTimeoutMs = 4 * 60 * 60 * 1000;

type Given = Pick<Execution, 'id' | 'kind' | 'name'> & Partial<Execution>;

/** A fresh execution below `parent`, or a root. What is not given is inherited or empty. */
export function newExecution(
  now: number,
  parent: Execution | null,
  source: ParentSource,
  given: Given,
): Execution {
  return {
    rootId: parent?.rootId ?? given.id,
    parentId: parent?.id ?? null,
    parentSource: source,
    depth: parent ? parent.depth + 1 : 0,
    key: null,
    attempt: 1,
    project: parent?.project ?? 'default',
    runsIn: null,
    reportsTo: null,
    mode: 'none',
    cancelledBy: null,
    runId: null,
    runIndex: null,
    correlationId: null,
    join: parent?.join ?? 'own',
    check: null,
    background: 'wait',
    timeoutMs: null,
    budget: null,
    wakeOnClose: null,
    createdAt: now,
    state: 'running',
    waiting: null,
    open: 0,
    closed: false,
    drain: null,
    verdict: null,
    failures: 0,
    outcome: null,
    outcomeCode: null,
    cancelRequested: null,
    detachedAt: given.kind === 'service' ? now : null,
    deadlineAt: null,
    clockedUntil: null,
    startedAt: given.state === 'queued' ? null : now,
    endedAt: null,
    closedAt: null,
    error: null,
    result: null,
    answerPlace: null,
    usage: null,
    spent: null,
    nativeId: null,
    ...given,
  };
}

/** Why nothing may start below this execution any more, if so (invariants 1 and 12). */
export function refusalBelow(parent: Execution): Refusal | undefined {
  if (parent.closed) {
    return refuse('PARENT_CLOSED', `${parent.id} is closed; nothing can start below it.`, {
      parentId: parent.id,
    });
  }
  const latched = rules.cancelLatch && parent.cancelRequested !== null;
  if (latched || parent.state === 'cancelled' || parent.state === 'lost') {
    return refuse('CANCELLED', `${parent.id} was cancelled or lost; nothing can start below it.`, {
      rootId: parent.rootId,
    });
  }
  return undefined;
}

/** Registering again: the same session gets the same execution, another one is refused (invariant 7). */
export function refusalOfAnother(existing: Execution, sessionId: SessionId | null): Refusal | undefined {
  // What was launched is bound to whom it reports to; the session that it hosts is its own.
  const bound = existing.reportsTo ?? existing.runsIn;
  if (bound === null || sessionId === null || bound === sessionId) return undefined;
  return refuse('SESSION_MISMATCH', `${existing.id} is registered for session ${bound}.`, {
    executionId: existing.id,
    sessionId: bound,
  });
}

/** Kinds whose failure counts for `join: 'all'`: what was launched, not what handles results, nor what is to live on. */
export function countsForJoin(kind: ExecutionKind): boolean {
  return kind !== 'continuation' && kind !== 'late' && kind !== 'message' && kind !== 'service';
}

/** Ids without repeats and without `but`. */
export function distinct(ids: readonly ExecutionId[], but: ExecutionId | null): ExecutionId[] {
  return [...new Set(ids)].filter((id) => id !== but);
}
