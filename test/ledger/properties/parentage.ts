import type { ExecutionId } from '../../../src/base/ids.ts';
import type { Execution } from '../../../src/ledger/execution.ts';
import { isSettled } from '../../../src/ledger/execution.ts';
import type { Launch, Launched } from '../../../src/ledger/launch.ts';
import type { Caller } from '../../../src/ledger/parent.ts';
import type { Session } from '../../../src/ledger/session.ts';
import { topIn } from '../batches.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { commandIf } from '../moment.ts';
import type { State } from '../state.ts';
import { existing, listed } from '../state.ts';

/** Whose child something must be, or why it must not begin. */
type Expected =
  | { readonly refused: string }
  | { readonly parent: Execution | null; readonly source: string; readonly holders: readonly ExecutionId[] };

function liveTasks(state: State, caller: Extract<Caller, { by: 'session' }>): Execution[] {
  return [...state.executions.values()]
    .filter((row) => row.kind === 'task' && row.runsIn === caller.sessionId && !isSettled(row.state))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The parents of tasks, and those who shared the turns in which the tasks began. */
function countingOn(state: State, tasks: readonly Execution[]): ExecutionId[] {
  return tasks
    .filter((task) => task.detachedAt === null)
    .flatMap((task) => [
      ...(task.parentId === null ? [] : [task.parentId]),
      ...listed(state.holders, task.id),
    ]);
}

/** The order of invariant 8, never falling through a rule that applies. */
function expected(state: State, caller: Caller): Expected {
  if (caller.by === 'person') return { parent: null, source: 'none', holders: [] };
  if (caller.by === 'execution') {
    const parent = state.executions.get(caller.executionId);
    if (parent?.kind === 'task') return { refused: 'ILLEGAL_STATE' };
    return parent ? { parent, source: 'explicit', holders: [] } : { refused: 'NOT_FOUND' };
  }
  const session = state.sessions.get(caller.sessionId);
  if (!session) return { refused: 'NOT_FOUND' };
  if (session.state === 'stopped') return { refused: 'SESSION_STOPPED' };
  const { call } = caller;
  // A call that names its turn was made by no background task.
  const tasks = call.state === 'ended' && call.byId ? [] : liveTasks(state, caller);
  if (call.state === 'running') {
    const turn = [session.wakeTurn, session.laneTurn]
      .map((id) => (id === null ? undefined : state.turns.get(id)))
      .find((each) => each && each.startedAt !== null && each.nativeTurnId === call.nativeTurnId);
    if (!turn) return { refused: 'TURN_NOT_PROVEN' };
    const unsettled = listed(state.owners, turn.id).filter((row) => !isSettled(row.state));
    // Late activity is nobody's account as long as somebody else's turn it is too.
    const parent = unsettled.find((row) => row.kind !== 'late') ?? unsettled[0];
    if (!parent) return { refused: 'CANCELLED' };
    const holders = [...unsettled.map((row) => row.id), ...(call.byId ? [] : countingOn(state, tasks))];
    return { parent, source: 'turn', holders };
  }
  const oldest = tasks.find((task) => task.detachedAt === null) ?? tasks[0];
  if (!oldest) return { refused: call.state === 'ended' ? 'TURN_ENDED' : 'TURN_NOT_PROVEN' };
  const parent = oldest.parentId === null ? undefined : state.executions.get(oldest.parentId);
  if (!parent) return { refused: 'TURN_ENDED' };
  // Background work that the running turn began may not have been told of yet.
  const running = call.state === 'unknown' ? runningOwners(state, session) : [];
  return { parent, source: 'task', holders: [...countingOn(state, tasks), ...running] };
}

function runningOwners(state: State, session: Session): ExecutionId[] {
  return [session.wakeTurn, session.laneTurn]
    .map((id) => (id === null ? undefined : state.turns.get(id)))
    .flatMap((turn) => (turn && turn.startedAt !== null ? listed(state.owners, turn.id) : []))
    .filter((row) => !isSettled(row.state))
    .map((row) => row.id);
}

function refusalBelow(parent: Execution | null): string | undefined {
  if (!parent) return undefined;
  if (parent.closed) return 'PARENT_CLOSED';
  const isOver = parent.cancelRequested !== null || parent.state === 'cancelled' || parent.state === 'lost';
  return isOver ? 'CANCELLED' : undefined;
}

/** Why an agent may not have what it was given, or work where it would: some budget could not be kept. */
function whyUnpaid(state: State, { hosts }: Launch, wanted: ReturnType<typeof expected>): string | undefined {
  if (!hosts) return undefined;
  const budgets = hosts.plan.map(({ budget }) => budget ?? null);
  let above: Execution | null = 'refused' in wanted ? null : wanted.parent;
  while (above) {
    budgets.push(above.budget);
    above = above.parentId === null ? null : existing(state.executions, above.parentId);
  }
  const isKept = budgets.every(
    (budget) => !budget || hosts.tells === 'cost' || (hosts.tells === 'tokens' && budget.usd === undefined),
  );
  return isKept ? undefined : 'NO_USAGE';
}

function isController(state: State, caller: Caller): boolean {
  return caller.by === 'session' && state.sessions.get(caller.sessionId)?.delivery === 'controller';
}

/** Whoever shares the turn holds it; in a controller's session the messages do, not the handling of results below them. */
function holdersOf(
  state: State,
  caller: Caller,
  { parent, holders }: Extract<Expected, { parent: unknown }>,
): Set<ExecutionId> {
  const others = holders.filter((id) => id !== parent?.id);
  if (!isController(state, caller) || !parent) return new Set(others);
  const top = topIn(state, parent.id);
  return new Set(others.map((id) => topIn(state, id)).filter((id) => id !== top && id !== parent.id));
}

/** What would wait for its own parents, or for whoever holds any of them, by way of what they wait for. */
function waitsOnSelf(
  state: State,
  { after, caller }: Launch,
  wanted: ReturnType<typeof expected>,
): string | undefined {
  if (after === undefined || 'refused' in wanted) return undefined;
  const needIt = (row: Execution): ExecutionId[] => [
    ...(row.parentId === null ? [] : [row.parentId]),
    ...listed(state.holders, row.id),
  ];
  // What a controller gave out comes back together, so the step whose agent it is waits for all of it, whoever wrote to it.
  const session = caller.by === 'session' ? state.sessions.get(caller.sessionId) : undefined;
  const host = session?.delivery === 'controller' ? session.hostedBy : null;
  let above: ExecutionId[] = [
    ...(wanted.parent ? [wanted.parent.id] : []),
    ...(host === null ? [] : [host]),
    ...wanted.holders,
  ];
  const all = new Set(above);
  while (above.length > 0) {
    above = above.flatMap((id) => needIt(existing(state.executions, id))).filter((id) => !all.has(id));
    for (const id of above) all.add(id);
  }
  const needed = new Set([after]);
  for (const id of needed) {
    const row = state.executions.get(id);
    if (!row || row.closed) continue;
    if (all.has(id)) return 'WAIT_ON_SELF';
    for (const each of state.executions.values()) {
      const on = each.waiting?.on ?? holderOfPlace(state, each);
      if (on && isWithin(state, each, id)) needed.add(on);
    }
  }
  return undefined;
}

/** What was sent last by the run that has the directory for which another one waits. */
function holderOfPlace(state: State, { waiting, runId }: Execution): ExecutionId | null {
  if (waiting?.for !== 'workspace' || runId === null) return null;
  const places = [...state.workspaces.values()];
  const lock = places.find((place) => place.runId === runId)?.lock ?? null;
  const holder = lock === null ? undefined : places.find((place) => place.isHeld && place.lock === lock);
  return (holder && state.runs.get(holder.runId)?.currentId) ?? null;
}

function isWithin(state: State, row: Execution, id: ExecutionId): boolean {
  for (let at: Execution | undefined = row; at; )
    if (at.id === id) return true;
    else at = at.parentId === null ? undefined : state.executions.get(at.parentId);
  return false;
}

/** Whoever asks for a step that runs gets that one: an unsettled one below what runs in its session. */
function checkJoined(state: State, { caller }: Launch, { id }: Execution): string | undefined {
  const row = state.executions.get(id);
  if (!row || isSettled(row.state)) return `${short(id)} does not run`;
  for (let next: Execution | undefined = row; next; ) {
    if (caller.by === 'session' && next.runsIn === caller.sessionId) return undefined;
    next = next.parentId === null ? undefined : state.executions.get(next.parentId);
  }
  return `${short(id)} is no work of whoever asked`;
}

function checkLaunch(moment: Moment): string | undefined {
  const command = commandIf(moment, 'launch');
  if (!command || moment.before.executions.has(command.id)) return undefined;
  const { before, after, came } = moment;
  const wanted = expected(before, command.caller);
  const refused =
    'refused' in wanted
      ? wanted.refused
      : (refusalBelow(wanted.parent) ?? waitsOnSelf(before, command, wanted));
  if (command.joins && came.as === 'decided' && !(came.value as Launched).isNew)
    return checkJoined(before, command, (came.value as Launched).execution);
  if (came.as === 'refused')
    return refused === came.code ||
      (!refused && (came.code === 'DUPLICATE_KEY' || came.code === whyUnpaid(before, command, wanted)))
      ? undefined
      : `refused with ${came.code} instead of ${refused ?? 'begun'}`;
  if (came.as !== 'decided') return undefined;
  if (whyUnpaid(before, command, wanted)) return 'an agent began for which a budget cannot be kept';
  if (refused || 'refused' in wanted) return `begun, though it must be refused with ${refused}`;
  const row = after.executions.get(command.id);
  const { parent, source } = wanted;
  if (!row || row.parentId !== (parent?.id ?? null))
    return `its parent is ${short(row?.parentId)}, not ${short(parent?.id)}`;
  if (row.parentSource !== source) return `its parent was found by ${row.parentSource}, not by ${source}`;
  const holders = holdersOf(before, command.caller, wanted);
  const are = listed(after.holders, row.id);
  if (are.length !== holders.size || are.some((id) => !holders.has(id)))
    return `held by ${short(are)}, not ${short([...holders])}`;
  const isHeard =
    command.caller.by !== 'execution' && (command.caller.by === 'session' || command.caller.reportsTo);
  const heard = isController(before, command.caller) ? 'batch' : 'each';
  return row.mode === (isHeard ? heard : 'none') ? undefined : `its end is told as ${row.mode}`;
}

/** An id is registered once: for the same session it is the same thing, for another it is refused. */
function checkAgain(moment: Moment): string | undefined {
  const command = commandIf(moment, 'launch');
  const known = command && moment.before.executions.get(command.id);
  if (!known || command.caller.by !== 'session' || moment.came.as === 'thrown') return undefined;
  const bound = known.reportsTo ?? known.runsIn;
  const isOther = bound !== null && bound !== command.caller.sessionId;
  if (moment.came.as === 'refused')
    return isOther && moment.came.code === 'SESSION_MISMATCH'
      ? undefined
      : `refused with ${moment.came.code}`;
  const { isNew, execution } = moment.came.value as Launched;
  if (isOther) return `${short(known.id)} of ${short(bound)} was given to ${short(command.caller.sessionId)}`;
  return isNew || execution.id !== known.id ? 'registered a second time' : undefined;
}

/** Whose child is it? (invariants 7 and 8). */
export const parentageProperties: readonly Property[] = [
  { name: 'a launch gets the parent, the holders and the ear that its caller proves', check: checkLaunch },
  { name: 'an id is registered for one session', check: checkAgain },
];
