import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Refusal, Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import type { Execution, Waiting } from './execution.ts';
import { isSettled } from './execution.ts';
import type { Parentage } from './parent.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';

/** Most executions that may wait for the end of one. */
const waiterLimit = 100;

/**
 * Why nothing may be launched that begins when `target` is closed, if so. What would have to close before the target can
 * waits for the target itself then, for ever: `WAIT_ON_SELF`.
 */
export function* refusalOfWaiting(target: ExecutionId, found: Parentage): Asking<Refusal | undefined> {
  const row = yield* ask('execution', target);
  if (!row) return refuse('NOT_FOUND', `No execution ${target}.`, { id: target });
  if (row.closed) return undefined;
  const above = yield* waitsFor(found);
  for (const next of yield* closingNeeds(row)) {
    if (!above.has(next)) continue;
    const message = `${target} cannot be closed before what you start now is, which would wait for it. End your turn instead; it can be asked for when ${target} is closed.`;
    return refuse('WAIT_ON_SELF', message, { executionId: target });
  }
  if (wakesOf(row).length < waiterLimit) return undefined;
  const message = `${waiterLimit} executions wait for the end of ${target} already; ask again when it is closed.`;
  return refuse('ILLEGAL_STATE', message, { state: row.state });
}

/**
 * What a new execution waits for until `target` is closed; null when it is. The wake-up is owed by the closing itself, in
 * its transaction, whoever closes it and whatever server lives then.
 */
export function* waitForClosing(draft: Draft, id: ExecutionId, target: ExecutionId): Asking<Waiting | null> {
  const row = yield* ask('execution', target);
  if (!row || row.closed) return null;
  draft.patch(row.id, { wakeOnClose: [...wakesOf(row), `graph:${id}`].join(' ') });
  return { for: 'dependency', since: draft.now, text: `${row.name} (${row.id}) to be closed`, on: row.id };
}

/**
 * What waited for an execution that is closed now begins: the due steps of its workflow, or the messages of its agent. Its
 * clock starts. Idempotent; false when it did not wait, or has to wait on.
 */
export function* goOn(command: { readonly now: number; readonly id: ExecutionId }): Rule<boolean> {
  const draft = new Draft(command.now);
  const row = yield* ask('execution', command.id);
  if (!row || isSettled(row.state) || row.cancelRequested || row.waiting?.for !== 'dependency')
    return draft.done(false);
  const target = yield* dependencyOf(row);
  if (target && !target.closed) return draft.done(false);
  const deadlineAt = row.timeoutMs === null ? null : draft.now + row.timeoutMs;
  draft.patch(row.id, { waiting: null, startedAt: draft.now, deadlineAt });
  if (deadlineAt !== null) draft.wake('deadline', row.id, deadlineAt);
  draft.event('execution.started', row);
  const run = yield* ask('runOwnedBy', row.id);
  if (run) draft.wake('run', run.id);
  for (const step of yield* ask('graphSteps', row.id)) if (step.state === 'due') draft.wake('step', step.ref);
  return draft.done(true);
}

/** Whether an execution, or something above it, runs in the session. */
export function* isOfSession(row: Execution, sessionId: SessionId): Asking<boolean> {
  for (let next: Execution | undefined = row; next; next = yield* parentOf(next))
    if (next.runsIn === sessionId) return true;
  return false;
}

/**
 * Everything that cannot close before a child of this parentage does: all above, and whoever holds any of it. A controller hands
 * all results of a message over at once, so whatever holds one of them later waits for this one too: what hosts it does already.
 */
function* waitsFor({ parent, holders, mode, reportsTo }: Parentage): Asking<Set<ExecutionId>> {
  const found = new Set<ExecutionId>(holders);
  if (parent) found.add(parent.id);
  const host = mode === 'batch' && reportsTo ? (yield* ask('session', reportsTo))?.hostedBy : null;
  if (host) found.add(host);
  // A set is walked in the order of insertion, also over what is added meanwhile.
  for (const id of found) {
    const row = yield* ask('execution', id);
    if (row?.parentId) found.add(row.parentId);
    for (const holder of yield* ask('holders', id)) found.add(holder);
  }
  return found;
}

/** What must close before this execution can, as far as somebody waits for it: it, and what it or anything below it waits for. */
function* closingNeeds(target: Execution): Asking<Set<ExecutionId>> {
  const found = new Set<ExecutionId>([target.id]);
  // Whoever starts thousands of waits must not make each further one look through all of them again and again.
  const waitersOf = new Map<ExecutionId, readonly Waiter[]>();
  // A set is walked in the order of insertion, also over what is added meanwhile.
  for (const id of found) {
    const row = yield* ask('execution', id);
    if (!row || row.closed) continue;
    const waiters = waitersOf.get(row.rootId) ?? (yield* waitersIn(row.rootId));
    waitersOf.set(row.rootId, waiters);
    for (const { on, above } of waiters) if (above.has(row.id)) found.add(on);
  }
  return found;
}

/** Something that waits for another execution, with itself and all that is above it. */
interface Waiter {
  readonly on: ExecutionId;
  readonly above: ReadonlySet<ExecutionId>;
}

function* waitersIn(rootId: ExecutionId): Asking<Waiter[]> {
  const waiters: Waiter[] = [];
  for (const row of yield* ask('waitingIn', rootId)) {
    const on = row.waiting?.on ?? (yield* holderOfWorkspace(row));
    if (on === undefined) continue;
    const above = new Set<ExecutionId>();
    for (let next: Execution | undefined = row; next; next = yield* parentOf(next)) above.add(next.id);
    waiters.push({ on, above });
  }
  return waiters;
}

/** What is at work in the workspace that an execution waits for: its run has that until it ends. */
function* holderOfWorkspace({ waiting, runId }: Execution): Asking<ExecutionId | undefined> {
  if (waiting?.for !== 'workspace' || runId === null) return undefined;
  const wanted = yield* ask('workspace', runId);
  const holder = wanted?.lock ? yield* ask('lockHolder', wanted.lock) : undefined;
  const run = holder && (yield* ask('run', holder.runId));
  return run?.currentId ?? undefined;
}

function* dependencyOf({ waiting }: Execution): Asking<Execution | undefined> {
  return waiting?.on === undefined ? undefined : yield* ask('execution', waiting.on);
}

function* parentOf({ parentId }: Execution): Asking<Execution | undefined> {
  return parentId === null ? undefined : yield* ask('execution', parentId);
}

function wakesOf({ wakeOnClose }: Execution): string[] {
  return wakeOnClose === null ? [] : wakeOnClose.split(' ');
}
