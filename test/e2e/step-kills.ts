import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StemmaError } from '../../src/base/errors.ts';
import type { StemmaClient } from '../../src/client/stemma-client.ts';
import type { TreeView } from '../../src/contract/execution.ts';
import type { Run } from '../../src/contract/run.ts';
import { Bench } from './bench.ts';
import { FaultFile } from './fault-file.ts';
import { changes, type Kept, keptIn, recordsIn, recordsThere } from './kept-at-death.ts';
import { commandOf } from './living-processes.ts';
import type { Scene } from './scene.ts';
import type { StepKind } from './step-kinds.ts';
import { stepAgents } from './step-agents.ts';
import { stepKinds } from './step-kinds.ts';
import { toldIn, type Witness, witnessOf } from './step-witness.ts';
import { waitFor } from './wait-for.ts';

/** One workflow that was played to its end. */
export interface Played {
  readonly witness: Witness;
  /** How often the server has died meanwhile. */
  readonly deaths: number;
  /** What must not be, in words. */
  readonly faults: readonly string[];
}

/** As long as a workflow may take with all its restarts, on a machine that is busy with much else. Milliseconds. */
const patienceMs = 180_000;

/** A server that plays workflows one after the other, and is killed meanwhile. */
export class StepKills {
  readonly bench: Bench;
  readonly faults: FaultFile;
  #number = 0;
  #port = '';

  private constructor(bench: Bench) {
    this.bench = bench;
    this.faults = new FaultFile(bench.directory);
  }

  static async open(): Promise<StepKills> {
    const workflows = Object.assign({}, ...stepKinds.map((kind) => kind.workflows)) as StepKind['workflows'];
    const kills = new StepKills(Bench.prepare(stepAgents, workflows));
    await kills.start();
    return kills;
  }

  /** Plays a workflow, and kills the server at each of these, `POINT:N`, one server after the other. */
  async play(kind: StepKind, faults: readonly string[] = []): Promise<Played> {
    // The one before may have ended without its server.
    if (!this.bench.isRunning) await this.start();
    const play = new Play(this, kind, this.bench.scene(true), `${kind.name} ${++this.#number}`, faults);
    return play.toItsEnd();
  }

  /** How often each fault point is reached when a workflow is played on a server that lives. */
  async trace(kind: StepKind): Promise<ReadonlyMap<string, number>> {
    await this.play(kind, ['none:1']);
    return this.faults.reached();
  }

  /** Starts a server, and answers whether it is ready: it may be killed before. */
  async start(): Promise<boolean> {
    // Agents that live on call their tools where the dead server was.
    const argv = this.#port === '' ? [] : ['--port', this.#port];
    const ended = await this.bench.start({ STEMMA_FAULT: this.faults.setting }, argv);
    if (!ended) this.#port = new URL(this.bench.client.connection.url).port;
    if (ended && ended.signal !== 'SIGKILL') throw new Error(`the server did not start: ${ended.stderr}`);
    return !ended;
  }
}

class Play {
  readonly #kills: StepKills;
  readonly #kind: StepKind;
  readonly #scene: Scene;
  readonly #key: string;
  readonly #recordsBefore: Set<string>;
  readonly #kept: Kept[] = [];
  readonly #faults: string[];

  constructor(kills: StepKills, kind: StepKind, scene: Scene, key: string, faults: readonly string[]) {
    this.#faults = [...faults];
    this.#kills = kills;
    this.#kind = kind;
    this.#scene = scene;
    this.#key = key;
    this.#recordsBefore = recordsThere(kills.bench.dataDir);
  }

  async toItsEnd(): Promise<Played> {
    const { files = {}, mended } = this.#kind;
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#scene.directory, name), text);
    if (!mended) this.#arm();
    return this.#judge(await this.#begun(mended));
  }

