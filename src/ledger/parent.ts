import type { ExecutionId, SessionId } from '../base/ids.ts';
import { holdersAbove } from './batch.ts';
import type { Refusal } from './decision.ts';
import { refuse } from './decision.ts';
import type { Execution, ParentSource, ReportMode } from './execution.ts';
import { isSettled } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { distinct } from './registration.ts';
import { rules } from './rules.ts';
import type { Session } from './session.ts';
import type { Turn } from './turn.ts';

/** Who asks for something to start: an agent through its session, a program through its execution, or a person. */
export type Caller =
  | { readonly by: 'session'; readonly sessionId: SessionId; readonly call: CallEvidence }
  | { readonly by: 'execution'; readonly executionId: ExecutionId }
  | { readonly by: 'person'; readonly reportsTo?: SessionId };

/** What the driver proved of a call, after its stream was read up to it. `byId`: the call itself named its turn. */
export type CallEvidence =
  | { readonly state: 'running'; readonly nativeTurnId: string; readonly byId: boolean }
  | { readonly state: 'ended'; readonly byId?: boolean }
  | { readonly state: 'unknown' };

/** Whose child it is, who else holds it, and who hears of its end: fixed at registration. */
export interface Parentage {
  readonly ok: true;
  readonly parent: Execution | null;
  readonly source: ParentSource;
  readonly holders: readonly ExecutionId[];
  readonly reportsTo: SessionId | null;
  readonly mode: ReportMode;
}

/**
 * Invariant 8: whose child is it? The execution token; the primary owner of the proven running turn; the live tasks of
 * the session; for a person a visible root. It never falls through a rule that applies.
 */
export function* findParent(caller: Caller): Asking<Parentage | Refusal> {
  if (caller.by === 'person') {
    const reportsTo = caller.reportsTo ?? null;
    return {
      ok: true,
      parent: null,
      source: 'none',
      holders: [],
      reportsTo,
      mode: reportsTo ? 'each' : 'none',
    };
  }
  if (caller.by === 'execution') {
    const parent = yield* ask('execution', caller.executionId);
    if (!parent)
      return refuse('NOT_FOUND', `No execution ${caller.executionId}.`, { id: caller.executionId });
    // What the agent runs by itself has no token: its calls come through the session.
    if (parent.kind === 'task')
      return refuse('ILLEGAL_STATE', `${parent.id} is background work of an agent, which is no parent.`, {
        id: parent.id,
      });
    return { ok: true, parent, source: 'explicit', holders: [], reportsTo: null, mode: 'none' };
  }
  const session = yield* ask('session', caller.sessionId);
  if (!session) return refuse('NOT_FOUND', `No session ${caller.sessionId}.`, { id: caller.sessionId });
  return yield* ofSession(session, caller.call);
}

function* ofSession(session: Session, call: CallEvidence): Asking<Parentage | Refusal> {
  if (session.state === 'stopped') {
    return refuse('SESSION_STOPPED', 'This session was stopped; nothing was started.', {
      sessionId: session.id,
    });
  }
  const turn = yield* provenTurn(session, call);
  if (turn) return yield* ofTurn(session, turn, call);
  // A call that names its turn was made by no background task.
  const isProvenEnded = call.state === 'ended' && call.byId === true;
  const tasks = isProvenEnded ? [] : yield* ask('liveTasks', session.id);
  // What was detached is never asked first: what it began below may have closed long ago.
  const oldest = tasks.find((task) => task.detachedAt === null) ?? tasks[0];
  if (oldest && call.state !== 'running') {
    // What nobody can place may come from background work that the running turn began and has not told of yet.
    const owners = call.state === 'unknown' ? yield* activeOwners(session) : [];
    return yield* ofTasks(session, oldest, tasks, owners);
  }
  if (call.state === 'ended' && rules.refuseEnded) {
    return refuse('TURN_ENDED', 'The turn of this call has ended; nothing was started.');
  }
  if (!rules.refuseEnded && call.state === 'ended') {
    return { ok: true, parent: null, source: 'none', holders: [], reportsTo: session.id, mode: 'each' };
  }
  return refuse(
    'TURN_NOT_PROVEN',
    'No running turn is proven for this call; nothing was started. Call again.',
  );
}

