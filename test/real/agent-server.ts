import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import { StemmaClient } from '../../src/client/stemma-client.ts';
import type { AgentProfileInput } from '../../src/contract/config-file.ts';
import type { TreeView } from '../../src/contract/execution.ts';
import type { Run } from '../../src/contract/run.ts';
import { processesWithEnvironment } from '../e2e/living-processes.ts';
import { waitFor } from '../e2e/wait-for.ts';
import { type ModelServer, startModelServer } from '../model/model-server.ts';
import type { Rule } from '../model/prompt-script.ts';
import type { AgentKit } from './kit.ts';

const program = fileURLToPath(new URL('../../dist/main/stemma.js', import.meta.url));

/** What a test adds to `stemma.yaml`. */
type Configured = Readonly<Record<string, unknown>> & {
  readonly agents?: Readonly<Record<string, AgentProfileInput>>;
};

/** The whole product on a real agent program: a server process, a place of its own, and the scripted model. */
export class AgentServer {
  readonly directory: string;
  readonly model: ModelServer;
  client!: StemmaClient;
  readonly #agent: string;
  #process: ChildProcess | undefined;
  #exited: Promise<number | null> = Promise.resolve(0);

  private constructor(agent: string, directory: string, model: ModelServer) {
    this.#agent = agent;
    this.directory = directory;
    this.model = model;
  }

  /** `configured`: what else stands in `stemma.yaml`, beside the profile under the name of the kit. */
  static async start(
    kit: AgentKit,
    agent: string,
    rules: readonly Rule[],
    configured?: (profile: AgentProfileInput, place: { directory: string; model: ModelServer }) => Configured,
  ): Promise<AgentServer> {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-real-'));
    const model = await startModelServer({ rules });
    const server = new AgentServer(kit.name, directory, model);
    mkdirSync(join(directory, 'work'));
    const profile = kit.profile(agent, directory, model);
    const { agents, ...more } = configured?.(profile, { directory, model }) ?? {};
    const file = { ...more, agents: { [kit.name]: profile, ...agents } };
    writeFileSync(join(directory, 'stemma.yaml'), JSON.stringify(file));
    await server.up();
    return server;
  }

  get cwd(): string {
    return join(this.directory, 'work');
  }

  /** Starts a server on the data directory; `fault` is `POINT:N`, where it kills itself. */
  async up(fault?: string): Promise<void> {
    const data = join(this.directory, 'data');
    const child = spawn(
      process.execPath,
      [
        program,
        'up',
        '--json',
        '--port',
        '0',
        '--data',
        data,
        '--config',
        join(this.directory, 'stemma.yaml'),
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...(fault ? { STEMMA_FAULT: fault } : {}) },
      },
    );
    this.#process = child;
    this.#exited = new Promise((resolve) => child.once('exit', resolve));
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([
      new Promise<string>((resolve) => lines.once('line', resolve)),
      this.#exited.then(() => undefined),
    ]);
    if (first === undefined) return;
    const { url } = JSON.parse(first) as { url: string };
    const token = readFileSync(join(data, 'token'), 'utf8').trim();
    this.client = new StemmaClient({ url, token }, systemClock);
  }

  /** Whether the server process lives. */
  get isUp(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null;
  }

  /** The pid of the server process. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#exited;
  }

  /** Waits for the death of a server that kills itself, or for `ms`. */
  async died(ms: number): Promise<boolean> {
    return Promise.race([this.#exited.then(() => true), delay(ms, false, { ref: false })]);
  }

  async run(messages: readonly string[]): Promise<string> {
    const body = { agent: this.#agent, name: 'real', cwd: this.cwd, messages: [...messages] };
    return (await this.client.call('createRun', { body })).runId;
  }

  async ended(runId: string, withinMs: number): Promise<Run> {
    const until = Date.now() + withinMs;
    for (;;) {
      const run = await this.client.call('getRun', { id: runId });
      if (run.state === 'ended') return run;
      if (Date.now() > until) throw new Error(`the run has not ended: ${await this.describe(run)}`);
      await delay(50);
    }
  }

  async trees(run: Run): Promise<TreeView[]> {
    const ids = run.messages.flatMap((message) => message.attempts.map((attempt) => attempt.executionId));
    return Promise.all(ids.map((id) => this.client.call('getTree', { id })));
  }

  /** Waits until the failure of this name is on its way into the running turn of the first message: claimed, and not yet proved. */
  async untilSteered(runId: string, name: string, withinMs: number): Promise<void> {
    const isOnItsWay = async (): Promise<boolean> => {
      const [tree] = await this.trees(await this.client.call('getRun', { id: runId }));
      const failed = tree?.executions.find((row) => row.name === name && row.state === 'failed');
      return tree?.notices.some((row) => row.executionId === failed?.id && row.state === 'claimed') ?? false;
    };
    await waitFor(`the failure of ${name} is on its way into the turn`, isOnItsWay, { withinMs });
  }

  async describe(run: Run): Promise<string> {
    const trees = await this.trees(run);
    return trees
      .flatMap((tree) =>
        tree.executions.map((row) => `${row.kind} ${row.name}: ${row.state} ${row.error?.message ?? ''}`),
      )
      .concat(trees.map((tree) => JSON.stringify(tree.holding)))
      .join('\n');
  }

  /** Ends the server and its agents, and removes everything. */
  async stop(): Promise<void> {
    if (!this.isUp) await this.up();
    this.#process?.kill('SIGUSR2');
    await this.#exited;
    await this.model.stop();
    const left = processesWithEnvironment(this.directory);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`${left.length} processes of agents were left behind`);
  }
}
