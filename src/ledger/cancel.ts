import type { ExecutionId, FreshIds, NoticeId, RunId, SessionId, SteerId, TurnId } from '../base/ids.ts';
import { mustEnd } from './clock.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import type { CancelRequest, Execution } from './execution.ts';
import { isAttempt, isQuestion, isSettled } from './execution.ts';
import { cancelledEnding } from './graph-end.ts';
import { cancelGraph } from './graph-moves.ts';
import { waive } from './hand-over.ts';
import { endAgainMs, mayBeJoined } from './interruption.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import { end } from './settle.ts';

/** Cancels an execution and everything below it. */
export interface Cancel {
  readonly now: number;
  readonly id: ExecutionId;
  readonly request: CancelRequest;
  /** `CANCELLED`, or what the outcome says instead: `TIMED_OUT`, `BUDGET`. */
  readonly verdict: string;
  /** Only if it must still end by its deadline: it may have gone back to its queue, and its clock with it. */
  readonly isByDeadline?: boolean;
  readonly fresh: FreshIds;
}

/** What must be ended outside the ledger before the tree can close. */
export interface Cancelling {
  /** Sessions whose running turn belongs to the cancelled tree alone: interrupt it. */
  readonly interrupt: readonly { readonly sessionId: SessionId; readonly turnId: TurnId }[];
  /** Executions that a process of ours runs: end its group, then settle it. */
  readonly processes: readonly ExecutionId[];
  /** Steered texts of the tree that the agent holds: withdraw them where the driver can. */
  readonly sessions: readonly SessionId[];
}

const nothing: Cancelling = { interrupt: [], processes: [], sessions: [] };
/** Most children of one execution that one cancellation looks at. */
const childLimit = 100_000;

/**
 * Latches the cancellation on everything that is open at and below the execution (invariant 12): nothing can be
 * registered there any more, owed notices are waived, queued messages end, unsent claims are dropped. A turn that also
 * has an owner outside the tree is not interrupted: the tree's owners step down from it.
 */
export function* cancel(command: Cancel): Rule<Cancelling> {
  const target = yield* ask('execution', command.id);
  if (!target) return refuse('NOT_FOUND', `No execution ${command.id}.`, { id: command.id });
  const draft = new Draft(command.now);
  if (target.closed) return draft.done(nothing);
  if (command.isByDeadline && !(yield* mustEnd(target, command.now))) return draft.done(nothing);
  const latched = yield* latch(draft, target, command);
  return draft.done(yield* endTree(draft, latched, command));
}

/** Latches the cancellation on the tree and waives its notices; answers the rows as they then are. */
function* latch(
  draft: Draft,
  target: Execution,
  command: Pick<Cancel, 'request' | 'verdict'>,
  waived: ReadonlySet<NoticeId> = new Set(),
): Asking<Execution[]> {
  const { request, verdict } = command;
  const tree = yield* openTree(target);
  const requestOf = (row: Execution): CancelRequest =>
    row.cancelRequested ?? (row.id === target.id ? request : { ...request, actor: { kind: 'parent' } });
  for (const row of tree) {
    if (rules.cancelLatch && row.cancelRequested === null)
      draft.patch(row.id, { cancelRequested: requestOf(row) });
  }
  // A person's word goes before an earlier failure: a sequence that may go on after a failure must not go on now. What was
  // cancelled, with whatever is above it, does not run out of time or money any more.
  const isDecided = verdict !== 'CANCELLED' && (target.verdict !== null || target.cancelRequested !== null);
  if (rules.cancelLatch && !isDecided) draft.patch(target.id, { verdict });
  const { actor, reason } = request;
  if (target.cancelRequested === null) draft.event('execution.cancelRequested', target, { actor, reason });
  draft.wake('deadline', target.id, draft.now + endAgainMs);
  yield* waiveTree(draft, tree, request, waived);
  const ownVerdict = rules.cancelLatch && !isDecided ? { verdict } : {};
  return tree.map((row): Execution => {
    const cancelRequested = requestOf(row);
    return { ...row, cancelRequested, ...(row.id === target.id ? ownVerdict : {}) };
  });
}

