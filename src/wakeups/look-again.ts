import type { Clock } from '../base/clock.ts';
import type { Rule } from '../ledger/decision.ts';
import { Draft } from '../ledger/decision.ts';
import type { Wake, WakeKind } from '../ledger/effects.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { WakeRows } from './rows.ts';

/** Those with a back-off behind them: its rule begins it anew when more of it is left than was asked for. */
const kinds: ReadonlySet<WakeKind> = new Set(['run', 'session', 'slot', 'dispatch', 'step']);

/**
 * The clock may have been set back: what backs off until an instant is looked at now, so that no back-off becomes as long as
 * the clock was wrong. Each handler owes itself the rest again. Idempotent.
 */
export async function lookAgain(
  store: Pick<WakeRows, 'dueWakes'> & Pick<LedgerStore, 'decide'>,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const now = clock.now();
  const later = await store.dueWakes(now, Number.MAX_SAFE_INTEGER);
  const backingOff = later.filter(({ kind }) => kinds.has(kind));
  if (backingOff.length > 0) await store.decide(() => owing(now, backingOff));
}

// biome-ignore lint/correctness/useYield: it asks nothing.
function* owing(now: number, wakes: readonly Wake[]): Rule<void> {
  const draft = new Draft(now);
  for (const { kind, target } of wakes) draft.wake(kind, target);
  return draft.done(undefined);
}
