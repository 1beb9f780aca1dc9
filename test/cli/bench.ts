import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import type { CliDeps, CliSignal, Output } from '../../src/cli/ports.ts';
import { runCli } from '../../src/cli/program.ts';
import { ContractServer } from './contract-server.ts';

/** A server, a directory of its own, and command lines in this process that talk to them. The test disposes of it. */
export class Bench {
  readonly server = new ContractServer();
  readonly directory = mkdtempSync(join(tmpdir(), 'stemma-cli-'));

  static async open(): Promise<Bench> {
    const bench = new Bench();
    await bench.server.start();
    return bench;
  }

  async close(): Promise<void> {
    await this.server.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Runs one command line to its end. */
  stemma(...argv: string[]): Promise<Result> {
    return this.command(argv).result;
  }

  /** One command line in this process. `signal` sends a signal to it once `when` holds. */
  command(argv: readonly string[], more: Partial<CliDeps> = {}) {
    const stdout = new Recorder(more.stdout?.isTty);
    const stderr = new Recorder();
    const listeners = new Map<CliSignal, Set<() => void>>();
    const deps: CliDeps = {
      version: '1.2.3',
      clock: systemClock,
      readStdin: async () => 'from stdin',
      isStdinTty: false,
      openTty: () => undefined,
      env: { STEMMA_URL: this.server.url, STEMMA_TOKEN: 'stm_api_test', PATH: process.env['PATH'] },
      cwd: this.directory,
      homeDirectory: this.directory,
      examplesDirectory: fileURLToPath(new URL('../../examples/', import.meta.url)),
      self: [process.execPath],
      newKey: () => 'ab'.repeat(16),
      onSignal(signal, listener) {
        const set = listeners.get(signal) ?? new Set();
        listeners.set(signal, set.add(listener));
        return () => set.delete(listener);
      },
      startServer: () => Promise.reject(new Error('no server in this test')),
      runDemoAgent: async (args) => (args.join(' ') === '--script s.json' ? 42 : 1),
      checkAgentOffline: async ({ name }) => ({
        name,
        driver: 'acp',
        found: false,
        warnings: [],
        passed: false,
        cases: [],
        capabilities: [],
      }),
      checkWorkflows: async () => [],
      listAgentsOffline: async () => [],
      lookAtDatabase: () => Promise.reject(new Error('there is no database here')),
      scheduleFacts: async () => ({
        agents: ['demo', 'codex'],
        refusalOfBudget: () => undefined,
        targets: ['ops'],
      }),
      ...more,
      stdout,
      stderr,
    };
    const result: Promise<Result> = runCli(argv, deps).then((code) => ({
      code,
      out: stdout.text,
      err: stderr.text,
    }));
    const send = (signal: CliSignal): void => listeners.get(signal)?.forEach((listener) => listener());
    return {
      result,
      stdout,
      stderr,
      send,
      isListening: (signal: CliSignal) => (listeners.get(signal)?.size ?? 0) > 0,
    };
  }
}

/** What a command line left. */
export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A stream that keeps what is written; as a terminal it has 60 columns and 10 rows. */
export class Recorder implements Output {
  text = '';
  readonly isTty: boolean;
  constructor(isTty = false) {
    this.isTty = isTty;
  }
  write(text: string): void {
    this.text += text;
  }
  size() {
    return this.isTty ? { columns: 60, rows: 10 } : undefined;
  }
}

/** Waits for a condition, with a deadline. */
export async function until(condition: () => boolean, withinMs = 5_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