/** The execution and everything open below it, parents before children. What was detached ends with its session only. */
function* openTree(target: Execution): Asking<Execution[]> {
  const tree = [target];
  for (let i = 0; i < tree.length; i++) {
    const row = tree[i];
    if (!row || row.open === 0) continue;
    const children = yield* ask('openChildren', row.id, childLimit);
    tree.push(...children.filter((child) => child.detachedAt === null));
  }
  return tree;
}

function* waiveTree(
  draft: Draft,
  tree: readonly Execution[],
  request: CancelRequest,
  waived: ReadonlySet<NoticeId>,
): Asking<void> {
  if (!rules.cancelWaives) return;
  for (const row of tree) {
    for (const notice of yield* ask('pendingOn', row.id)) {
      if (waived.has(notice.id)) continue;
      // A text that has left us stays claimed until its fate is known; when it is taken, no continuation comes of it.
      if (notice.state === 'claimed' && (yield* isWritten(notice.steerId))) continue;
      yield* waive(draft, notice, 'cancelled', request.actor);
    }
  }
}

function* endTree(
  draft: Draft,
  tree: readonly Execution[],
  command: Pick<Cancel, 'request' | 'fresh'>,
): Asking<Cancelling> {
  const members = new Set(tree.map((row) => row.id));
  const interrupt = new Map<TurnId, { sessionId: SessionId; turnId: TurnId }>();
  const processes: ExecutionId[] = [];
  const sessions = new Set<SessionId>();
  let place = 0;
  const endNow = function* (row: Execution): Asking<void> {
    yield* waiveHanded(draft, row, command.request);
    const ending = isAttempt(row) ? cancelledEnding(row) : { state: 'cancelled' as const };
    yield* end(draft, row, ending, command.fresh.at('notice', place++));
  };
  for (const row of tree) {
    if (row.runsIn !== null) sessions.add(row.runsIn);
    if (isSettled(row.state)) continue;
    if (row.kind === 'message' && row.state === 'queued') {
      // A text that has left us stays until its fate is known; taken up, its turn is stopped.
      const input = yield* ask('input', row.id);
      if (yield* isWritten(input?.steerId ?? null)) continue;
      if (input) draft.add({ do: 'deleteInput', id: row.id });
      yield* endNow(row);
    } else if (row.kind === 'message' || row.kind === 'continuation' || row.kind === 'late') {
      const turn = yield* ask('activeTurnOf', row.id);
      const owners = turn ? yield* ask('owners', turn.id) : [];
      const shared = owners.some((owner) => !isSettled(owner.state) && !members.has(owner.id));
      if (!turn || (shared && rules.stepDown)) yield* endNow(row);
      else if (!(yield* mayBeJoined(draft.now, turn)))
        interrupt.set(turn.id, { sessionId: turn.sessionId, turnId: turn.id });
    } else if (row.kind === 'step' && row.state === 'queued') {
      yield* endNow(row);
    } else if (yield* endProgramOf(draft, row)) {
      // It settles when nothing below it is open.
    } else if (isQuestion(row)) {
      yield* endNow(row);
    } else {
      processes.push(row.id);
    }
  }
  return { interrupt: [...interrupt.values()], processes, sessions: [...sessions] };
}

/** A continuation that steps down will not handle what was handed to it. */
function* waiveHanded(draft: Draft, row: Execution, { actor }: CancelRequest): Asking<void> {
  if (row.kind !== 'continuation') return;
  for (const notice of yield* ask('noticesOfContinuation', row.id))
    if (notice.state === 'handed') yield* waive(draft, notice, 'cancelled', actor);
}

