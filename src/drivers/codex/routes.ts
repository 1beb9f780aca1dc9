import { z } from 'zod';
import type { RpcHandlers, ServerRequest } from './rpc-client.ts';
import { readNotification, type Signal } from './wire.ts';

/** A conversation as the shared connection sees it. The callbacks must not throw. */
export interface Route {
  readonly threadId: string;
  readonly onSignal: (signal: Signal) => void;
  readonly onRequest: (request: ServerRequest) => void;
  readonly onNoise: (what: string) => void;
  /** The connection broke: from now on things happen that are not heard. */
  readonly onDisconnect: () => void;
  /** Connected anew: what happened meanwhile was not heard and has to be read from the record. */
  readonly onReconnect: () => void;
  /** The server is verified dead, and so is everything it had started. */
  readonly onExit: (reason: string) => void;
  /** Whether a thread that nobody claimed goes back to this turn of the route's own thread. */
  readonly ownsTurn: (turnId: string) => boolean;
}

const ofThread = z.object({ threadId: z.string() });

/** Sorts what one connection hears by thread. Codex tells every connection of every thread, so much is for nobody here. */
export class Routes {
  readonly #own = new Map<string, Route>();
  readonly #claimed = new Map<string, Route>();

  /** How many conversations are open here. */
  get count(): number {
    return this.#own.size;
  }

  /** Signals of the route's own thread go to it from now on. */
  add(route: Route): void {
    this.#own.set(route.threadId, route);
  }

  /** Signals of this thread, a sub-agent's, go to the route as well. */
  claim(threadId: string, route: Route): void {
    this.#claimed.set(threadId, route);
  }

  /** Forgets the route, and the threads that it claimed. */
  remove(route: Route): void {
    if (this.#own.get(route.threadId) === route) this.#own.delete(route.threadId);
    for (const [threadId, owner] of this.#claimed) if (owner === route) this.#claimed.delete(threadId);
  }

  /** Hands a notification to the conversation it belongs to; what cannot be read is noise for all of them. */
  notify(method: string, params: unknown): void {
    let signal: Signal | undefined;
    try {
      signal = readNotification(method, params);
    } catch {
      return this.everyone((route) => route.onNoise(`${method} has a shape that is not known`));
    }
    if (!signal) return;
    const heard = signal;
    if (heard.type === 'limits') return this.everyone((route) => route.onSignal(heard));
    this.#routeOf(heard)?.onSignal(heard);
  }

  /** Hands a question to the conversation it belongs to. False when it is nobody's, and never will be. */
  request(request: ServerRequest): boolean {
    const read = ofThread.safeParse(request.params);
    if (!read.success) return false;
    const { threadId } = read.data;
    // A question of a conversation that is not open here stays open: whoever resumes it is asked again.
    (this.#own.get(threadId) ?? this.#claimed.get(threadId))?.onRequest(request);
    return true;
  }

  /** Tells every route that is open now; those may come and go meanwhile. */
  everyone(tell: (route: Route) => void): void {
    for (const route of [...this.#own.values()]) tell(route);
  }

  /** Forgets every route. */
  clear(): void {
    this.#own.clear();
    this.#claimed.clear();
  }

  #routeOf(signal: Exclude<Signal, { type: 'limits' }>): Route | undefined {
    const known = this.#own.get(signal.threadId) ?? this.#claimed.get(signal.threadId);
    if (known || signal.type !== 'turnStarted' || signal.rootTurnId === undefined) return known;
    // A sub-agent may begin before the call that launched it is reported.
    const { rootTurnId } = signal;
    const owner = [...this.#own.values()].find((route) => route.ownsTurn(rootTurnId));
    if (owner) this.claim(signal.threadId, owner);
    return owner;
  }
}

/** What a connection hears, sorted by these routes. */
export function handlersFor(routes: Routes, onClose: () => void): RpcHandlers {
  return {
    onNotification: (method, params) => routes.notify(method, params),
    onRequest: (request, client) => {
      if (!routes.request(request)) client.reject(request.id, `${request.method} is not supported`);
    },
    onNoise: (what) => routes.everyone((route) => route.onNoise(what)),
    onClose,
  };
}
