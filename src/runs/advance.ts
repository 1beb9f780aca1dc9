import { reach } from '../base/faults.ts';
import type { RunId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Advance } from '../ledger/advance.ts';
import { advance, indexToSend, inputsToFill } from '../ledger/advance.ts';
import { plannedAt } from '../ledger/plan.ts';
import { ask } from '../ledger/questions.ts';
import type { Run } from '../ledger/session.ts';
import type { RunsContext } from './ports.ts';

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
  const isRepair = advanced.ok && advanced.value === 'needsRepairText';
  if (!isRepair && (!advanced.ok || advanced.value !== 'needsText')) return;
  const filled = isRepair ? await fillRepair(context, run) : await fillNext(context, run);
  await store.decide(() => advance({ now: clock.now(), id, moves, ...filled, fresh }));
}

/** What the gate of the message says that goes back for a repair. */
async function fillRepair({ texts }: AdvanceContext, run: Run): Promise<Pick<Advance, 'repairText'>> {
  const index = run.cursor - 1;
  const text = plannedAt(run, index)?.gate?.repairText ?? '';
  return { repairText: await texts.fill({ run, index, attempt: run.tries + 1, text }) };
}

async function fillNext(
  { store, texts }: AdvanceContext,
  run: Run,
): Promise<Pick<Advance, 'text' | 'inputs'>> {
  const index = indexToSend(run);
  const planned = plannedAt(run, index);
  const latest = await store.read(() => ask('latestOfRun', run.id, index));
  const place = { run, index, attempt: (latest?.attempt ?? 0) + 1 };
  if (!planned?.workflow) return { text: await texts.fill({ ...place, text: planned?.text ?? '' }) };
  const inputs: Record<string, Json> = { ...planned.workflow.graph.inputs };
  for (const [name, text] of inputsToFill(run, planned)) {
    const filled = await texts.fill({ ...place, text });
    if (!filled.ok) return { inputs: { ok: false, message: `input "${name}": ${filled.message}` } };
    inputs[name] = filled.text;
  }
  return { inputs: { ok: true, inputs } };
}
