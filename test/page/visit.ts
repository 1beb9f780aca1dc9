import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { StemmaClient } from '../../src/client/stemma-client.ts';
import type { Scope } from '../../src/contract/route-spec.ts';
import type { RegisterAnswer } from '../../src/contract/requests.ts';
import { commandOf, processesIn, processesWithEnvironment } from '../e2e/living-processes.ts';
import { type RunningServer, startServer } from '../e2e/server-process.ts';
import { violationsIn } from './axe.ts';
import type { Chromium, Tab } from './chromium.ts';

/** How wide and high the window of a phone is, in pixels. */
export const phone = { width: 360, height: 740 } as const;
/** That of a desk. */
const desk = { width: 1280, height: 800 } as const;

/** An expression: the text of the first element that fits a selector, as a person sees it; '' where there is none. */
export const textOf = (selector: string): string =>
  `(document.querySelector(${JSON.stringify(selector)})?.innerText ?? '')`;
/** An expression: whether a person sees this text anywhere. */
export const sees = (text: string): string => `document.body.innerText.includes(${JSON.stringify(text)})`;
/** An expression: whether the page hears of everything as it happens. */
export const isLive = `document.querySelector('#connection')?.dataset.state === 'live'`;
/** An expression: whether nothing of the view can be reached only by scrolling sideways. */
export const fitsWidth = 'document.documentElement.scrollWidth <= innerWidth';

/** One test's own tab, data directory and server. */
export class Visit {
  readonly directory = mkdtempSync(join(tmpdir(), 'stemma-page-'));
  readonly tab: Tab;
  readonly #chromium: Chromium;
  #server: RunningServer | undefined;

  private constructor(chromium: Chromium, tab: Tab) {
    this.#chromium = chromium;
    this.tab = tab;
  }

  static async begin(chromium: Chromium): Promise<Visit> {
    return new Visit(chromium, await chromium.tab());
  }

  get server(): RunningServer {
    if (!this.#server) throw new Error('no server runs');
    return this.#server;
  }

  get client(): StemmaClient {
    return this.server.client;
  }

  /** Starts the server; again after `stop`, on the port that it had. */
  async start(...argv: string[]): Promise<RunningServer> {
    const before = this.#server && ['--port', new URL(this.#server.ready.url).port];
    const started = await startServer({ dataDir: this.directory, argv: [...(before ?? []), ...argv] });
    if (!('ready' in started)) throw new Error(started.stderr);
    this.#server = started;
    return started;
  }

  /** Ends the server as `how` says; what its agents do goes on. */
  async stop(how: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.server.process.signal(how);
  }

  /** Writes a configuration with these workflows, and answers its path. */
  configure(workflows: Readonly<Record<string, object>>, more: object = {}): string {
    const beside = join(this.directory, 'project');
    mkdirSync(join(beside, 'workflows'), { recursive: true });
    // JSON is YAML.
    for (const [name, file] of Object.entries(workflows))
      writeFileSync(join(beside, 'workflows', `${name}.yaml`), JSON.stringify(file));
    const config = join(beside, 'stemma.yaml');
    writeFileSync(config, JSON.stringify({ project: 'page', ...more }));
    return config;
  }

  /** Starts a server, and opens the page by its link. */
  async arrive(...argv: string[]): Promise<void> {
    await this.start(...argv);
    await this.signIn();
  }

  /** Signs the tab in by a one-time link, and waits until the page is live. */
  async signIn(tab = this.tab, scope: Scope = 'admin'): Promise<void> {
    const { url } = await this.client.call('createSignInLink', { body: { scope } });
    await tab.goTo(url);
    await tab.until(`location.pathname === '/' && ${isLive}`);
  }

  /** Opens a view by its path (`/roots/exe_…`), and waits until the page is live. */
  async open(path: string, tab = this.tab): Promise<void> {
    await tab.goTo(`${this.server.ready.url}${path}`);
    await tab.until(`location.pathname === ${JSON.stringify(path.split(/[?#]/)[0])} && ${isLive}`);
  }

  /** Another tab of somebody who is not signed in. */
  stranger(): Promise<Tab> {
    return this.#chromium.tab();
  }

  /** A client that speaks with the token of an execution. */
  clientOf(token: string | undefined): StemmaClient {
    return new StemmaClient({ url: this.server.ready.url, token: token ?? '' }, systemClock);
  }

  /** Outside work: a root, or with the client of an execution's token, its child. */
  register(name: string, client = this.client): Promise<RegisterAnswer> {
    return client.call('registerExecution', { body: { kind: 'outside', name } });
  }

  async settle(id: string, state: 'succeeded' | 'failed', client = this.client): Promise<void> {
    await client.call('settleExecution', { id, body: { state } });
  }

  /** What axe finds wrong in what the tab shows, dark and light; empty where nothing is. */
  async accessibilityFaults(): Promise<string[]> {
    const faults: string[] = [];
    for (const scheme of ['dark', 'light'] as const) {
      await this.tab.prefer(scheme);
      faults.push(...(await violationsIn(this.tab)).map((fault) => `${scheme}: ${fault}`));
    }
    return faults;
  }

  /** Keeps pictures of the page, dark, light and on a phone, in the folder that `STEMMA_PICTURES` names. */
  async keepPictures(name: string): Promise<void> {
    const folder = process.env['STEMMA_PICTURES'];
    if (!folder) return;
    await this.tab.resize(desk);
    for (const scheme of ['dark', 'light'] as const) {
      await this.tab.prefer(scheme);
      writeFileSync(join(folder, `${name}-${scheme}.png`), await this.tab.picture());
    }
    await this.tab.resize(phone);
    writeFileSync(join(folder, `${name}-phone.png`), await this.tab.picture());
    await this.tab.resize();
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
