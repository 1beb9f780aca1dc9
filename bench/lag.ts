import { systemClock } from '../src/base/clock.ts';
import type { ExecutionId } from '../src/base/ids.ts';
import { localWakeups } from '../src/wakeups/local.ts';
import { percentile, report } from './figures.ts';
import type { Load } from './load.ts';
import { openLoad } from './load.ts';
import { closing } from './probe.ts';

/**
 * From the last settle below a root to the handler that would send the next message, commit included, while a thousand
 * other roots are at work at an offered rate. Offered, not answered: an operation is begun when it is due.
 */
const others = 1_000;
const secondsOfRate = Number(process.env['BENCH_SECONDS'] ?? 12);

const load = await openLoad();
const wakeups = localWakeups({ store: load.store, clock: systemClock });
const probe = closing(load);
await wakeups.start(probe.handle);
const roots = await Promise.all(Array.from({ length: others }, () => load.register(null)));
const rows: string[][] = [['offered/s', 'done/s', 'p50 ms', 'p99 ms', 'probes', 'limited by']];

/** Begins operations as they fall due until `isOver`; answers how many were done. */
async function work(of: Load, perSecond: number, isOver: () => boolean): Promise<number> {
  const open: ExecutionId[] = [];
  const pending = new Set<Promise<void>>();
  let begunCount = 0;
  let doneCount = 0;
  const begin = (): void => {
    const ready = open.pop();
    const root = roots[begunCount++ % others] as ExecutionId;
    const one = (
      ready === undefined ? of.register(root).then((id) => void open.push(id)) : of.settle(ready)
    ).then(() => {
      doneCount++;
      pending.delete(one);
    });
    pending.add(one);
  };
  const begun = performance.now();
  while (!isOver()) {
    const due = ((performance.now() - begun) / 1000) * perSecond;
    while (begunCount < due) begin();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  return (doneCount / (performance.now() - begun)) * 1000;
}

for (const perSecond of [0, 4_000, 12_000]) {
  const lags: number[] = [];
  const end = performance.now() + secondsOfRate * 1000;
  const working = work(load, perSecond, () => performance.now() > end);
  while (performance.now() < end) {
    const root = await probe.root();
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 10));
    lags.push(await probe.lagOf(root));
  }
  const done = await working;
  rows.push([
    String(perSecond),
    String(Math.round(done)),
    percentile(lags, 0.5).toFixed(2),
    percentile(lags, 0.99).toFixed(2),
    String(lags.length),
    perSecond === 0 ? 'one fsync' : 'the commit that was under way when the call came, then its own',
  ]);
}
report('Advance lag with 1,000 other roots at work', load.store.library, rows);
await wakeups.stop();
await load.end();
