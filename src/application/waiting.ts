import type { Principal, Waiting } from '../api/ports.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Execution } from '../ledger/execution.ts';
import { ask } from '../ledger/questions.ts';
import type { ApplicationContext } from './context.ts';
import { withLimits } from './limits.ts';
import { holdingOf } from './wire.ts';

/** How much of a tree is looked at to say what still holds it. */
const heldLimit = 2_000;

/** Waits for closings: pushed by the commit that closes. */
export function createWaiting(context: ApplicationContext): Waiting {
  const { store, views, commits, clock } = context;
  const execution = (id: ExecutionId): Promise<Execution | undefined> =>
    store.read(() => ask('execution', id));
  return {
    async waitClosed(id, { timeoutMs, caller, signal }) {
      const row = await execution(id);
      if (!row) return { ok: false, code: 'NOT_FOUND', message: `No execution ${id}.`, data: { id } };
      if (!row.closed && (await waitsOnSelf(context, row, caller))) {
        const message = `${id} cannot close while you wait in your turn: end the turn, the result will come to you.`;
        return { ok: false, code: 'WAIT_ON_SELF', message, data: { id } };
      }
      const isClosed = await commits.closed(id, timeoutMs, signal);
      const after = (await execution(id)) ?? row;
      if (isClosed || after.closed) return { ok: true, value: closedAnswer(after) };
      const tree = await views.openTree(after.rootId, { limit: heldLimit });
      return {
        ok: true,
        value: {
          closed: false,
          holding: tree ? holdingOf(await withLimits(context, tree), clock.now()) : [],
        },
      };
    },
  };
}

function closedAnswer(row: Execution): {
  closed: true;
  outcome?: NonNullable<Execution['outcome']>;
  outcomeCode?: string;
} {
  return {
    closed: true,
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    ...(row.outcomeCode === null ? {} : { outcomeCode: row.outcomeCode }),
  };
}

/** Whether the closing of this needs the lane of the session that waits: its own tree, or what its queue holds. */
async function waitsOnSelf(context: ApplicationContext, row: Execution, caller: Principal): Promise<boolean> {
  const sessionId = await laneOf(context, caller);
  if (sessionId === null) return false;
  if (row.runsIn === sessionId || row.reportsTo === sessionId) return true;
  const root = await context.store.read(() => ask('execution', row.rootId));
  return root?.id === row.id && root.runsIn === sessionId;
}

/** The session whose lane the caller holds by calling. */
async function laneOf(context: ApplicationContext, caller: Principal): Promise<SessionId | null> {
  if (caller.kind === 'session') return caller.sessionId;
  if (caller.kind !== 'execution') return null;
  const { executionId } = caller;
  return (await context.store.read(() => ask('execution', executionId)))?.runsIn ?? null;
}
