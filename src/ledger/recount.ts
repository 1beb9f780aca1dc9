import type { ExecutionId } from '../base/ids.ts';
import type { Execution } from './execution.ts';
import { isCounted } from './execution.ts';
import type { Notice } from './notice.ts';
import { isPending } from './notice.ts';

/** A whole state, as far as counting goes. */
export interface Countable {
  readonly executions: readonly Execution[];
  readonly notices: readonly Notice[];
  readonly holds: readonly { readonly executionId: ExecutionId; readonly holderId: ExecutionId }[];
}

/**
 * Every deficit, counted anew from its definition: unclosed children, their notices that are owed or claimed, and hold
 * edges of what is unclosed or pending. For tests, the simulator and `db check`: the running counts must equal it.
 */
export function recount(state: Countable): Map<ExecutionId, number> {
  const open = new Map<ExecutionId, number>(state.executions.map((row) => [row.id, 0]));
  const add = (id: ExecutionId): void => void open.set(id, (open.get(id) ?? 0) + 1);
  const holders = new Map<ExecutionId, ExecutionId[]>();
  for (const edge of state.holds) {
    holders.set(edge.executionId, [...(holders.get(edge.executionId) ?? []), edge.holderId]);
  }
  for (const row of state.executions) {
    if (!isCounted(row)) continue;
    if (row.parentId !== null) add(row.parentId);
    holders.get(row.id)?.forEach(add);
  }
  for (const notice of state.notices) {
    if (!isPending(notice.state)) continue;
    add(notice.countedOn);
    holders.get(notice.executionId)?.forEach(add);
  }
  return open;
}
