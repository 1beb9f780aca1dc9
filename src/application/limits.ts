import type { SessionId } from '../base/ids.ts';
import { ask } from '../ledger/questions.ts';
import type { Limit } from '../ledger/session.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { Tree } from '../store/views.ts';
import type { LimitedTree } from './wire.ts';

/** Adds to a tree what its owed results wait for: the limits of the sessions that they are owed to. */
export async function withLimits(store: LedgerStore, rows: Tree): Promise<LimitedTree> {
  const owed = rows.notices.filter((notice) => notice.state === 'owed').map((notice) => notice.sessionId);
  const limits = new Map<SessionId, Limit>();
  for (const id of new Set(owed)) {
    const session = await store.read(() => ask('session', id));
    if (session?.limit) limits.set(id, session.limit);
  }
  return { ...rows, limits };
}
