import type { ExecutionId } from '../../../src/base/ids.ts';
import type { CancelledRun, Cancelling } from '../../../src/ledger/cancel.ts';
import type { Execution } from '../../../src/ledger/execution.ts';
import { isSettled } from '../../../src/ledger/execution.ts';
import { depthLimit } from '../../../src/ledger/registration.ts';
import { topIn } from '../batches.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, commandIf, firstOf } from '../moment.ts';
import type { State } from '../state.ts';
import { existing, listed } from '../state.ts';

/** Executions that this decision registered. */
function born({ before, after }: Moment): Execution[] {
  return changed(before.executions, after.executions).flatMap(({ was, row }) => (was ? [] : [row]));
}

function checkShape(moment: Moment): string | undefined {
  return firstOf(born(moment), (row) => {
    if (row.parentId === null)
      return row.rootId === row.id && row.depth === 0 ? undefined : `${short(row.id)} is no root`;
    const parent = existing(moment.after.executions, row.parentId);
    if (row.rootId !== parent.rootId || row.depth !== parent.depth + 1)
      return `${short(row.id)} does not fit its parent`;
    return row.depth > depthLimit && row.kind !== 'continuation'
      ? `${short(row.id)} is ${row.depth} deep`
      : undefined;
  });
}

/** Nothing begins below what is closed, cancelled, lost or latched; a result is delivered below what was lost. */
function checkParents(moment: Moment): string | undefined {
  return firstOf(born(moment), (row) => {
    const parent = row.parentId === null ? undefined : moment.before.executions.get(row.parentId);
    if (!parent) return row.parentId === null ? undefined : `${short(row.id)} is older than its parent`;
    if (parent.closed) return `${row.kind} ${short(row.id)} began below a closed ${short(parent.id)}`;
    // Work that lives already is counted wherever it is found, and ends with what was cancelled.
    if (row.kind === 'task' && !parent.closed && (row.cancelRequested || !parent.cancelRequested))
      return undefined;
    if (parent.cancelRequested)
      return `${row.kind} ${short(row.id)} began below a cancelled ${short(parent.id)}`;
    const isOver = parent.state === 'cancelled' || parent.state === 'lost';
    return isOver && row.kind !== 'continuation'
      ? `${row.kind} ${short(row.id)} began below a ${parent.state} one`
      : undefined;
  });
}

/** Edges run from older to newer executions, so they cannot make a cycle. */
function checkEdges({ after, facts }: Moment): string | undefined {
  const bornAt = (id: ExecutionId): number => facts.bornAt.get(id) ?? -1;
  return firstOf(after.snapshot.holds, ({ executionId, holderId }) => {
    const held = existing(after.executions, executionId);
    if (held.parentId === holderId) return `${short(holderId)} holds its own child`;
    return bornAt(holderId) < bornAt(executionId)
      ? undefined
      : `${short(holderId)} holds an older ${short(executionId)}`;
  });
}

/** Whose edges a new continuation inherits. */
function inherited(state: State, row: Execution): ExecutionId[] {
  const notices = [...state.notices.values()].filter((notice) => notice.continuationId === row.id);
  return notices.flatMap((notice) => [...listed(state.holders, notice.executionId)]);
}

/** Who else could be the cause of something that began in a turn of this session. */
function sharers(state: State, row: Execution): ExecutionId[] {
  const parent = row.parentId === null ? undefined : state.executions.get(row.parentId);
  const session = [...state.sessions.values()].filter((each) => each.id === parent?.runsIn);
  const turns = session.flatMap((each) => [each.laneTurn, each.wakeTurn, each.lastTurn]);
  const owners = turns.flatMap((id) => (id === null ? [] : listed(state.owners, id)));
  const tasks = [...state.executions.values()].filter(
    (task) => task.kind === 'task' && task.runsIn === parent?.runsIn && !isSettled(task.state),
  );
  const unsettled = owners.filter((owner) => !isSettled(owner.state)).map((owner) => owner.id);
  const counting = tasks.flatMap((task) => [
    ...(task.parentId === null ? [] : [task.parentId]),
    ...listed(state.holders, task.id),
  ]);
  return [...unsettled, ...counting];
}

