import type { ExecutionId } from '../src/base/ids.ts';
import { systemClock } from '../src/base/clock.ts';
import { localWakeups } from '../src/wakeups/local.ts';
import { percentile, report } from './figures.ts';
import { openLoad } from './load.ts';
import { closing } from './probe.ts';

/** A chain in which everything but the leaf is settled: the leaf's end closes all of it, and wakes the run at the top. */
const depths = [1, 10, 100, 1000];

const load = await openLoad();
const wakeups = localWakeups({ store: load.store, clock: systemClock });
const probe = closing(load);
await wakeups.start(probe.handle);
const rows: string[][] = [['depth', 'p50 ms', 'p99 ms', 'closings', 'limited by']];

async function chain(depth: number): Promise<ExecutionId> {
  const root = await probe.root();
  const nodes = [root];
  let parent = root;
  for (let i = 1; i < depth; i++) {
    parent = await load.register(parent);
    nodes.push(parent);
  }
  const leaf = await load.register(parent);
  await Promise.all(nodes.map((id) => load.settle(id)));
  return leaf;
}

for (const depth of depths) {
  const lags: number[] = [];
  const repeats = depth >= 1000 ? 15 : 60;
  for (let i = 0; i < repeats; i++) {
    const leaf = await chain(depth);
    lags.push(await probe.lagOf(leaf));
  }
  const limit = depth < 10 ? 'one fsync' : 'two statements and an event each, in one commit';
  const shown = [percentile(lags, 0.5), percentile(lags, 0.99)].map((ms) => ms.toFixed(2));
  rows.push([String(depth), ...shown, String(depth + 1), limit]);
}
report('A cascade, from the settling call to the handler, commit included', load.store.library, rows);
await wakeups.stop();
await load.end();
