import { reach } from '../base/faults.ts';
import type { RunId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { advance, indexToSend } from '../ledger/advance.ts';
import { plannedAt } from '../ledger/plan.ts';
import { ask } from '../ledger/questions.ts';
import type { Run } from '../ledger/session.ts';
import type { AdvanceText, RunsContext } from './ports.ts';

type AdvanceContext = Pick<RunsContext, 'store' | 'clock' | 'ids' | 'texts'>;

/**
 * Moves a run on as far as it goes now. Idempotent: whoever calls it again finds nothing left to do. A text with templates is
 * filled in between two decisions, and goes out only if the run is still where it was.
 */
export async function advanceRun(context: AdvanceContext, id: RunId): Promise<void> {
  const { store, clock, ids } = context;
  const run = await store.read(() => ask('run', id));
  if (!run || run.state === 'ended') return;
  reach('advance.before');
  const fresh = new FreshIds(ids);
  const { moves } = run;
  const advanced = await store.decide(() => advance({ now: clock.now(), id, moves, fresh }));
  if (!advanced.ok || advanced.value !== 'needsText') return;
  const text = await fillNext(context, run);
  await store.decide(() => advance({ now: clock.now(), id, moves, text, fresh }));
}

async function fillNext({ store, texts }: AdvanceContext, run: Run): Promise<AdvanceText> {
  const index = indexToSend(run);
  const latest = await store.read(() => ask('latestOfRun', run.id, index));
  const attempt = (latest?.attempt ?? 0) + 1;
  return texts.fill({ run, index, attempt, text: plannedAt(run, index)?.text ?? '' });
}