function* provenTurn(session: Session, call: CallEvidence): Asking<Turn | undefined> {
  for (const id of [session.wakeTurn, session.laneTurn]) {
    if (id === null) continue;
    const turn = yield* ask('turn', id);
    if (!turn) continue;
    if (!rules.barrier) return turn;
    const active = turn.state === 'running' || turn.state === 'waiting';
    if (active && call.state === 'running' && turn.nativeTurnId === call.nativeTurnId) return turn;
  }
  return undefined;
}

function* ofTurn(session: Session, turn: Turn, call: CallEvidence): Asking<Parentage | Refusal> {
  const owners = yield* ask('owners', turn.id);
  const unsettled = owners.filter((owner) => !isSettled(owner.state));
  // What the agent does by itself has no deadline, and nobody would cancel it: the first of the others counts.
  const parent = unsettled.find((owner) => owner.kind !== 'late') ?? unsettled[0];
  if (!parent)
    return refuse('CANCELLED', 'Everything that owned this turn was cancelled; nothing was started.');
  const others = rules.holders ? unsettled.map((owner) => owner.id) : [];
  // A call that only its order places in this turn may come from a background task of an earlier one.
  const isPlacedByOrder = call.state === 'running' && !call.byId;
  const byTask = isPlacedByOrder ? yield* countingOn(yield* ask('liveTasks', session.id)) : [];
  return {
    ok: true,
    parent,
    source: 'turn',
    holders: yield* holdersOf(session, [...others, ...byTask], parent),
    reportsTo: session.id,
    mode: modeOf(session),
  };
}

function* holdersOf(
  session: Session,
  holders: readonly ExecutionId[],
  parent: Execution,
): Asking<ExecutionId[]> {
  return distinct(yield* holdersAbove(session, holders, parent), parent.id);
}

/** A controller is told of all that it gave out in one turn at once. */
function modeOf({ delivery }: Session): ReportMode {
  return delivery === 'controller' ? 'batch' : 'each';
}

/** Everyone on whom background work is counted: its parents, and those who shared the turns that began it. */
function* countingOn(tasks: readonly Execution[]): Asking<ExecutionId[]> {
  const all: ExecutionId[] = [];
  for (const task of tasks) {
    if (task.detachedAt !== null) continue;
    if (task.parentId !== null) all.push(task.parentId);
    all.push(...(yield* ask('holders', task.id)));
  }
  return all;
}

/** Who owns what the agent does now, as far as it was seen to begin. */
function* activeOwners(session: Session): Asking<ExecutionId[]> {
  const all: ExecutionId[] = [];
  for (const id of [session.wakeTurn, session.laneTurn]) {
    const turn = id === null ? undefined : yield* ask('turn', id);
    if (turn?.state !== 'running' && turn?.state !== 'waiting') continue;
    const owners = yield* ask('owners', turn.id);
    all.push(...owners.filter((owner) => !isSettled(owner.state)).map((owner) => owner.id));
  }
  return all;
}

function* ofTasks(
  session: Session,
  oldest: Execution,
  tasks: readonly Execution[],
  owners: readonly ExecutionId[],
): Asking<Parentage | Refusal> {
  const parent = oldest.parentId === null ? undefined : yield* ask('execution', oldest.parentId);
  if (!parent) return refuse('TURN_ENDED', 'The turn of this call has ended; nothing was started.');
  const all = rules.holders ? [...(yield* countingOn(tasks)), ...owners] : [];
  const holders = yield* holdersOf(session, all, parent);
  return { ok: true, parent, source: 'task', holders, reportsTo: session.id, mode: modeOf(session) };
}
