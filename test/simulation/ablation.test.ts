import { afterEach, describe, expect, test } from 'vitest';
import type { RuleName } from '../../src/ledger/rules.ts';
import { rules } from '../../src/ledger/rules.ts';
import { playHistory } from './history.ts';

/**
 * For each rule, a seed whose history goes wrong without it. Should it play differently one day, others are searched.
 * `stepDown` breaks too seldom here; the model test of the ledger shows it.
 */
const known: Readonly<Record<Exclude<RuleName, 'stepDown'>, number>> = {
  withdraw: 75,
  adoptByText: 37,
  barrier: 20,
  holders: 1036,
  taskNotice: 1,
  taskSnapshot: 1,
  queueEvidence: 2954,
  startFence: 93,
  sendProof: 11,
  handedBack: 20,
  cancelLatch: 3,
  cancelWaives: 19,
  refuseEnded: 600,
  advanceOnce: 83,
};
/** How many other seeds are tried before a rule counts as not needed. */
const searched = 6000;

afterEach(() => {
  for (const name of Object.keys(rules) as RuleName[]) rules[name] = true;
});

/** The first seed that goes wrong, the known one first. */
async function failingSeed(first: number): Promise<{ seed: number; kind: string } | undefined> {
  for (let i = 0; i <= searched; i++) {
    const seed = i === 0 ? first : i;
    const { violation } = await playHistory(seed);
    if (violation) return { seed, kind: violation.kind };
  }
  return undefined;
}

describe('without one of its rules the protocol breaks', () => {
  test.each(Object.entries(known) as [RuleName, number][])('%s', { timeout: 300_000 }, async (name, seed) => {
    rules[name] = false;
    const found = await failingSeed(seed);
    if (found?.seed !== seed) console.log(`${name}: seed ${found?.seed} (${found?.kind})`);
    expect(found).toBeDefined();
  });
});
