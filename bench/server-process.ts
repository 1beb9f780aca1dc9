import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../src/base/clock.ts';
import { StemmaClient } from '../src/client/stemma-client.ts';

/** The product's own program, built. */
export const program = join(process.cwd(), 'dist', 'main', 'stemma.js');

/** A server in a process of its own. */
export interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly tokenFile: string;
  /** From the start of the process to its first line. */
  readonly readyMs: number;
}

/** How a server is started, beside where its data are. */
export interface Start {
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What Node is told before the name of the program. */
  readonly nodeArgs?: readonly string[];
}

/** Starts a server on a free port; resolves with its first line. */
export async function start(
  dataDir: string,
  { config, env = {}, nodeArgs = [] }: Start = {},
): Promise<Started> {
  const begun = performance.now();
  const configured = config === undefined ? [] : ['--config', config];
  const words = [...nodeArgs, program, 'up', '--port', '0', '--data', dataDir, '--json', ...configured];
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
  return { child, url, tokenFile, readyMs: performance.now() - begun };
}

/** Ends it, and waits for that. */
export async function stop({ child }: Started, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  child.kill(signal);
  await once(child, 'exit');
}

/** A client with the token of the server. */
export function clientOf({ url, tokenFile }: Started): StemmaClient {
  return new StemmaClient({ url, token: readFileSync(tokenFile, 'utf8').trim() }, systemClock);
}

/** What of it is in memory now, in MB. */
export function residentMb({ child }: Started): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** How long its threads were on a processor so far, in milliseconds; its children are not counted. */
export function cpuMs({ child }: Started): number {
  const tasks = `/proc/${child.pid}/task`;
  let nanos = 0;
  for (const task of readdirSync(tasks))
    nanos += Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]);
  return nanos / 1e6;
}
