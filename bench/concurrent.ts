import { report, spread } from './figures.ts';
import { inLoops, openLoad } from './load.ts';

/** The same operations in many loops at once, which share commits. */
const rounds = 5;
const roundMs = 2_000;

const load = await openLoad();
const measured = new Map<number, number[]>([
  [64, []],
  [1000, []],
]);
await inLoops(load, 64, 1_000);
for (let i = 0; i < rounds; i++) {
  for (const [loops, rates] of measured) rates.push(await inLoops(load, loops, roundMs));
}
report('Durable register and settle, concurrent', load.store.library, [
  ['loops', 'operations/s', 'limited by'],
  ...[...measured].map(([loops, rates]) => [
    String(loops),
    spread(rates),
    loops < 100 ? 'statements on one core, then one fsync a commit' : 'statements on one core',
  ]),
]);
await load.end();