  #arm(): void {
    const { faults } = this.#kills;
    const next = this.#faults.shift();
    if (next === undefined) faults.disarm();
    else faults.arm(next);
  }

  async #begun(mended: StepKind['mended']): Promise<readonly string[]> {
    if (this.#kind.asks !== undefined) return this.#asked(this.#kind.asks);
    const [id = ''] = Object.keys(this.#kind.workflows);
    const body = { cwd: this.#scene.directory };
    const { runId } = await this.#call((client) =>
      client.call('runWorkflow', { id, body, idempotencyKey: this.#key }),
    );
    let run = await this.#ended(runId);
    if (mended) {
      writeFileSync(join(this.#scene.directory, mended.file), '');
      this.#arm();
      const idempotencyKey = `${this.#key} again`;
      await this.#call((client) =>
        client.call(mended.by, { id: runId, body: mended.body as never, idempotencyKey }),
      );
      run = await this.#ended(runId);
    }
    return run.messages.flatMap(({ attempts }) => attempts.map(({ executionId }) => executionId));
  }

  async #asked(message: string): Promise<readonly string[]> {
    const body = { message, agent: 'worker', cwd: this.#scene.directory };
    const { queryId } = await this.#call((client) =>
      client.call('query', { body, idempotencyKey: this.#key }),
    );
    await this.#until(`${queryId} is closed`, async (client) => {
      const row = await client.call('getExecution', { id: queryId });
      return row.closed && row;
    });
    const { sessionId } = await this.#call((client) =>
      client.call('query', { body, idempotencyKey: this.#key }),
    );
    await this.#call((client) => client.call('stopSession', { id: sessionId }));
    return [queryId];
  }

  #ended(runId: string): Promise<Run> {
    return this.#until(`${runId} has ended`, async (client) => {
      const run = await client.call('getRun', { id: runId });
      await this.#answer(run, client);
      return run.state === 'ended' && run;
    });
  }

  async #answer({ workflow }: Run, client: StemmaClient): Promise<void> {
    const { answers } = this.#kind;
    if (answers === undefined) return;
    const attempts = workflow?.steps.flatMap((step) => step.attempts) ?? [];
    const asking = attempts.find(({ waiting }) => waiting?.for === 'input');
    if (!asking) return;
    const body = { choice: answers };
    await client.call('answerExecution', { id: asking.executionId, body }).catch((error: unknown) => {
      // The answer was taken, and then the server died.
      if (codeOf(error) !== 'ILLEGAL_STATE') throw error;
    });
  }

  async #judge(roots: readonly string[]): Promise<Played> {
    const { bench } = this.#kills;
    const trees: TreeView[] = [];
    for (const id of roots) trees.push(await this.#call((client) => client.call('getTree', { id })));
    const left = (): string[] => this.#scene.processes().map(commandOf);
    const isClean = await waitFor('no process is left', () => left().length === 0, { withinMs: 10_000 }).then(
      () => true,
      () => false,
    );
    this.#kills.faults.disarm();
    const faults = isClean ? [] : left().map((command) => `left behind: ${command}`);
    const after = await keptIn(bench.dataDir, this.#recordsBefore);
    for (const before of this.#kept) faults.push(...changes(before, after));
    for (const { holding } of trees) faults.push(...holding.map(({ evidence }) => `still held: ${evidence}`));
    const rows = trees.flatMap(({ executions }) => executions);
    const witness = witnessOf({
      scene: this.#scene,
      trees,
      told: await toldIn(rows, (session) => this.#call(() => this.#scene.prompts(session))),
      records: recordsIn(bench.dataDir, this.#recordsBefore).map(([path]) => path),
    });
    const handed = witness.told.filter((text) => text.includes('[stemma ntc')).length;
    if (handed !== witness.notices.length)
      faults.push(`${handed} results were handed over, of ${witness.notices.length}`);
    faults.push(...witness.notices.filter((text) => !text.endsWith(' #0 handled')));
    return { witness, deaths: this.#kept.length, faults };
  }

  /** What a call answers; where the server has died meanwhile, the next one is started and asked again. */
  async #call<T>(call: (client: StemmaClient) => Promise<T>): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      try {
        return await call(this.#kills.bench.client);
      } catch (error) {
        const code = codeOf(error);
        const isPassing = ['UNREACHABLE', 'RECOVERING', 'STOPPING'].includes(code);
        if (!isPassing || performance.now() > deadline) throw error;
        if (code === 'UNREACHABLE') await this.#death();
      }
    }
  }

  async #until<T>(what: string, look: (client: StemmaClient) => Promise<T | undefined | false>): Promise<T> {
    return waitFor(what, () => this.#call(look), {
      withinMs: patienceMs,
      everyMs: 50,
      seen: () => this.#kills.bench.client.call('monitor').catch(String),
    });
  }

  async #death(): Promise<void> {
    const { bench } = this.#kills;
    const { signal } = await bench.server.process.ended;
    if (signal !== 'SIGKILL') throw new Error(`the server ended by itself: ${bench.server.process.stderr}`);
    await bench.kill();
    do {
      this.#kept.push(await keptIn(bench.dataDir, this.#recordsBefore));
      this.#arm();
    } while (!(await this.#kills.start()));
  }
}

function codeOf(error: unknown): string {
  return error instanceof StemmaError ? error.code : String(error);
}
