import type { Clock } from '../../base/clock.ts';
import { Serial } from '../../base/serial.ts';
import { endGroup } from '../../processes/group.ts';
import { pause } from '../../base/pause.ts';
import { hasLeftBehind } from '../../processes/left-behind.ts';
import { isAlive, type ProcessIdentity } from '../../processes/process-identity.ts';
import { type AppServer, findAppServer, openAppServer, type ServerOpened } from './app-server.ts';
import type { ServerPlace } from './environment.ts';
import { type Answer, RpcClient } from './rpc-client.ts';
import { shakeHands } from './handshake.ts';
import { handlersFor, type Route, Routes } from './routes.ts';

const connectMs = 5_000;
const unreachableMs = 30_000;
const longestWaitMs = 1_000;
const graceMs = 3_000;

/** A link that works, or why there is none. `NOT_RUNNING`: none was to be launched, and none lives. */
export type LinkOpened =
  | { readonly ok: true; readonly link: ServerLink }
  | Extract<ServerOpened, { ok: false }>
  | { readonly ok: false; readonly code: 'NOT_RUNNING'; readonly message: string };

/**
 * The one connection of this process to one app-server, shared by all conversations there. It connects again when the
 * connection breaks while the server lives, and says so once when the server is dead.
 */
export class ServerLink {
  readonly directory: string;
  readonly routes: Routes;
  /** In which conversations leave, each knowing how many are left. */
  readonly leaving = new Serial();
  readonly #clock: Clock;
  readonly #socketPath: string;
  readonly #leader: ProcessIdentity | undefined;
  readonly #onGone: () => void;
  #server: ProcessIdentity | undefined;
  #client: RpcClient;
  #isConnected = true;
  #pins = 0;
  #state: 'open' | 'ending' | 'closed' = 'open';
  #ending: Promise<unknown> = Promise.resolve();
  readonly #closed = new AbortController();
  #waiting: (() => void)[] = [];

  /**
   * Finds the server of a place, or launches one if asked to, and shakes hands. `onGone` is called once, when the link is
   * of no more use.
   */
  static async open(
    place: ServerPlace,
    clock: Clock,
    launch: boolean,
    onGone: () => void,
  ): Promise<LinkOpened> {
    const routes = new Routes();
    // Before the link exists, a closed connection only makes the handshake fail.
    let onClose = (): void => undefined;
    const handlers = handlersFor(routes, () => onClose());
    const opened = launch
      ? await openAppServer(place, clock, handlers)
      : await findAppServer(place.directory, clock, handlers);
    if (!opened)
      return { ok: false, code: 'NOT_RUNNING', message: `no Codex app-server lives in ${place.directory}` };
    if (!opened.ok) return opened;
    const { client } = opened.server;
    const greeted = await shakeHands(client);
    if (!greeted.ok) {
      client.close();
      return { ok: false, code: 'AGENT_FAILED', message: greeted.message };
    }
    const link = new ServerLink(opened.server, routes, greeted.server, clock, onGone);
    onClose = () => link.#onClose(client);
    return { ok: true, link };
  }

  private constructor(
    found: AppServer,
    routes: Routes,
    server: ProcessIdentity | undefined,
    clock: Clock,
    onGone: () => void,
  ) {
    this.directory = found.directory;
    this.routes = routes;
    this.#socketPath = found.socketPath;
    this.#leader = found.leader;
    this.#client = found.client;
    this.#server = server;
    this.#clock = clock;
    this.#onGone = onGone;
  }

  /** Whether conversations may still be opened on it. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Whether at most one conversation is there, and none is being opened: then the server may go with it. */
  get isLast(): boolean {
    return this.routes.count <= 1 && this.#pins === 0;
  }

  /** Whether nobody uses it but whoever has the one pin. */
  get isUnused(): boolean {
    return this.isOpen && this.routes.count === 0 && this.#pins === 1;
  }

  /** Resolves when the ending that was begun, if any, is over. */
  async whenNotEnding(): Promise<void> {
    await this.#ending;
  }

  /** Whether anything that its agents have left running goes on; it would end with the server. */
  hasLeftWork(): boolean {
    return this.#leader !== undefined && hasLeftBehind(this.#leader);
  }

  /** Stops telling the route. The connection goes with the last one; the server stays. */
  remove(route: Route): void {
    this.routes.remove(route);
    this.#closeIfUnused();
  }

  /** Keeps the connection while a conversation is being opened. The caller gives it back by `release`, once. */
  pin(): void {
    this.#pins++;
  }

  /** Gives back what `pin` took; the connection goes with the last conversation. */
  release(): void {
    this.#pins--;
    this.#closeIfUnused();
  }

