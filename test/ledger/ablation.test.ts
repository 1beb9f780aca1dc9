import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { RuleName } from '../../src/ledger/rules.ts';
import { rules } from '../../src/ledger/rules.ts';
import { Model } from './model.ts';
import { history } from './steps.ts';

/**
 * Each rule that the ledger can be run without, and what is then broken. `queueEvidence` is asked for outside the ledger, and
 * what `workspaceCall` wakes is mostly owed a wake-up anyway: `rules.test.ts` shows both.
 */
const breaks: readonly (readonly [RuleName, RegExp])[] = [
  ['withdraw', /negative proof/],
  ['adoptByText', /what is taken up begins|an open steer|late activity/],
  ['barrier', /a launch gets the parent/],
  ['holders', /a launch gets the parent|inherit/],
  ['taskNotice', /background work that holds somebody reports/],
  ['taskSnapshot', /carries what lives on/],
  ['startFence', /seen to begin|lifecycle/],
  ['sendProof', /never got there frees its lane/],
  ['handedBack', /a notice is in exactly one place/],
  ['cancelLatch', /latched|cancelled|stepped down|comes to what was asked/],
  ['cancelWaives', /cancelled parent/],
  ['stepDown', /stepped down/],
  ['refuseEnded', /a launch gets the parent/],
  ['advanceOnce', /compare-and-set|sends each message once/],
  ['backOffOnce', /before its back-off was over|compare-and-set/],
  ['budgetStop', /comes to what was asked|more than it was given/],
  ['turnLimits', /beyond the limits/],
  ['slotLine', /asked first is let in first/],
  ['slotCall', /is called/],
  ['workspaceLock', /has its workspace/],
  ['batchWhole', /handed over whole|one continuation at a time/],
];

afterEach(() => {
  for (const name of Object.keys(rules) as RuleName[]) rules[name] = true;
});

/** The first violation that a batch of histories finds, unshrunk. */
async function firstViolation(): Promise<string | undefined> {
  const property = fc.asyncProperty(history, async (steps) => {
    const model = new Model();
    await model.begin();
    await fc.asyncModelRun(() => ({ model, real: model }), steps);
  });
  const result = await fc.check(property, { numRuns: 1_500, seed: 1, endOnFailure: true });
  return result.errorInstance instanceof Error ? result.errorInstance.message.split('\n', 1)[0] : undefined;
}

describe('without one of its rules the ledger is noticed to break', () => {
  it.each(breaks)('%s', { timeout: 60_000 }, async (name, what) => {
    rules[name] = false;
    expect(await firstViolation()).toMatch(what);
  });
});
