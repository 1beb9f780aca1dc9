import { test } from 'vitest';
import { every, expectNoViolation } from './many-histories.ts';

/** Half of the histories in which workflows are at work, the even seeds; a file of its own, so that two workers play them side by side. */
const seeds = Number(process.env['STEMMA_SEEDS'] ?? 100);

test(`even seeds up to ${seeds}: no step before its time, none twice, and each workflow comes to what its steps do`, {
  timeout: 60_000 + seeds * 300,
}, async () => {
  await expectNoViolation(every(2, 2, seeds), { isWorking: true });
});

/**
 * Each went wrong once: a clock that was set back while the command of rows ran, and reviews and evaluations of what waited for the
 * workspace of whoever asked. In the odd one the clock of a message stood still for ever that was put back while an agent hung over its work.
 */
test.each([370, 425, 718, 858, 897])('history %i with workflows', async (seed) => {
  await expectNoViolation([seed], { isWorking: true });
});
