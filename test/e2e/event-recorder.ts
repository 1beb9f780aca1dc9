import type { StemmaClient } from '../../src/client/stemma-client.ts';
import type { Event } from '../../src/contract/events.ts';

/** Everything that the server's event stream told, in its order, over any number of restarts of the server. */
export class EventRecorder {
  readonly events: Event[] = [];
  /** Resolves when the stream stands: what is committed from then on will be here. */
  readonly isOpen: Promise<void>;
  readonly #abort = new AbortController();
  readonly #reading: Promise<void>;
  #listeners = new Set<(event: Event) => void>();

  constructor(client: StemmaClient, after?: string) {
    let open = (): void => undefined;
    this.isOpen = new Promise((resolve) => {
      open = resolve;
    });
    this.#reading = this.#read(client, open, after);
  }

  /** The events of one type, of one root or session if that is said. */
  of(type: string, of: { readonly root?: string; readonly session?: string } = {}): Event[] {
    return this.events.filter(
      (event) =>
        event.type === type &&
        (of.root === undefined || event.rootId === of.root) &&
        (of.session === undefined || event.sessionId === of.session),
    );
  }

  /** Resolves with the next event of these roots and sessions, or after `withinMs` without one. */
  next(ids: ReadonlySet<string>, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(hear);
        resolve();
      };
      const hear = ({ rootId = '', sessionId = '' }: Event): void => {
        if (ids.has(rootId) || ids.has(sessionId)) done();
      };
      const timer = setTimeout(done, withinMs);
      this.#listeners.add(hear);
    });
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#reading;
  }

  async #read(client: StemmaClient, onOpen: () => void, after: string | undefined): Promise<void> {
    const from = after === undefined ? {} : { after };
    try {
      for await (const event of client.events({ signal: this.#abort.signal, onOpen, ...from })) {
        this.events.push(event);
        for (const listener of [...this.#listeners]) listener(event);
      }
    } catch (error) {
      // A server that stays away ends the stream; the test that needs it sees that for itself.
      if (!this.#abort.signal.aborted) process.stderr.write(`the event stream ended: ${String(error)}\n`);
    }
  }
}