  /** Asks the server. While the connection is broken it waits for the next one, within the same deadline. */
  async call(method: string, params: unknown, timeoutMs: number): Promise<Answer> {
    const deadline = this.#clock.monotonic() + timeoutMs;
    if (!this.#isConnected && this.isOpen) await this.#nextConnection(timeoutMs);
    const restMs = deadline - this.#clock.monotonic();
    if (!this.#isConnected || restMs <= 0)
      return { outcome: 'unsent', message: 'the Codex app-server cannot be reached' };
    return this.#client.request(method, params, restMs);
  }

  /** Answers a question of the server. When the connection is gone, nothing happens: the server asks again. */
  respond(id: string | number, result: unknown): void {
    this.#client.respond(id, result);
  }

  /** Refuses a question that nobody here can answer, which Codex takes as a no. */
  reject(id: string | number, text: string): void {
    this.#client.reject(id, text);
  }

  /** Cuts the connection, so that what was sent on it is either with the server or never will be. */
  reset(): void {
    this.#client.close();
  }

  /** Ends the server and everything it started; every route hears that it exited. */
  async endServer(reason: string): Promise<'dead' | 'unkillable'> {
    const outcome = await this.#endAndExit(reason);
    if (outcome === 'unkillable' && this.isOpen && !this.#isConnected) void this.#connectAgain();
    return outcome;
  }

  /** An ending, which whoever opens a conversation meanwhile waits for. */
  #endAndExit(reason: string): Promise<'dead' | 'unkillable'> {
    const ending = this.#exitIfEnded(reason);
    this.#ending = ending;
    return ending;
  }

  async #exitIfEnded(reason: string): Promise<'dead' | 'unkillable'> {
    if (this.#state === 'closed') return this.#endProcesses();
    this.#state = 'ending';
    const outcome = await this.#endProcesses();
    this.#state = 'open';
    if (outcome === 'dead') this.#exit(reason);
    return outcome;
  }

  #onClose(client: RpcClient): void {
    if (client !== this.#client || !this.#isConnected) return;
    this.#isConnected = false;
    this.routes.everyone((route) => route.onDisconnect());
    void this.#connectAgain();
  }

  async #connectAgain(): Promise<void> {
    let unreachableSoFarMs = 0;
    for (let waitMs = 5; this.isOpen; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      await pause(this.#clock, waitMs, this.#closed.signal);
      if (!this.isOpen || (await this.#tryConnect())) return;
      // A living server may be slow to answer. Only one whose socket is gone is lost for good.
      unreachableSoFarMs += waitMs;
      if (this.#isServerAlive() && unreachableSoFarMs < unreachableMs) continue;
      if ((await this.#endAndExit('the Codex app-server has ended')) === 'dead') return;
      this.routes.everyone((route) =>
        route.onNoise('the Codex app-server cannot be reached and survives SIGKILL'),
      );
    }
  }

  async #tryConnect(): Promise<boolean> {
    if (!this.#isServerAlive()) return false;
    let client: RpcClient | undefined;
    const handlers = handlersFor(this.routes, () => client && this.#onClose(client));
    const connected = await RpcClient.connect(this.#socketPath, this.#clock, connectMs, handlers);
    if (!connected.ok) return false;
    const greeted = await shakeHands(connected.client);
    if (!greeted.ok || !this.isOpen) {
      connected.client.close();
      return false;
    }
    client = connected.client;
    this.#client = client;
    this.#server = greeted.server;
    this.#isConnected = true;
    this.#wakeAll();
    this.routes.everyone((route) => route.onReconnect());
    return true;
  }

  #isServerAlive(): boolean {
    return [this.#server, this.#leader].some((identity) => identity !== undefined && isAlive(identity));
  }

  async #endProcesses(): Promise<'dead' | 'unkillable'> {
    const options = { graceMs, clock: this.#clock };
    // The leader first: its mark reaches everything that was ever started below it.
    const outcome = this.#leader ? await endGroup(this.#leader, options) : 'dead';
    return outcome === 'dead' && this.#server && isAlive(this.#server)
      ? endGroup(this.#server, options)
      : outcome;
  }

  /** Resolves when connected again, gone, or at the deadline. */
  #nextConnection(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.#waiting = this.#waiting.filter((other) => other !== wake);
        resolve();
      };
      const cancel = this.#clock.after(timeoutMs, wake);
      this.#waiting.push(wake);
    });
  }

  #exit(reason: string): void {
    const routes: Route[] = [];
    this.routes.everyone((route) => routes.push(route));
    this.#close();
    for (const route of routes) route.onExit(reason);
  }

  #closeIfUnused(): void {
    if (this.routes.count === 0 && this.#pins === 0) this.#close();
  }

  #close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#closed.abort();
    this.#isConnected = false;
    this.routes.clear();
    this.#wakeAll();
    this.#client.close();
    this.#onGone();
  }

  #wakeAll(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
