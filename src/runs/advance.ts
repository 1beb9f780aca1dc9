import { reach } from '../base/faults.ts';
import type { RunId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { ask } from '../ledger/questions.ts';
import { advance } from '../ledger/advance.ts';
import type { RunsContext } from './ports.ts';

/** Moves a run on as far as it goes now. Idempotent: whoever calls it again finds nothing left to do. */
export async function advanceRun(context: RunsContext, id: RunId): Promise<void> {
  const { store, clock, ids } = context;
  const run = await store.read(() => ask('run', id));
  if (!run || run.state === 'ended') return;
  reach('advance.before');
  const fresh = new FreshIds(ids);
  await store.decide(() => advance({ now: clock.now(), id, moves: run.moves, fresh }));
}
