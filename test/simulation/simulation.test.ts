import { expect, test } from 'vitest';
import { playHistory } from './history.ts';
import { every, expectNoViolation } from './many-histories.ts';

/** Histories of the default suite; CI plays more by `STEMMA_SEEDS`, and `npm run simulate -- --seeds N` as many as you like. */
const seeds = Number(process.env['STEMMA_SEEDS'] ?? 300);

test(`${seeds} histories: no early advance, no stuck root, no lost result`, {
  timeout: 60_000 + seeds * 50,
}, async () => {
  await expectNoViolation(every(1, 1, seeds));
});

/** Each went wrong once: what was looked for without end, a place in line that was lost, and limits that a restart changed. */
test.each([777, 1297, 1887, 1937])('history %i', async (seed) => {
  expect((await playHistory(seed)).violation).toBeUndefined();
});

test('the same seed plays the same history', async () => {
  const [first, second] = [await playHistory(7), await playHistory(7)];
  expect(second.trace).toEqual(first.trace);
});
