import type { Execution } from '../../ledger/execution.ts';
import { isSettled } from '../../ledger/execution.ts';
import type { Notice } from '../../ledger/notice.ts';
import { isPending } from '../../ledger/notice.ts';
import { inTreeOrder } from '../tree-order.ts';
import type { Tree } from '../views.ts';
import type { MemoryState } from './state.ts';

/** A whole tree, at most `limit` executions of it. */
export function treeOf(state: MemoryState, rootId: string, limit: number): Tree | undefined {
  const found = [...state.rows('execution').values()].filter((row) => row.rootId === rootId).sort(byId);
  if (found.length === 0) return undefined;
  const members = idsOf(found);
  const notices = [...state.rows('notice').values()].filter((row) => members.has(row.executionId)).sort(byId);
  const executions = found.slice(0, limit);
  return { ...around(state, rootId, members, executions, notices), isCut: found.length > limit };
}

/** What of a tree is open, at most `limit` unclosed executions of it. */
export function openTreeOf(state: MemoryState, rootId: string, limit: number): Tree | undefined {
  const all = state.rows('execution');
  const root = all.get(rootId);
  if (!root || root.parentId !== null) return undefined;
  const unclosed = [...all.values()].filter((row) => !row.closed).sort(byId);
  const found = [root];
  // A list is walked also over what is added meanwhile.
  for (const above of found) found.push(...unclosed.filter((row) => row.parentId === above.id));
  const open = found.slice(0, limit);
  const counted = idsOf(open);
  const notices = [...state.rows('notice').values()]
    .filter((row) => isPending(row.state) && counted.has(row.countedOn))
    .sort(byId);
  const results = notices.flatMap((notice) => all.get(notice.executionId) ?? []);
  const executions = [...new Set([...open, ...results])];
  return {
    ...around(state, rootId, idsOf(executions), executions, notices),
    isCut: found.length > limit,
  };
}

function around(
  state: MemoryState,
  rootId: string,
  members: ReadonlySet<string>,
  executions: readonly Execution[],
  notices: Notice[],
): Omit<Tree, 'isCut'> {
  const holds = [...state.holds].filter(
    (hold) => members.has(hold.executionId) || members.has(hold.holderId),
  );
  const heldIds = new Set<string>(
    holds.filter((hold) => members.has(hold.holderId)).map((hold) => hold.executionId),
  );
  const steerIds = new Set<string | null | undefined>();
  for (const notice of notices) if (notice.state === 'claimed') steerIds.add(notice.steerId);
  for (const row of executions) {
    if (row.kind === 'message' && !isSettled(row.state))
      steerIds.add(state.rows('input').get(row.id)?.steerId);
  }
  const isOwed = (id: string): boolean =>
    [...state.rows('notice').values()].some((row) => row.executionId === id && isPending(row.state));
  return {
    executions: inTreeOrder(executions),
    notices,
    holds: holds.sort((a, b) => (edge(a) < edge(b) ? -1 : 1)),
    held: [...state.rows('execution').values()]
      .filter((row) => heldIds.has(row.id) && row.rootId !== rootId && (!row.closed || isOwed(row.id)))
      .sort(byId),
    turns: [...state.owners].flatMap(({ executionId, turnId }) => {
      const turn = state.rows('turn').get(turnId);
      return turn && turn.state !== 'ended' && members.has(executionId) ? [{ executionId, turn }] : [];
    }),
    steers: [...state.rows('steer').values()]
      .filter((steer) => steerIds.has(steer.id) && steer.endedAt === null)
      .sort(byId),
  };
}

function idsOf(rows: readonly Execution[]): Set<string> {
  return new Set(rows.map((row) => row.id));
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function edge(hold: { readonly executionId: string; readonly holderId: string }): string {
  return `${hold.executionId} ${hold.holderId}`;
}
