import type { ExecutionId } from '../base/ids.ts';
import type { Execution } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';

/** Most siblings of one failure that are looked at. */
const siblingLimit = 100_000;

/** What is to be ended because one of them failed. */
export interface ToEnd {
  readonly ids: readonly ExecutionId[];
  /** Why, for people and for the agent. */
  readonly reason: string;
}

/**
 * What was given out beside something that failed, and is still open. What was given out after the failure is not meant:
 * the agent may have known of it.
 */
export function* besideFailure(parentId: ExecutionId): Asking<ToEnd> {
  const failed: Execution[] = [];
  for (const notice of yield* ask('pendingOn', parentId)) {
    const row = notice.mode === 'batch' ? yield* ask('execution', notice.executionId) : undefined;
    if (row?.state === 'failed' || row?.state === 'lost') failed.push(row);
  }
  const [first, ...others] = failed.sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
  if (!first) return { ids: [], reason: '' };
  const until = others.at(-1)?.endedAt ?? first.endedAt ?? 0;
  const open = yield* ask('countedChildren', parentId, siblingLimit);
  const meant = open.filter(
    (row) => row.mode === 'batch' && row.cancelRequested === null && row.createdAt <= until,
  );
  return { ids: meant.map((row) => row.id), reason: `"${first.name}" failed` };
}
