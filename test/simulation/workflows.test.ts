import { expect, test } from 'vitest';
import { playHistory } from './history.ts';
import { shrink } from './shrink.ts';

/** Histories in which workflows are at work; CI plays more by `STEMMA_SEEDS`, and `npm run simulate -- --workflows` as many as you like. */
const seeds = Number(process.env['STEMMA_SEEDS'] ?? 100);

test(`${seeds} histories with workflows: no step before its time, none twice, and each comes to what its steps do`, {
  timeout: 60_000 + seeds * 300,
}, async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const history = await playHistory(seed, { isWorking: true });
    if (!history.violation) continue;
    const short = await shrink(seed, history, { isWorking: true });
    expect.fail(
      `seed ${seed}: ${history.violation.kind}\n${short.trace.join('\n')}\n${short.violation?.message}`,
    );
  }
});
