import type { Execution } from '../ledger/execution.ts';

/** An execution that nobody else has seen yet, and which may be changed until somebody has. */
export type ChangingExecution = { -readonly [Field in keyof Execution]: Execution[Field] };

/**
 * A copy of the row. Field by field, because each count of a deficit makes one: spreading a row of so many fields takes
 * the slow way through the engine, and was a quarter of all that a store computes.
 */
export function copyExecution(row: Execution): ChangingExecution {
  return {
    id: row.id,
    rootId: row.rootId,
    parentId: row.parentId,
    parentSource: row.parentSource,
    depth: row.depth,
    kind: row.kind,
    name: row.name,
    key: row.key,
    attempt: row.attempt,
    project: row.project,
    runsIn: row.runsIn,
    reportsTo: row.reportsTo,
    mode: row.mode,
    cancelledBy: row.cancelledBy,
    runId: row.runId,
    runIndex: row.runIndex,
    correlationId: row.correlationId,
    join: row.join,
    check: row.check,
    background: row.background,
    timeoutMs: row.timeoutMs,
    budget: row.budget,
    wakeOnClose: row.wakeOnClose,
    createdAt: row.createdAt,
    state: row.state,
    waiting: row.waiting,
    open: row.open,
    closed: row.closed,
    drain: row.drain,
    verdict: row.verdict,
    failures: row.failures,
    outcome: row.outcome,
    outcomeCode: row.outcomeCode,
    cancelRequested: row.cancelRequested,
    detachedAt: row.detachedAt,
    deadlineAt: row.deadlineAt,
    clockedUntil: row.clockedUntil,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    closedAt: row.closedAt,
    error: row.error,
    result: row.result,
    answerPlace: row.answerPlace,
    usage: row.usage,
    spent: row.spent,
    nativeId: row.nativeId,
  };
}
