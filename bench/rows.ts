import { spawn } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import type { ExecutionId } from '../src/base/ids.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { median, report, spread } from './figures.ts';
import { fill } from './fill.ts';
import type { Load } from './load.ts';
import { inLoops, makeDirectory, openLoad } from './load.ts';

/** What the same work costs with a million executions stored, and how soon a server is back with them. */
const large = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
const small = 1_000;
const rounds = 7;
const roundMs = 1_500;

if (process.argv[2] === 'work') {
  // The process that is killed: it works until then.
  const load = await openLoad(process.argv[3]);
  console.log('working');
  await inLoops(load, 64, 600_000);
}

interface Filled {
  readonly directory: string;
  readonly open: readonly ExecutionId[];
  load: Load;
}

async function filled(executions: number): Promise<Filled> {
  const directory = makeDirectory();
  const open = await fill(join(directory, 'stemma.db'), executions);
  return { directory, open, load: await openLoad(directory) };
}

/** Children of open roots that are chosen at random from all of history. */
async function belowOldRoots({ load, open }: Filled, loops: number, ms: number): Promise<number> {
  let count = 0;
  const begun = performance.now();
  const loop = async (): Promise<void> => {
    while (performance.now() - begun < ms) {
      const root = open[Math.floor(Math.random() * open.length)] as ExecutionId;
      const child = await load.register(root);
      await load.settle(child);
      count += 2;
    }
  };
  await Promise.all(Array.from({ length: loops }, loop));
  return (count / (performance.now() - begun)) * 1000;
}

async function reopening(directory: string): Promise<number> {
  const begun = performance.now();
  const file = join(directory, 'stemma.db');
  const store = await openSqliteStore({ file, clock: systemClock, random: Math.random });
  await Promise.all([
    store.views.liveRoots({ limit: 100 }),
    store.recovery.liveSessions(),
    store.recovery.runningRuns(),
  ]);
  const ms = performance.now() - begun;
  await store.close();
  return ms;
}

/** Lets another process work on the database, kills it with SIGKILL, and answers the size of what it left, in MB. */
async function kill(directory: string): Promise<number> {
  const child = spawn(process.execPath, [new URL(import.meta.url).pathname, 'work', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('close', resolve));
  return statSync(join(directory, 'stemma.db-wal')).size / 1_048_576;
}

const [few, many] = [await filled(small), await filled(large)];
const fresh: [number[], number[]] = [[], []];
const old: [number[], number[]] = [[], []];
for (const each of [few, many]) await inLoops(each.load, 64, 500);
for (let i = 0; i < rounds; i++) {
  for (const [place, each] of [few, many].entries()) {
    fresh[place as 0 | 1].push(await inLoops(each.load, 64, roundMs));
    old[place as 0 | 1].push(await belowOldRoots(each, 64, roundMs));
  }
}
const cost = ([less, more]: [number[], number[]]): string => (median(less) / median(more)).toFixed(2);
const { library } = few.load.store;
for (const each of [few, many]) await each.load.end();
const clean: number[] = [];
for (let i = 0; i < 5; i++) clean.push(await reopening(many.directory));
const killed: number[] = [];
let walMb = 0;
for (let i = 0; i < 3; i++) {
  walMb = Math.max(walMb, await kill(many.directory));
  killed.push(await reopening(many.directory));
}
const sizeMb = Math.round(statSync(join(many.directory, 'stemma.db')).size / 1_048_576);
const name = (count: number): string => count.toLocaleString('en');
report(`Stored executions: ${name(small)} against ${name(large)} (${sizeMb} MB), 64 loops`, library, [
  ['work', `ops/s at ${name(small)}`, `ops/s at ${name(large)}`, 'cost', 'limited by'],
  ['new roots', spread(fresh[0]), spread(fresh[1]), cost(fresh), 'the same pages at the end of each index'],
  [
    'children of random old roots',
    spread(old[0]),
    spread(old[1]),
    cost(old),
    'a page of its own for each root',
  ],
]);
report('Opening with the live roots, sessions and runs', library, [
  ['after', 'ms', 'limited by'],
  ['a clean stop', spread(clean, 1), 'reading the schema'],
  [`kill -9 (log of ${walMb.toFixed(0)} MB)`, spread(killed, 1), 'reading the log'],
]);
for (const each of [few, many]) rmSync(each.directory, { recursive: true, force: true });
