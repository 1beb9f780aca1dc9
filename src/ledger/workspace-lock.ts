import type { RunId } from '../base/ids.ts';
import { show } from './admission.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import type { Execution } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import type { Input, Session } from './session.ts';
import type { PreparedWorkspace, Workspace, WorkspaceLeft } from './workspace.ts';

/*
 * A lock is a run's: its first message takes it with the lane, or before it, whatever works below that message works under
 * it, and the transaction that ends the run gives it up. A run holds at most one, and asks for it only while nothing of the
 * run is at work; a run never waits for another, so nobody waits for a lock whose holder waits for him.
 */

/** Writes where a run works. Behind the effect that inserts the run. */
export function addWorkspace(draft: Draft, runId: RunId, workspace: PreparedWorkspace): void {
  const row: Workspace = { ...workspace, runId, place: null, isHeld: false, left: null };
  draft.add({ do: 'insertWorkspace', row });
}

/** What becomes due next in a session: a message, or nothing yet, since those that are queued wait for their workspaces. */
export type NextMessage =
  | { readonly message: Execution; readonly input: Input }
  | { readonly message?: undefined; readonly waiting: ReadonlySet<RunId> };

/**
 * The first message of the queue whose workspace is free. Those before it wait for another run, and hold back nobody behind
 * them: the next message of that very run may be one of these. Undefined when nothing is queued.
 */
export function* nextMessage(draft: Draft, session: Session): Asking<NextMessage | undefined> {
  const head = yield* ask('nextInput', session.id);
  if (!head) return undefined;
  const asked = new Map<string, number>();
  const waiting = new Set<RunId>();
  const isFree = function* (message: Execution): Asking<boolean> {
    if (yield* hasWorkspace(draft, message, asked)) return true;
    if (message.runId !== null) waiting.add(message.runId);
    return false;
  };
  const first = yield* ask('execution', head.executionId);
  if (first && (yield* isFree(first))) return { message: first, input: head };
  for (const input of yield* ask('inputs', session.id)) {
    if (input.executionId === head.executionId || input.steerId !== null) continue;
    const message = yield* ask('execution', input.executionId);
    if (message && (yield* isFree(message))) return { message, input };
  }
  return { waiting };
}

/**
 * Whether the run of a message or of a workflow has its workspace, or takes it now; else it is in line, and what it was asked
 * for shows it.
 */
function* hasWorkspace(draft: Draft, message: Execution, asked: Map<string, number>): Asking<boolean> {
  const row = message.runId === null ? undefined : yield* ask('workspace', message.runId);
  if (!row || row.lock === null || row.isHeld || !rules.workspaceLock) return true;
  const { lock, runId } = row;
  const holder = yield* ask('lockHolder', lock);
  const first = (yield* ask('lockNext', lock, 0)) ?? row;
  const place = row.place ?? Math.max(asked.get(lock) ?? 0, yield* ask('lockLast', lock)) + 1;
  // One decision may ask for several runs of one session: those that ask now come behind those in line.
  const isFirst = first.runId === runId && (row.place !== null || !asked.has(lock));
  if (!holder && isFirst) {
    draft.add({ do: 'patchWorkspace', id: runId, set: { isHeld: true, place } });
    return true;
  }
  if (row.place === null) {
    asked.set(lock, place);
    draft.add({ do: 'patchWorkspace', id: runId, set: { place } });
  }
  if (message.waiting?.for !== 'workspace') {
    const text = describeLock(holder ?? first);
    yield* show(draft, message, { for: 'workspace', since: draft.now, text });
  }
  return false;
}

/** As it is asked for by a workflow: its run has no session, and sends one thing at a time. */
export function takeWorkspace(draft: Draft, row: Execution): Asking<boolean> {
  return hasWorkspace(draft, row, new Map());
}

/** Who has a workspace that somebody waits for: for people. */
export function describeLock(holder: Workspace): string {
  return `the workspace ${holder.lock ?? holder.path} is held by ${holder.runId}`;
}

/** The run has ended: its lock is given up and the next is woken; what was made for it on disk is owed a look. */
export function* endWorkspace(draft: Draft, runId: RunId): Asking<void> {
  const row = yield* ask('workspace', runId);
  if (!row) return;
  if (row.checkout) draft.wake('workspace', runId);
  if (row.lock === null) return;
  draft.add({ do: 'patchWorkspace', id: runId, set: { isHeld: false, place: null } });
  yield* wakeNext(draft, row.lock, new Set([runId]));
}

/**
 * What is due in a session now is none of these: a lock that is free does not wait for it. A run that leaves the line asks
 * anew when its message is next. Where nothing is due but what has just asked in vain, that stays in line: nobody would
 * make it ask again.
 */
export function* passLocks(draft: Draft, session: Session, next: NextMessage | undefined): Asking<void> {
  const leaving = new Set<RunId>();
  const free = new Set<string>();
  for (const { runId, lock } of yield* ask('lockWaiters', session.id)) {
    const stays = next?.message ? next.message.runId === runId : next?.waiting.has(runId);
    if (lock === null || stays || (yield* ask('lockHolder', lock))) continue;
    draft.add({ do: 'patchWorkspace', id: runId, set: { place: null } });
    leaving.add(runId);
    free.add(lock);
  }
  for (const lock of free) yield* wakeNext(draft, lock, leaving);
}

/** The lock is free: wakes the first who waits for it and can come. Those of `but` have just left. */
function* wakeNext(draft: Draft, lock: string, but: ReadonlySet<RunId>): Asking<void> {
  if (!rules.workspaceCall) return;
  let next = yield* ask('lockNext', lock, 0);
  while (next) {
    const run = but.has(next.runId) ? undefined : yield* ask('run', next.runId);
    // A run without a session asks as soon as it is called.
    if (run?.sessionId === null) return draft.wake('run', run.id);
    const session = run && (yield* ask('session', run.sessionId));
    if (session?.laneTurn === null) return draft.wake('session', session.id);
    // Its session is at work for somebody else: it asks anew when that has ended.
    if (run) draft.add({ do: 'patchWorkspace', id: run.id, set: { place: null } });
    next = yield* ask('lockNext', lock, next.place ?? Infinity);
  }
}

/** A run that had ended goes on: in what was prepared for it anew, and without the lock until its message asks for it. */
export function* renewWorkspace(draft: Draft, runId: RunId, workspace: PreparedWorkspace): Asking<void> {
  if (!(yield* ask('workspace', runId))) return addWorkspace(draft, runId, workspace);
  draft.add({ do: 'patchWorkspace', id: runId, set: { ...workspace, left: null } });
}

/** What was made for a run that has ended was looked at: says what is left of it. False when the run goes on. */
export function* workspaceLeft(command: {
  readonly now: number;
  readonly runId: RunId;
  readonly left: WorkspaceLeft;
}): Rule<boolean> {
  const { now, runId, left } = command;
  const draft = new Draft(now);
  const row = yield* ask('workspace', runId);
  const run = yield* ask('run', runId);
  if (!row || !run) return refuse('NOT_FOUND', `No workspace of run ${runId}.`, { id: runId });
  if (run.state !== 'ended' || row.left) return draft.done(false);
  draft.add({ do: 'patchWorkspace', id: runId, set: { left } });
  const path = row.checkout?.path ?? row.path;
  const data = { runId, path, branch: row.checkout?.branch, ...left };
  draft.tell({ type: 'run.workspace', rootId: null, sessionId: run.sessionId, data });
  return draft.done(true);
}
