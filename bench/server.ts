import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../src/base/clock.ts';
import { StemmaClient } from '../src/client/stemma-client.ts';
import { median, report, spread } from './figures.ts';
import { fill } from './fill.ts';
import { makeDirectory } from './load.ts';

/** How soon the whole server is ready with a long history, also after it was killed, and what idle sessions cost it. */
const executions = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
const sessions = 10_000;
const starts = 5;
const program = join(process.cwd(), 'dist', 'main', 'stemma.js');

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly tokenFile: string;
  /** From the start of the process to its first line. */
  readonly readyMs: number;
}

async function start(dataDir: string): Promise<Started> {
  const begun = performance.now();
  const words = [program, 'up', '--port', '0', '--data', dataDir, '--json'];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
  return { child, url, tokenFile, readyMs: performance.now() - begun };
}

async function stop({ child }: Started, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  child.kill(signal);
  await once(child, 'exit');
}

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

function residentMb({ child }: Started): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

async function openSessions(started: Started, count: number): Promise<void> {
  const token = readFileSync(started.tokenFile, 'utf8').trim();
  const client = new StemmaClient({ url: started.url, token }, systemClock);
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
