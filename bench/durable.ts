import { Disk, percentile, report, spread } from './figures.ts';
import { oneRoot, openLoad } from './load.ts';

/**
 * Register and settle one after the other, each awaited until it is durable, in slices that alternate with slices of
 * forced writes: the disk's mood changes by the second, the share of it does not.
 */
const slices = 11;
const opsOfSlice = 198;

const load = await openLoad();
const disk = new Disk(load.directory);
const rates: number[] = [];
const shares: number[] = [];
const fsyncs: number[] = [];
const latencies: number[] = [];

async function slice(): Promise<number> {
  let count = 0;
  let last = performance.now();
  const begun = last;
  while (count < opsOfSlice) {
    await oneRoot(load, () => {
      const now = performance.now();
      latencies.push(now - last);
      last = now;
      count++;
    });
  }
  return (count / (last - begun)) * 1000;
}

await slice();
disk.rate(200);
latencies.length = 0;
for (let i = 0; i < slices; i++) {
  const before = disk.rate(100);
  const ops = await slice();
  const after = disk.rate(100);
  const fsync = (before + after) / 2;
  fsyncs.push(fsync);
  rates.push(ops);
  shares.push((ops / fsync) * 100);
}
report('Durable register and settle, unbatched', load.store.library, [
  ['fsync 8K/s', 'operations/s', '% of fsync', 'p50 ms', 'p99 ms', 'limited by'],
  [
    spread(fsyncs),
    spread(rates),
    spread(shares),
    percentile(latencies, 0.5).toFixed(2),
    percentile(latencies, 0.99).toFixed(2),
    'one fsync an operation, then the event loop',
  ],
]);
disk.close();
await load.end();