/** Stops what is the program of an execution, a run of messages or a workflow; false: it has none of these. */
function* endProgramOf(draft: Draft, row: Execution): Asking<boolean> {
  if (row.kind === 'task' || row.kind === 'outside' || row.kind === 'service') return false;
  const run = yield* ask('runOwnedBy', row.id);
  if (run) {
    if (run.state === 'ended') return true;
    draft.add({ do: 'patchRun', id: run.id, set: { cancelRequested: true } });
    draft.wake('run', run.id);
    return true;
  }
  const graph = yield* ask('graph', row.id);
  if (graph) yield* cancelGraph(draft, graph, row);
  return graph !== undefined || row.kind === 'agent';
}

function* isWritten(steerId: SteerId | null): Asking<boolean> {
  return steerId !== null && (yield* ask('steer', steerId))?.state === 'written';
}

/** Cancels a run. */
export interface CancelRun {
  readonly now: number;
  readonly id: RunId;
  readonly request: CancelRequest;
  readonly fresh: FreshIds;
}

/** What became of a run that was cancelled: the message that is open and must end, and what ends it. */
export interface CancelledRun {
  readonly openId: ExecutionId | null;
  readonly cancelling: Cancelling;
}

/**
 * Latches the cancellation of a run and of its message that is open, in one transaction: whoever asked for it may die
 * before the agent is told, and the message must not work on. The next message is never sent.
 */
export function* cancelRun(command: CancelRun): Rule<CancelledRun> {
  const run = yield* ask('run', command.id);
  if (!run) return refuse('NOT_FOUND', `No run ${command.id}.`, { id: command.id });
  const draft = new Draft(command.now);
  if (run.state === 'ended') return draft.done({ openId: null, cancelling: nothing });
  if (!run.cancelRequested) {
    draft.add({ do: 'patchRun', id: run.id, set: { cancelRequested: true } });
    draft.wake('run', run.id);
  }
  const message = run.currentId === null ? undefined : yield* ask('execution', run.currentId);
  if (!message || message.closed) return draft.done({ openId: null, cancelling: nothing });
  const latched = yield* latch(draft, message, { ...command, verdict: 'CANCELLED' });
  return draft.done({ openId: message.id, cancelling: yield* endTree(draft, latched, command) });
}

/** Stops a session: it stays stopped until a person sends a message. */
export interface StopSession {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly request: CancelRequest;
}

/** What stopping a session asks of its caller: cancel these trees, then end the agent's process. */
export interface StoppedSession {
  readonly roots: readonly ExecutionId[];
}

/** Marks it, waives what was destined to it, and latches the trees that must be cancelled, whose tops it names. */
export function* stopSession(command: StopSession): Rule<StoppedSession> {
  const session = yield* ask('session', command.sessionId);
  if (!session) return refuse('NOT_FOUND', `No session ${command.sessionId}.`, { id: command.sessionId });
  const draft = new Draft(command.now);
  draft.add({ do: 'patchSession', id: session.id, set: { state: 'stopped', limit: null } });
  draft.tell({ type: 'session.state', rootId: null, sessionId: session.id, data: { state: 'stopped' } });
  for (const run of yield* ask('runsOf', session.id)) {
    draft.add({ do: 'patchRun', id: run.id, set: { cancelRequested: true } });
    draft.wake('run', run.id);
  }
  const waived = new Set<NoticeId>();
  for (const notice of yield* ask('pendingFor', session.id)) {
    if (notice.state === 'claimed' && (yield* isWritten(notice.steerId))) continue;
    yield* waive(draft, notice, 'session_stopped', command.request.actor);
    waived.add(notice.id);
  }
  // Its process is ended when nothing runs in it any more, whoever lives to do it.
  draft.wake('session', session.id);
  const roots = yield* ask('openOwnedBy', session.id);
  // In this very transaction: whoever was to cancel them one by one may die before the last.
  for (const root of roots) yield* latch(draft, root, { ...command, verdict: 'CANCELLED' }, waived);
  return draft.done({ roots: roots.map((row) => row.id) });
}
