import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { RuleName } from '../../src/ledger/rules.ts';
import { rules } from '../../src/ledger/rules.ts';
import { Model } from './model.ts';
import { history } from './steps.ts';

/** Histories to live. The default fits the default suite; `STEMMA_MODEL_RUNS=100000` is for a night. */
const runs = Number(process.env['STEMMA_MODEL_RUNS'] ?? 1_000);
/** Lives the same histories again: the seed that a failure prints. */
const seed = process.env['STEMMA_MODEL_SEED'];
/** Switches a rule off, to see which invariant notices. */
const without = process.env['STEMMA_MODEL_WITHOUT'];

describe('the ledger', () => {
  it('keeps every invariant after every step of every history', { timeout: 60_000 + runs * 60 }, async () => {
    if (without !== undefined) rules[without as RuleName] = false;
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const model = new Model();
        await model.begin();
        await fc.asyncModelRun(() => ({ model, real: model }), steps);
      }),
      { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) },
    );
  });
});
