import fc from 'fast-check';
import { describe, it } from 'vitest';
import { Model } from './model.ts';
import { history } from './steps.ts';

/** Histories to live; the default fits the default suite. `STEMMA_MODEL_RUNS` makes it more. */
const runs = Number(process.env['STEMMA_MODEL_RUNS'] ?? 1_000);
const seed = process.env['STEMMA_MODEL_SEED'];

describe('the ledger', () => {
  it('keeps every invariant in every history', { timeout: 60_000 + runs * 60 }, async () => {
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
