import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StemmaClient } from '../../src/client/stemma-client.ts';
import type { Execution, TreeView } from '../../src/contract/execution.ts';
import type { QueryBody } from '../../src/contract/requests.ts';
import type { RunFileInput } from '../../src/contract/run-file.ts';
import type { Run } from '../../src/contract/run.ts';
import type { Bench } from './bench.ts';
import { processesIn } from './living-processes.ts';
import type { Place } from './place.ts';
import { patienceMs, waitFor } from './wait-for.ts';

/** How often a condition is looked at that no event of the scene announces. Milliseconds. */
const lookEveryMs = 300;

/** A message that was accepted. */
export interface Sent {
  readonly queryId: string;
  readonly sessionId: string;
}

/** One test's own directory, in which its agents work, and the words for what it does and sees. */
export class Scene {
  readonly bench: Bench;
  readonly #place: Place;
  readonly #began = Date.now();
  /** What the agents of sessions that were here before had been told by then. */
  readonly #toldBefore = new Map<string, number>();
  readonly #runSessions: string[] = [];
  /** The roots and sessions of the scene: only their events are a reason to look again. */
  readonly #ours = new Set<string>();

  constructor(bench: Bench, place: Place) {
    this.bench = bench;
    this.#place = place;
  }

  get directory(): string {
    return this.#place.directory;
  }

  get client(): StemmaClient {
    return this.bench.client;
  }

  /** The same server, asked with another token. */
  as(token: string): StemmaClient {
    return new StemmaClient({ url: this.client.connection.url, token }, this.client.clock);
  }

  /** Makes the file that something waits for. */
  open(file: string): void {
    writeFileSync(join(this.directory, file), '');
  }

  /** The line that an agent writes into a file, once it is whole. */
  file(name: string): Promise<string> {
    const path = join(this.directory, name);
    return waitFor(`${name} was written`, () => {
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      return text.endsWith('\n') && text.trim();
    });
  }

  /** The lines of a file that agents wrote. */
  async lines(name: string): Promise<string[]> {
    return (await this.file(name)).split('\n');
  }

  /** Sends a message: to the place's session of an agent, or to the session named. */
  async send(
    to: string,
    message: string,
    more: Partial<Omit<QueryBody, 'timeout'>> & { timeout?: string } = {},
  ): Promise<Sent> {
    const { sessions, directory } = this.#place;
    const known = to.startsWith('ses_') ? to : sessions.get(to);
    if (known !== undefined && !this.#ours.has(known))
      this.#toldBefore.set(known, (await this.#everTold(known)).length);
    const target = known === undefined ? { agent: to, cwd: directory } : { sessionId: known };
    const sent = await this.client.call('query', { body: { message, ...target, ...more } });
    if (known === undefined) sessions.set(to, sent.sessionId);
    this.#ours.add(sent.queryId).add(sent.sessionId);
    return sent;
  }

  /** Begins a sequence; answers the run's id and its session. */
  async run(
    agent: string,
    messages: RunFileInput['messages'],
    more: Partial<RunFileInput> = {},
  ): Promise<{ runId: string; sessionId: string }> {
    const body = { agent, cwd: this.directory, messages, ...more };
    const { runId } = await this.client.call('createRun', { body });
    const { sessionId = '' } = await this.client.call('getRun', { id: runId });
    this.#runSessions.push(sessionId);
    this.#ours.add(sessionId);
    return { runId, sessionId };
  }

  tree(id: string): Promise<TreeView> {
    return this.client.call('getTree', { id });
  }

  execution(id: string): Promise<Execution> {
    return this.client.call('getExecution', { id });
  }

  /** The latest execution of this name in the tree, once it is there and fits. */
  named(root: string, name: string, fits: (row: Execution) => boolean = () => true): Promise<Execution> {
    this.#ours.add(root);
    return this.seen(`${name} as expected in the tree`, root, ({ executions }) =>
      executions.findLast((row) => row.name === name && fits(row)),
    );
  }

  /** What `look` finds in a tree, looked for again at each event of the server. */
  seen<T>(what: string, root: string, look: (tree: TreeView) => T | undefined | false): Promise<T> {
    return this.until(
      what,
      async () => look(await this.tree(root)),
      () => this.tree(root),
    );
  }

  /** What `condition` gives that is neither undefined nor false, tried again at each event of the server. */
  async until<T>(
    what: string,
    condition: () => Promise<T | undefined | false> | T | undefined | false,
    instead: () => unknown = () => undefined,
  ): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      // Before the look: what is told during it is not missed.
      const next = this.bench.events.next(this.#ours, lookEveryMs);
      const found = await condition();
      if (found !== undefined && found !== false) return found;
      if (performance.now() > deadline) {
        throw new Error(
          `${what}: not within ${patienceMs} ms; there was ${JSON.stringify(await instead(), null, 1)}`,
        );
      }
      await next;
    }
  }

