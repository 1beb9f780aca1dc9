import type { Rule } from '../../ledger/decision.ts';
import type { LedgerStore } from '../../ledger/store.ts';

/**
 * Runs rules in order, `atOnce` of them within one event-loop turn, and answers what each came to: its value, its code
 * when it was refused, or `failed`.
 */
export async function outcomesOf(
  store: Pick<LedgerStore, 'decide'>,
  rules: readonly (() => Rule<unknown>)[],
  atOnce: number,
): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (let from = 0; from < rules.length; from += atOnce) {
    const group = rules.slice(from, from + atOnce).map((rule) => store.decide(rule));
    for (const result of await Promise.allSettled(group)) {
      if (result.status === 'rejected') outcomes.push('failed');
      else outcomes.push(result.value.ok ? result.value.value : result.value.code);
    }
  }
  return outcomes;
}
