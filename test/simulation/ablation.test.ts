import { afterEach, describe, expect, test } from 'vitest';
import type { RuleName } from '../../src/ledger/rules.ts';
import { rules } from '../../src/ledger/rules.ts';
import { playHistory } from './history.ts';

/**
 * For each rule, a seed whose history goes wrong without it. Should it play differently one day, others are searched. Hardly
 * one history in ten thousand needs `stepDown`: its seed is found by `npm run simulate -- --without stepDown --seeds 100000`.
 */
const known: Readonly<Record<RuleName, number>> = {
  withdraw: 62,
  adoptByText: 7,
  barrier: 172,
  holders: 29,
  taskNotice: 1,
  taskSnapshot: 1,
  queueEvidence: 929,
  startFence: 55,
  sendProof: 2,
  handedBack: 2,
  cancelLatch: 5,
  cancelWaives: 52,
  stepDown: 34_695,
  refuseEnded: 193,
  advanceOnce: 142,
  backOffOnce: 223,
  budgetStop: 556,
  turnLimits: 23,
  slotLine: 23,
  slotCall: 23,
  workspaceLock: 7,
  workspaceCall: 7,
  batchWhole: 1,
  stepOnce: 1,
  stepNeeds: 4,
  stepMissed: 120,
  stepWhole: 6,
};
/** Rules of workflows are shown by histories in which these are at work. */
const ofWorkflows: readonly RuleName[] = ['stepOnce', 'stepNeeds', 'stepMissed', 'stepWhole'];
/** How many other seeds are tried before a rule counts as not needed. */
const searched = 6000;

afterEach(() => {
  for (const name of Object.keys(rules) as RuleName[]) rules[name] = true;
});

/** The first seed that goes wrong, the known one first. */
async function failingSeed(
  first: number,
  isWorking: boolean,
): Promise<{ seed: number; kind: string } | undefined> {
  for (let i = 0; i <= searched; i++) {
    const seed = i === 0 ? first : i;
    const { violation } = await playHistory(seed, { isWorking });
    if (violation) return { seed, kind: violation.kind };
  }
  return undefined;
}

describe('without one of its rules the protocol breaks', () => {
  test.each(Object.entries(known) as [RuleName, number][])('%s', { timeout: 300_000 }, async (name, seed) => {
    rules[name] = false;
    const found = await failingSeed(seed, ofWorkflows.includes(name));
    if (found?.seed !== seed) console.log(`${name}: seed ${found?.seed} (${found?.kind})`);
    expect(found).toBeDefined();
  });
});
