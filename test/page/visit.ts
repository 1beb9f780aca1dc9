import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StemmaClient } from '../../src/client/stemma-client.ts';
import type { RegisterAnswer } from '../../src/contract/requests.ts';
import { commandOf, processesIn, processesWithEnvironment } from '../e2e/living-processes.ts';
import { type RunningServer, startServer } from '../e2e/server-process.ts';
import type { Chromium, Tab } from './chromium.ts';

/** An expression: the text of an element as a person sees it. */
export const textOf = (id: string): string => `document.getElementById('${id}').innerText`;
/** An expression: how many rows of the tree are in a state. */
export const rowsIn = (state: string): string =>
  `document.querySelectorAll('#rows [data-state="${state}"]').length`;
/** An expression: whether the page hears of everything as it happens. */
export const isLive = `${textOf('connection')} === 'live'`;

/** One test's own tab, data directory and server. */
export class Visit {
  readonly directory = mkdtempSync(join(tmpdir(), 'stemma-page-'));
  readonly tab: Tab;
  #server: RunningServer | undefined;

  constructor(tab: Tab) {
    this.tab = tab;
  }

  static async begin(chromium: Chromium): Promise<Visit> {
    return new Visit(await chromium.tab());
  }

  get server(): RunningServer {
    if (!this.#server) throw new Error('no server runs');
    return this.#server;
  }

  get client(): StemmaClient {
    return this.server.client;
  }

  async start(...argv: string[]): Promise<RunningServer> {
    const started = await startServer({ dataDir: this.directory, argv });
    if (!('ready' in started)) throw new Error(started.stderr);
    this.#server = started;
    return started;
  }

  /** Writes a configuration with these workflows, and answers its path. */
  configure(workflows: Readonly<Record<string, object>>): string {
    const beside = join(this.directory, 'project');
    mkdirSync(join(beside, 'workflows'), { recursive: true });
    // JSON is YAML.
    for (const [name, file] of Object.entries(workflows))
      writeFileSync(join(beside, 'workflows', `${name}.yaml`), JSON.stringify(file));
    const config = join(beside, 'stemma.yaml');
    writeFileSync(config, 'project: page\n');
    return config;
  }

  /** Starts a server, and opens the page by its link. */
  async arrive(): Promise<void> {
    await this.start();
    await this.signIn();
  }

  async signIn(): Promise<void> {
    await this.tab.goTo(this.server.ready.signInUrl);
    await this.tab.until(`location.pathname === '/' && ${isLive}`);
  }

  /** Outside work: a root, or with the client of an execution's token, its child. */
  register(name: string, client = this.client): Promise<RegisterAnswer> {
    return client.call('registerExecution', { body: { kind: 'outside', name } });
  }

  async settle(id: string, state: 'succeeded' | 'failed', client = this.client): Promise<void> {
    await client.call('settleExecution', { id, body: { state } });
  }

  /** Keeps pictures of the page, dark and light, in the folder that `STEMMA_PICTURES` names. */
  async keepPictures(name: string): Promise<void> {
    const folder = process.env['STEMMA_PICTURES'];
    if (!folder) return;
    for (const scheme of ['dark', 'light'] as const) {
      await this.tab.prefer(scheme);
      writeFileSync(join(folder, `${name}-${scheme}.png`), await this.tab.picture());
    }
  }

  /** Ends the server with its agents. Throws when one of them is left: it is ended too. */
  async end(): Promise<void> {
    // Agents outlive a server that is merely stopped.
    await this.#server?.process.signal('SIGUSR2');
    const left = [...new Set([...processesWithEnvironment(this.directory), ...processesIn(this.directory)])];
    const told = left.map(commandOf);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
    if (told.length > 0) throw new Error(`processes of agents were left behind: ${told.join('; ')}`);
  }
}
