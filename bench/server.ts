import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { median, report, spread } from './figures.ts';
import { fill } from './fill.ts';
import { makeDirectory } from './load.ts';
import { clientOf, residentMb, start, type Started, stop } from './server-process.ts';

/** How soon the whole server is ready with a long history, also after it was killed, and what idle sessions cost it. */
const executions = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
const sessions = 10_000;
const starts = 5;

/** Starts and stops it so often; answers how long each start took, the first one, which reads a cold file, apart. */
async function readyTimes(dataDir: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < starts; i++) {
    const started = await start(dataDir);
    times.push(started.readyMs);
    await stop(started, signal);
  }
  return times;
}

async function openSessions(started: Started, count: number): Promise<void> {
  const client = clientOf(started);
  const body = { agent: 'script', cwd: '/' };
  for (let made = 0; made < count; made += 50)
    await Promise.all(Array.from({ length: 50 }, () => client.call('createSession', { body })));
}

const directory = makeDirectory();
const [empty, full] = [join(directory, 'empty'), join(directory, 'full')];
for (const each of [empty, full]) mkdirSync(each, { mode: 0o700 });
await fill(join(full, 'stemma.db'), executions);
const name = (count: number): string => count.toLocaleString('en');
const rows = [];
for (const [what, dataDir] of [
  ['nothing', empty],
  [`${name(executions)} executions`, full],
] as const) {
  rows.push([
    what,
    spread(await readyTimes(dataDir, 'SIGTERM')),
    spread(await readyTimes(dataDir, 'SIGKILL')),
  ]);
}
report('A server is ready, from the start of its process', 'dist', [
  ['stored', 'ms after a clean stop', 'ms after kill -9', 'limited by'],
  ...rows.map((row) => [...row, 'loading the program']),
]);
const started = await start(empty);
const before = residentMb(started);
await openSessions(started, sessions);
const after: number[] = [];
for (let i = 0; i < 3; i++) after.push(residentMb(started));
await stop(started, 'SIGTERM');
report('Memory', 'dist', [
  ['sessions', 'resident MB', 'limited by'],
  ['0', before.toFixed(0), 'the program'],
  [name(sessions), median(after).toFixed(0), 'what a session keeps in memory'],
]);
rmSync(directory, { recursive: true, force: true });
