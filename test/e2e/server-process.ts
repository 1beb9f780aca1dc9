import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { ServerFile } from '../../src/client/discovery.ts';
import { StemmaClient } from '../../src/client/stemma-client.ts';
import { builtProgram } from './built-program.ts';
import { waitFor } from './wait-for.ts';

/** How a process ended, and what it had printed. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How long a process may take to its first line. A server that recovers waits for its sessions first. Milliseconds. */
const startMs = 30_000;

/** Where a process runs; `env` is added to the tests' own environment, without its `STEMMA_*`. */
export interface ProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A `stemma …` process. Whoever started it waits for its end. */
export class StemmaProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  isOver = false;

  constructor(argv: readonly string[], options: ProcessOptions = {}) {
    // None of the surroundings' own settings: a test says all that counts.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('STEMMA_'));
    const env = { ...Object.fromEntries(inherited), ...options.env };
    const cwd = options.cwd === undefined ? {} : { cwd: options.cwd };
    this.child = spawn(process.execPath, [builtProgram(), ...argv], {
      env,
      ...cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        this.isOver = true;
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async signal(name: NodeJS.Signals): Promise<Ended> {
    this.child.kill(name);
    return this.ended;
  }
}

/** Runs `stemma …` to its end. */
export function stemma(argv: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  return new StemmaProcess(argv, options).ended;
}

/** Starts `stemma …` as a script does, and answers its first line on stdout once it is out; empty if it ended before. */
export async function firstLine(
  argv: readonly string[],
  options: ProcessOptions = {},
): Promise<{ readonly line: string; readonly process: StemmaProcess }> {
  const process = new StemmaProcess(argv, options);
  const isDecided = (): boolean => process.isOver || process.stdout.includes('\n');
  try {
    await waitFor('the first line', isDecided, { withinMs: startMs, seen: () => process.stderr });
  } catch (error) {
    await process.signal('SIGKILL');
    throw error;
  }
  return { line: process.stdout.split('\n', 1)[0] ?? '', process };
}

export interface ServerOptions {
  readonly dataDir: string;
  readonly configFile?: string;
  readonly env?: Record<string, string>;
  readonly argv?: readonly string[];
}

/** A server that is ready, in a process of its own. */
export interface RunningServer {
  readonly process: StemmaProcess;
  readonly ready: ServerFile;
  readonly client: StemmaClient;
}

/** Starts `stemma up --json` on a free port; answers how the process ended if it did so before it was ready. */
export async function startServer(options: ServerOptions): Promise<RunningServer | Ended> {
  const { dataDir, configFile, env = {}, argv = [] } = options;
  const config = configFile === undefined ? [] : ['--config', configFile];
  const all = ['up', '--json', '--data', dataDir, '--port', '0', ...config, ...argv];
  const { line, process } = await firstLine(all, { env, cwd: dataDir });
  if (line === '') return process.ended;
  const ready = JSON.parse(line) as ServerFile;
  const token = readFileSync(join(dataDir, 'token'), 'utf8').trim();
  return { process, ready, client: new StemmaClient({ url: ready.url, token }, systemClock) };
}
