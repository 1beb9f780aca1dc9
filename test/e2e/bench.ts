import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionId } from '../../src/base/ids.ts';
import { TokenSigner } from '../../src/base/tokens.ts';
import type { StemmaClient } from '../../src/client/stemma-client.ts';
import { demoAgentCommand } from './built-program.ts';
import { EventRecorder } from './event-recorder.ts';
import { commandOf, processesWithEnvironment } from './living-processes.ts';
import { Places } from './place.ts';
import { Scene } from './scene.ts';
import type { ScriptedAgent } from './script-words.ts';
import type { Ended, RunningServer } from './server-process.ts';
import { startServer } from './server-process.ts';
import { waitFor } from './wait-for.ts';

/** What the files of workflows say, by their names. */
export type WorkflowFiles = Readonly<Record<string, object>>;

/** A prompt is a shell command, except a notice, which it only notes. */
export const shellAgent = [
  '/bin/sh',
  '-c',
  'p=$(cat); case "$p" in "[stemma"*) echo noted;; *) eval "$p";; esac',
];

/** In memory where there is such a place: what a killed process had written is as safe there as on a disk. */
const fastDirectory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A data directory, agents that do what their scripts say, and a server that may be killed and started again. */
export class Bench {
  /** Also the text by which every process that was started for this bench is found. */
  readonly directory = mkdtempSync(join(fastDirectory, 'stemma-e2e-'));
  readonly dataDir = join(this.directory, 'data');
  readonly home = join(this.directory, 'demo-home');
  readonly configFile = join(this.directory, 'stemma.yaml');
  /** Beside the directory of the server, so that what works in a place has nothing else around it. */
  readonly #elsewhere = mkdtempSync(join(fastDirectory, 'stemma-places-'));
  readonly places = new Places(this.#elsewhere);
  #server: RunningServer | undefined;
  #events: EventRecorder | undefined;

  /** A bench without a server. */
  static prepare(agents: Readonly<Record<string, ScriptedAgent>>, workflows: WorkflowFiles = {}): Bench {
    const bench = new Bench();
    mkdirSync(bench.dataDir);
    bench.#configure(agents);
    mkdirSync(join(bench.directory, 'workflows'));
    for (const [name, file] of Object.entries(workflows))
      bench.writeWorkflow(name, { apiVersion: 'stemma/v1', ...file });
    return bench;
  }

  static async open(
    agents: Readonly<Record<string, ScriptedAgent>>,
    workflows: WorkflowFiles = {},
  ): Promise<Bench> {
    const bench = Bench.prepare(agents, workflows);
    const ended = await bench.start();
    if (ended) throw new Error(`the server did not start: ${ended.stderr}`);
    return bench;
  }

  get isRunning(): boolean {
    return this.#server !== undefined;
  }

  get server(): RunningServer {
    if (!this.#server) throw new Error('no server runs');
    return this.#server;
  }

  get client(): StemmaClient {
    return this.server.client;
  }

  get events(): EventRecorder {
    if (!this.#events) throw new Error('no server was started');
    return this.#events;
  }

  /** Starts the server on the same data; answers how it ended if it did so before it was ready, as a fault may want. */
  async start(env: Record<string, string> = {}, argv: readonly string[] = []): Promise<Ended | undefined> {
    const { dataDir, configFile } = this;
    const started = await startServer({ dataDir, configFile, env, argv });
    if (!('ready' in started)) return started;
    this.#server = started;
    if (this.#events) return undefined;
    this.#events = new EventRecorder(this.client);
    await this.#events.isOpen;
    return undefined;
  }

  /** Writes the file of a workflow, beside those that there are. */
  writeWorkflow(name: string, file: object | string): void {
    // JSON is YAML.
    const text = typeof file === 'string' ? file : JSON.stringify(file);
    writeFileSync(join(this.directory, 'workflows', `${name}.yaml`), text);
  }

  /** SIGKILL, and the wait for the death. */
  async kill(): Promise<void> {
    await this.server.process.signal('SIGKILL');
    this.#server = undefined;
  }

  /** A place for one test, and the words to work in it. `fresh`: with no session that was there before. */
  scene(fresh = false): Scene {
    return new Scene(this, this.places.take(fresh));
  }

  /** The token by which a program speaks for this execution, as the server would sign it. */
  executionToken(id: string): string {
    const signer = new TokenSigner(readFileSync(join(this.dataDir, 'secret')));
    return signer.sign({ kind: 'execution', executionId: id as ExecutionId });
  }

  /** The processes of agents, and whatever those started. */
  agentProcesses(): number[] {
    return processesWithEnvironment(this.home);
  }

  /** Stops the server with its agents; fails if anything that was started survives. */
  async close(): Promise<void> {
    try {
      await this.#events?.close();
      await this.#server?.process.signal('SIGUSR2');
      await waitFor('no process is left behind', () => this.agentProcesses().length === 0, {
        withinMs: 5_000,
        seen: () => this.agentProcesses().map(commandOf),
      });
    } finally {
      for (const pid of this.agentProcesses()) process.kill(pid, 'SIGKILL');
      for (const made of [this.directory, this.#elsewhere]) rmSync(made, { recursive: true, force: true });
    }
  }

  #configure(agents: Readonly<Record<string, ScriptedAgent>>): void {
    const env = { STEMMA_DEMO_HOME: this.home };
    const profiles: Record<string, unknown> = { shell: { driver: 'script', command: shellAgent, env } };
    for (const [name, { profile, ...script }] of Object.entries(agents)) {
      const file = join(this.directory, `${name}.json`);
      const otherwise = script.otherwise ?? [{ say: 'Noted.' }];
      writeFileSync(file, JSON.stringify({ name, ...script, otherwise }));
      profiles[name] = { driver: 'acp', command: demoAgentCommand(file), env, ...profile };
    }
    // JSON is YAML.
    writeFileSync(this.configFile, JSON.stringify({ agents: profiles }));
  }
}