  /** Waits for the closing and answers the tree as it then is. */
  async closed(id: string): Promise<TreeView> {
    const { closed, holding } = await this.client.call('waitExecution', {
      id,
      query: { timeoutMs: patienceMs },
    });
    if (!closed) throw new Error(`${id} did not close; it is held by ${JSON.stringify(holding, null, 1)}`);
    return this.tree(id);
  }

  /** The run once it has ended. */
  ended(runId: string): Promise<Run> {
    const read = (): Promise<Run> => this.client.call('getRun', { id: runId });
    const isOver = async (): Promise<Run | false> => {
      const run = await read();
      return run.state === 'ended' && run;
    };
    return this.until(`${runId} has ended`, isOver, read);
  }

  /** The run as soon as it is as expected. */
  runThat(what: string, runId: string, fits: (run: Run) => boolean): Promise<Run> {
    const read = (): Promise<Run> => this.client.call('getRun', { id: runId });
    const look = async (): Promise<Run | false> => {
      const run = await read();
      return fits(run) && run;
    };
    return this.until(what, look, read);
  }

  /** The root that a run's message is, once it was sent. */
  message(runId: string, index: number): Promise<string> {
    return this.until(`message ${index} of ${runId} was sent`, async () => {
      const run = await this.client.call('getRun', { id: runId });
      return run.messages[index]?.attempts.at(-1)?.executionId;
    });
  }

  /** The prompts that the agent of a session was given in this scene, by its own record. */
  async prompts(sessionId: string): Promise<string[]> {
    return (await this.#everTold(sessionId)).slice(this.#toldBefore.get(sessionId) ?? 0);
  }

  /** What has run in a session since the scene began, newest first. */
  async executionsIn(session: string): Promise<Execution[]> {
    const { items } = await this.client.call('listExecutions', { query: { session } });
    return items.filter(({ createdAt }) => Date.parse(createdAt) >= this.#began);
  }

  /** The agents that work in this scene, and whatever they started. */
  processes(): number[] {
    return processesIn(this.directory);
  }

  /** Leaves the place. Sessions are kept for the next one only if `keep` is said and they are idle. */
  async close(options: { readonly keep: boolean }): Promise<void> {
    const { sessions } = this.#place;
    for (const [agent, id] of [...sessions]) {
      const { turn, queued, state } = await this.client.call('getSession', { id });
      if (options.keep && turn === undefined && queued === 0 && state !== 'stopped') continue;
      sessions.delete(agent);
      await this.client.call('stopSession', { id });
    }
    for (const id of this.#runSessions) await this.client.call('stopSession', { id });
    if (options.keep) this.bench.places.giveBack(this.#place);
  }

  async #everTold(sessionId: string): Promise<string[]> {
    const { nativeId } = await this.client.call('getSession', { id: sessionId });
    const file = join(this.bench.home, `${nativeId}.json`);
    if (nativeId === undefined || !existsSync(file)) return [];
    return (JSON.parse(readFileSync(file, 'utf8')) as { turns: { prompt: string }[] }).turns.map(
      ({ prompt }) => prompt,
    );
  }
}

/** The executions of one kind in a tree, oldest first. */
export function ofKind(tree: TreeView, kind: Execution['kind']): Execution[] {
  return tree.executions.filter((row) => row.kind === kind);
}
