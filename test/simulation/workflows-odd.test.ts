import { test } from 'vitest';
import { every, expectNoViolation } from './many-histories.ts';

/** Half of the histories in which workflows are at work, the odd seeds; a file of its own, so that two workers play them side by side. */
const seeds = Number(process.env['STEMMA_SEEDS'] ?? 100);

test(`odd seeds up to ${seeds}: no step before its time, none twice, and each workflow comes to what its steps do`, {
  timeout: 60_000 + seeds * 300,
}, async () => {
  await expectNoViolation(every(2, 1, seeds), { isWorking: true });
});
