import { setMaxListeners } from 'node:events';
import { nameOf } from './authentication.ts';
import type { Principal } from './ports.ts';

/** What a stream or socket is told when it has to end. */
const stoppingReason = 'the server is stopping';
const revokedReason = 'the token was revoked';

/**
 * Who has a stream or a socket open. Those outlive the request in which their token was looked at, so what ends a token
 * ends them too.
 */
export class OpenCallers {
  readonly #controllers = new Map<string, AbortController>();
  readonly #stopping: AbortSignal;

  /** `stopping`: aborted when everybody has to go. */
  constructor(stopping: AbortSignal) {
    this.#stopping = stopping;
    stopping.addEventListener('abort', () => {
      for (const controller of this.#controllers.values()) controller.abort(stoppingReason);
    });
  }

  /** Aborted when the server stops, or when this caller's token is revoked; its reason is a text for people. */
  signalOf(principal: Principal): AbortSignal {
    if (this.#stopping.aborted) return AbortSignal.abort(stoppingReason);
    const name = nameOf(principal);
    let controller = this.#controllers.get(name);
    if (!controller) {
      controller = new AbortController();
      // One caller may have many streams open.
      setMaxListeners(0, controller.signal);
      this.#controllers.set(name, controller);
    }
    return controller.signal;
  }

  /** The API token of this name is good no more. */
  revoked(name: string): void {
    const key = nameOf({ kind: 'api', name, scope: 'read' });
    this.#controllers.get(key)?.abort(revokedReason);
    this.#controllers.delete(key);
  }
}
