import { expect, it } from 'vitest';
import { liveYear } from './year.ts';

/** `STEMMA_YEAR=200x365` is the whole year; without it a smaller one is lived through. */
const [schedules = 12, days = 90] = (process.env['STEMMA_YEAR'] ?? '12x90').split('x').map(Number);
const seed = Number(process.env['STEMMA_SEED'] ?? 1);

it('every instant is accounted for exactly once, nothing runs twice, and the same seed is the same year', {
  timeout: 3_600_000,
}, async () => {
  const began = performance.now();
  const first = await liveYear({ seed, schedules, days });
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  console.info(
    `${schedules} schedules, ${days} days, seed ${seed}: ${first.occurrences} occurrences, ${first.runs} runs in ${seconds} s`,
    JSON.stringify({ ...first.states, acts: first.acts }),
  );
  expect(first.wrong.slice(0, 20)).toEqual([]);
  expect(first.runs).toBeGreaterThan(days);
  const again = await liveYear({ seed, schedules, days });
  expect(again.hash).toBe(first.hash);
});