/** Unrelated work of a session neither holds nor is held: an edge is a shared turn, or is inherited. */
function checkHolders(moment: Moment): string | undefined {
  return firstOf(born(moment), (row) => {
    const holders = listed(moment.after.holders, row.id);
    const isExplicit = row.parentSource === 'explicit' && row.kind !== 'continuation';
    if (holders.length === 0) return undefined;
    if (isExplicit || row.parentId === null) return `${short(row.id)} shares no turn and is held`;
    const may = row.kind === 'continuation' ? inherited(moment.after, row) : sharers(moment.before, row);
    // In a controller's session it is the message, and not the handling of results below it.
    const isMeant = (id: ExecutionId): boolean =>
      may.includes(id) || may.some((each) => topIn(moment.before, each) === id);
    const stranger = holders.find((id) => !isMeant(id));
    if (stranger) return `${short(row.id)} is held by ${short(stranger)}, which shares nothing with it`;
    const closed = holders.find((id) => moment.before.executions.get(id)?.closed);
    return closed && `${short(row.id)} is held by a closed ${short(closed)}`;
  });
}

function checkInherited(moment: Moment): string | undefined {
  return firstOf(born(moment), (row) => {
    if (row.kind !== 'continuation') return undefined;
    const holders = listed(moment.after.holders, row.id);
    const lost = inherited(moment.after, row).find((id) => id !== row.parentId && !holders.includes(id));
    return lost && `${short(row.id)} does not inherit the share of ${short(lost)}`;
  });
}

/** A cancellation is latched on the whole open tree, apart from what was detached. */
function checkLatch({ after }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    if (!row.cancelRequested || row.closed) return undefined;
    const free = listed(after.children, row.id).find(
      (child) => !child.closed && child.detachedAt === null && !child.cancelRequested,
    );
    return free && `${short(row.id)} was cancelled, and ${free.kind} ${short(free.id)} below it was not`;
  });
}

/** What a cancellation asks its caller to interrupt belongs to the cancelled tree alone; in shared turns it steps down. */
function checkStepDown(moment: Moment): string | undefined {
  if (moment.came.as !== 'decided') return undefined;
  const cancelling = commandIf(moment, 'cancel')
    ? (moment.came.value as Cancelling)
    : commandIf(moment, 'cancelRun') && (moment.came.value as CancelledRun).cancelling;
  if (!cancelling) return undefined;
  const { interrupt } = cancelling;
  const names = new Set(interrupt.map(({ turnId }) => turnId));
  return firstOf(moment.after.turns.values(), (turn) => {
    if (turn.state === 'ended') return undefined;
    const open = listed(moment.after.owners, turn.id).filter((row) => !isSettled(row.state));
    const other = open.find((row) => !row.cancelRequested);
    if (names.has(turn.id) && other)
      return `${short(turn.id)} is interrupted, though ${short(other.id)} owns it too`;
    const isNew = (row: Execution): boolean => !moment.before.executions.get(row.id)?.cancelRequested;
    const latched = other && open.find((row) => row.cancelRequested && isNew(row));
    return latched ? `${short(latched.id)} did not step down from ${short(turn.id)}` : undefined;
  });
}

/** Late activity belongs below the root of the session's last turn while that is open, and owes nothing. */
function checkLate(moment: Moment): string | undefined {
  return firstOf(born(moment), (row) => {
    if (row.kind !== 'late') return undefined;
    if (row.mode !== 'none') return 'late activity tells somebody';
    const session = [...moment.before.sessions.values()].find((each) => each.id === row.runsIn);
    const last = session?.lastTurn ? listed(moment.before.owners, session.lastTurn) : [];
    const roots = last.map((owner) => existing(moment.before.executions, owner.rootId));
    const open = roots.filter(
      (root) => !root.closed && !root.cancelRequested && root.state !== 'cancelled' && root.state !== 'lost',
    );
    if (row.parentId === null)
      return open[0] ? `late activity is no child of the open ${short(open[0].id)}` : undefined;
    return open.some((root) => root.id === row.parentId) ? undefined : 'late activity is below a stranger';
  });
}

/** Shape, parents, edges and cancellation of trees (invariants 1, 4, 9, 11 and 12). */
export const treeProperties: readonly Property[] = [
  { name: 'a child fits its parent, and launches are bounded in depth', check: checkShape },
  { name: 'nothing begins below what is closed, cancelled, lost or latched', check: checkParents },
  { name: 'hold edges run from older to newer executions', check: checkEdges },
  { name: 'an edge is a shared turn or is inherited', check: checkHolders },
  { name: 'a continuation inherits the edges of what it handles', check: checkInherited },
  { name: 'a cancellation is latched on the whole open tree', check: checkLatch },
  { name: 'a turn that is shared is stepped down from, not interrupted', check: checkStepDown },
  { name: 'late activity is below the root of the last turn', check: checkLate },
];
